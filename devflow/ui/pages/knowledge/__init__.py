"""The Knowledge tab: the library, and the pages of knowledge bases."""

from devflow.ui.pages.knowledge.page import KnowledgePage

__all__ = ["KnowledgePage"]
