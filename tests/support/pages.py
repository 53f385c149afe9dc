"""Folders of pages for tests: `write(root, {"wiki/a.md": "# A"})`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

DAY_S = 86_400

ARTICLES: Mapping[str, str] = {
    ".wiki-schema.md": "",
    "purpose.md": "# 研究方向\n\n围绕自媒体文章创作做研究。",
    "index.md": "# 首页\n\n这里是文章创作知识库。",
    "wiki/overview.md": "# 总览\n\n一组讲 AI 创作文章的笔记。",
    "wiki/synthesis/sessions/writing-guide.md": "# 示例写作方法\n\n怎样写提示词，AI 编程与内容创作各举一例。",
    "wiki/synthesis/sessions/openclaw.md": "# OpenClaw 自媒体文章\n\n多 agent 团队如何分工，一人公司怎么经营。",
}
"""A small knowledge base about writing: what says what it is, and two digested articles."""


def write(root: Path, pages: Mapping[str, str]) -> Path:
    """Write the files below `root`, folders and all."""
    for path, text in pages.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return root


def age(file: Path, *, days: float, now: float) -> None:
    """Let the file have been written so many days before `now` (seconds since the epoch)."""
    os.utime(file, (now - days * DAY_S,) * 2)
