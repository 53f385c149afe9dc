"""The knowledge base that most cases are about, and how they ask it."""

from collections.abc import Callable
from pathlib import Path

from devflow.retrieval.pages import PageSearch, search_knowledge_base
from devflow.retrieval.references import parse_explicit_page_refs
from devflow.wiki.page_index import PageIndex
from tests.support.pages import ARTICLES

FX1 = ARTICLES
SESSIONS = "wiki/synthesis/sessions"
GUIDE, OPENCLAW = f"{SESSIONS}/writing-guide.md", f"{SESSIONS}/openclaw.md"

Ask = Callable[..., PageSearch]


def ask_in(root: Path, *, index: PageIndex | None = None) -> Ask:
    """Questions to that folder, each after a look at what has changed, with the references that it names."""
    pages = index or PageIndex(root, None)

    def ask(question: str, **options: int) -> PageSearch:
        pages.refresh()
        return search_knowledge_base(pages, question, explicit_refs=parse_explicit_page_refs(question), **options)

    return ask


def paths(found: PageSearch) -> list[str]:
    return [hit.path for hit in found.hits]


def reasons(found: PageSearch) -> list[str]:
    return [hit.hit_reason.value for hit in found.hits]
