"""A knowledge base's pages as the list shows them: in their folders, or what a search found. Runs on a thread."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter

from devflow.domain.text import fold, terms
from devflow.retrieval.page_refs import page_rank
from devflow.store.page_file import PageRow
from devflow.wiki import layout
from devflow.wiki.page_index import PageIndex, Progress

ABOUT, SKIPPED, NAMED, IN_TEXT = "about", "skipped", "named", "in_text"
"""Groups that are no folders, by their keys: their titles are words of the window."""
CHANGED, TITLE = "changed", "title"
"""The orders of pages."""
CLOSED = "closed"
"""The problem of a folder that cannot be read."""
TEXT_MAX = 200
"""So many pages are looked at for their texts."""
_FIRST = ("topics", "synthesis/sessions", "sources", "entities", "comparisons", "queries")


@dataclass(frozen=True, slots=True)
class Group:
    """`key` is the folder below `wiki/`, or one of the words above."""

    key: str
    pages: tuple[PageRow, ...]


@dataclass(frozen=True, slots=True)
class Listing:
    """What the list shows, and how the index stands. `all_pages` are those of no search.

    `where`: a page's group and its place in that, both counted from 0, by its path. `groups`, `all_pages` and `where`
    are the very objects of the listing before where nothing has changed: comparing ten thousand pages is not for the
    window's thread.
    """

    progress: Progress
    groups: tuple[Group, ...] = ()
    all_pages: tuple[PageRow, ...] = field(default=(), compare=False)
    where: Mapping[str, tuple[int, int]] = field(default_factory=dict, compare=False)

    @property
    def readable(self) -> int:
        """How many pages there are, without those that are skipped."""
        return self.progress.pages - len(self.progress.skipped)


def list_pages(index: PageIndex, query: str, order: str, before: Listing | None = None) -> Listing:
    """The index as it is; call `refresh` before. `before` was listed for the same query and order. Blocks."""
    progress, pages = index.progress(), index.pages()
    groups = found_groups(index, pages, query) if query.strip() else folder_groups(pages, order, progress.closed)
    if before is None:
        return Listing(progress, tuple(groups), pages, _where(groups))
    pages = before.all_pages if before.all_pages == pages else pages
    if before.groups == tuple(groups):
        return Listing(progress, before.groups, pages, before.where)
    where = before.where if _same_places(groups, before.groups) else _where(groups)
    return Listing(progress, tuple(groups), pages, where)


def _same_places(groups: Sequence[Group], before: Sequence[Group]) -> bool:
    """Compared pair by pair: what is made anew for every page has to be collected again, and the window waits then."""
    if [(group.key, len(group.pages)) for group in groups] != [(group.key, len(group.pages)) for group in before]:
        return False
    pairs = zip(groups, before, strict=True)
    return all(a.path == b.path for new, old in pairs for a, b in zip(new.pages, old.pages, strict=True))


def _where(groups: Sequence[Group]) -> dict[str, tuple[int, int]]:
    return {page.path: (g, p) for g, group in enumerate(groups) for p, page in enumerate(group.pages)}


def folder_groups(pages: Sequence[PageRow], order: str, closed: Sequence[str] = ()) -> list[Group]:
    """What the base is about, the folders (those that every base has first), and what could not be read."""
    folders: dict[str, list[PageRow]] = {}
    for page in pages:
        key = SKIPPED if page.problem else ABOUT if layout.is_meta(page.path) else folder_of(page.path)
        folders.setdefault(key, []).append(page)
    skipped = folders.pop(SKIPPED, [])
    skipped += [PageRow(folder, 0, 0, folder or "/", folder, problem=CLOSED) for folder in closed]
    keys = sorted(folders, key=_folder_order)
    groups = [Group(key, tuple(_ordered(folders[key], order))) for key in keys]
    return [*groups, Group(SKIPPED, tuple(skipped))] if skipped else groups


def folder_of(path: str) -> str:
    """The folder below `wiki/`; `wiki` itself for a page that stands right in it."""
    return path.rpartition("/")[0].removeprefix(f"{layout.WIKI}/") or layout.WIKI


def found_groups(index: PageIndex, pages: Sequence[PageRow], query: str) -> list[Group]:
    """Pages whose names contain the query, and pages whose text has all its words; each page once, best first."""
    folded = query.strip().casefold()
    ranked = [(-rank, page.path, page) for page in pages if (rank := page_rank(page, folded))]
    named = tuple(page for _, _, page in sorted(ranked, key=lambda each: each[:2]))
    known = {page.path: page for page in pages}
    taken = {page.path for page in named}
    hits = [path for path, _ in index.matching(terms(fold(query)), TEXT_MAX) if path in known and path not in taken]
    texts = index.contents(hits)
    words = fold(query).split()
    in_text = tuple(known[path] for path in hits if _has_all(fold(texts.get(path, "")), words))
    return [Group(key, found) for key, found in ((NAMED, named), (IN_TEXT, in_text)) if found]


def _has_all(text: str, words: Iterable[str]) -> bool:
    return all(word in text for word in words)


def _ordered(pages: list[PageRow], order: str) -> list[PageRow]:
    """They come in the order of their paths, and equal ones stay in it."""
    if order == TITLE:
        return sorted(pages, key=lambda page: page.title.casefold())
    return sorted(pages, key=attrgetter("mtime_ns"), reverse=True)


def _folder_order(key: str) -> tuple[int, str]:
    if key == ABOUT:
        return (-1, key)
    return (_FIRST.index(key) if key in _FIRST else len(_FIRST), key)
