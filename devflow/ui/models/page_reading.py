"""One page as it is shown: its text, which of its links lead somewhere, and who links to it. Runs on a thread."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from devflow.domain.knowledge_base import KnowledgeBase
from devflow.domain.text import fold, terms
from devflow.store.page_file import PageRow
from devflow.ui.models.page_links import targets
from devflow.wiki import layout
from devflow.wiki.page import without_title
from devflow.wiki.page_index import PageIndex

SHOWN_MAX = 100_000
"""Characters of a page that the window shows; the editor has the rest."""
CANDIDATES = 400
"""So many pages that share a word with the page's name are looked at; where there are more, nothing is counted."""


@dataclass(frozen=True, slots=True)
class PageShown:
    """`text` is the page without front matter, comments and the heading that is its title; `known` are those targets of
    its links that are there, `cited` the pages that link to it, as (path, title)."""

    base: KnowledgeBase
    page: PageRow
    text: str
    known: frozenset[str] = frozenset()
    cited: tuple[tuple[str, str], ...] = ()

    @property
    def file(self) -> Path:
        return Path(self.base.path, self.page.path)


def read_page(index: PageIndex, base: KnowledgeBase, path: str) -> PageShown | None:
    """None where the index has no such page. Blocks."""
    page = index.page(path)
    if page is None:
        return None
    content = index.text(path)
    known = frozenset(target for target in targets(path, content[:SHOWN_MAX]) if _is_there(index, target))
    return PageShown(base, page, without_title(content, page.title), known, _citing(index, path))


def _is_there(index: PageIndex, path: str) -> bool:
    found = index.page(path)
    return found is not None and not found.problem


def _citing(index: PageIndex, path: str) -> tuple[tuple[str, str], ...]:
    name = layout.stem(path)
    candidates = [found for found, _ in index.matching(terms(fold(name)), CANDIDATES)]
    if len(candidates) == CANDIDATES:
        return ()
    found = [
        (page.path, page.title)
        for citing, text in index.contents(candidates).items()
        if citing != path and name in text and path in targets(citing, text) and (page := index.page(citing))
    ]
    return tuple(sorted(found, key=lambda each: (each[1].casefold(), each[0])))
