"""Rendered Markdown: safe, selectable, streamed block by block."""

from devflow.ui.widgets.markdown.view import CodeBlock, MarkdownView

__all__ = ["CodeBlock", "MarkdownView"]
