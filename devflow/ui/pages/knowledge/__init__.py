"""The Knowledge tab's library side: facets, list, detail."""

from devflow.ui.pages.knowledge.page import KnowledgePage

__all__ = ["KnowledgePage"]
