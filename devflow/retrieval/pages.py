"""Searching a knowledge base's pages (seed §5.1; spec 02, Order, Snippets). Blocks; run it on a thread.

Why a page is shown decides its class, and the classes have an order; inside a class the better match comes first, then
the newer page.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from devflow.domain.text import fold
from devflow.domain.text.passages import best_passages
from devflow.domain.text.pieces import pieces
from devflow.retrieval import ranking
from devflow.retrieval.overview import Overview, overview_of
from devflow.retrieval.query import Query, parse
from devflow.retrieval.ranking import Fields, Weighed
from devflow.retrieval.references import without_references
from devflow.retrieval.relevance import places_of
from devflow.store.page_file import PageRow
from devflow.wiki import layout, paths
from devflow.wiki.page_index import PageIndex, is_content

MAX_PAGES = 6
SNIPPET_MAX_CHARS = 600
SNIPPET_MIN_CHARS = 300
UNKNOWN_WINDOW_CHARS = 4_000
WINDOW_SHARE = 0.2
WITH_REFERENCES = 3
"""Beside pages that the message names, so many are added at most (seed, scenario 4)."""
META_MAX = 2
CANDIDATES = 200
"""So many pages are held against a question; the result says how many of them matched."""
READ = 24
"""So many of them are read and ordered by their texts."""
IN_TITLE = 0.5
"""The share of the question's weight that a title must have."""
UNKNOWN_SHARE = 0.5
IN_BODY = 0.12
"""A page with less of the question's weight than this shares a word with it by chance."""
SEDIMENT_WORTH = 0.75
"""A page made by `/sediment` has its subject's words twice, in the summary and in the transcript, questions included:
by as much it would rank above the source that the conversation was about (spec 02, Order)."""


class HitReason(StrEnum):
    """Why a page is shown, from the strongest reason to the weakest."""

    EXPLICIT = "explicit"
    TITLE = "title"
    KB_META = "kb_meta"
    RECENT_SYNTHESIS = "recent_synthesis"
    FILENAME = "filename"
    BODY = "body"


_ORDER = {reason: place for place, reason in enumerate(HitReason)}


@dataclass(frozen=True, slots=True)
class PageHit:
    """A page for a question. `path` is relative to the knowledge base; `mtime` is in seconds since the epoch; `score`
    is relative to the best (1.00); `matched` are terms of the question that stand in it, `places` says which of them
    stand in its `title`, its file's `name` and its `content`."""

    path: str
    title: str
    snippet: str
    mtime: float
    hit_reason: HitReason
    score: float
    matched: tuple[str, ...] = ()
    cut: bool = False
    places: tuple[tuple[str, tuple[str, ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class PageSearch:
    """`missing` are references to pages that are not there; `matching` counts the pages that would do, shown or not;
    `skipped` are pages that could not be read; `pending` pages are known by their title only so far."""

    hits: tuple[PageHit, ...]
    missing: tuple[str, ...] = ()
    matching: int = 0
    skipped: tuple[str, ...] = ()
    pending: int = 0


def context_budget_from_window(context_window: object) -> int:
    """Characters for the whole hidden block: a fifth of the window's tokens, 4,000 where it is unknown (seed §0)."""
    if isinstance(context_window, bool) or not isinstance(context_window, int | float):
        return UNKNOWN_WINDOW_CHARS
    if not 0 < context_window < float("inf"):
        return UNKNOWN_WINDOW_CHARS
    return int(context_window * WINDOW_SHARE)


def search_knowledge_base(
    index: PageIndex,
    question: str,
    *,
    explicit_refs: Sequence[str] = (),
    max_pages: int = MAX_PAGES,
    snippet_max_chars: int = SNIPPET_MAX_CHARS,
    total_budget_chars: int = UNKNOWN_WINDOW_CHARS,
) -> PageSearch:
    """The pages for a question, best first. `index` is as true as its last `refresh`; no page file is read.

    Pages that the message names come first, in its order, whatever the budget: they share it. The others follow while
    there is room for a snippet worth reading. An empty knowledge base gives nothing.
    """
    ranked = rank_pages(index, question, explicit_refs=explicit_refs, max_pages=max_pages)
    return ranked.shown(snippet_max_chars, total_budget_chars)


@dataclass(frozen=True, slots=True)
class RankedPages:
    """The pages for a question in their order, before it is known how much of each there is room for.

    `found` has them without snippets; `contents` are their contents, `words` what their snippets are chosen by, `terms`
    those of the words that tell why a page was found.
    """

    found: PageSearch
    contents: Mapping[str, str]
    words: tuple[str, ...]
    terms: tuple[str, ...]

    def shown(self, snippet_max_chars: int, total_budget_chars: int) -> PageSearch:
        """As many of them as there is room for, each with the part of it that matters. Costs no second search."""
        return replace(self.found, hits=_with_snippets(self, snippet_max_chars, total_budget_chars))


def rank_pages(
    index: PageIndex, question: str, *, explicit_refs: Sequence[str] = (), max_pages: int = MAX_PAGES
) -> RankedPages:
    """The search itself; see `search_knowledge_base`."""
    named, missing = _named(index, explicit_refs)
    asked = _Asked.of(index, question)
    found = [match for match in _matches(index, asked) if match.page.path not in named]
    most = min(WITH_REFERENCES if named else max_pages, max(max_pages - len(named), 0))
    hits = [*map(_explicit, named.values()), *(_hit(match.page, match.reason, match.score) for match in found[:most])]
    closed = [hit.path for hit in hits if not index.is_readable(hit.path)]
    hits = [hit for hit in hits if hit.path not in closed]
    progress = index.progress()
    search = PageSearch(
        hits=tuple(hits),
        missing=tuple(missing),
        matching=len(named) + len(found) - len(closed),
        skipped=tuple(dict.fromkeys((*closed, *(page.path for page in progress.skipped)))),
        pending=progress.pending,
    )
    return RankedPages(search, index.contents(hit.path for hit in hits), asked.words, asked.telling)


@dataclass(frozen=True, slots=True)
class _Asked:
    query: Query
    weighed: tuple[Weighed, ...]
    overview: Overview

    @classmethod
    def of(cls, index: PageIndex, question: str) -> _Asked:
        overview = overview_of(without_references(question))
        query = _telling_query(parse(overview.rest))
        counts = index.frequencies(term.text for term in query.terms)
        found = ranking.weighed(query, counts, max(index.progress().pages, 1))
        # A Han pair that stands nowhere is most often no word, but the end of one and the start of the next.
        return cls(query, tuple(each for each in found if each.count or not each.term.is_han), overview)

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(each.term.text for each in self.weighed)

    @property
    def telling(self) -> tuple[str, ...]:
        """Without pairs of Han that reach from one word into the next."""
        return tuple(each.term.text for each in self.weighed if not each.is_seam)

    @property
    def weight(self) -> float:
        """Of the whole question. A word that no page has says little about which page is meant."""
        return sum(each.weight if each.count else UNKNOWN_SHARE * each.weight for each in self.weighed)


def _telling_query(query: Query) -> Query:
    """Without what says nothing about a page: one letter, or a question of question words alone."""
    terms = () if query.only_common else tuple(term for term in query.terms if term.is_han or len(term.text) > 1)
    return replace(query, terms=terms)


def _named(index: PageIndex, references: Iterable[str]) -> tuple[dict[str, PageRow], list[str]]:
    """The pages that references mean, and the references that mean none."""
    named: dict[str, PageRow] = {}
    missing: list[str] = []
    for reference in dict.fromkeys(references):
        path = paths.page_path(index.root, reference)
        page = index.page(path) if path is not None else None
        if page is None or page.problem:
            missing.append(reference)
        else:
            named[page.path] = page
    return named, missing


@dataclass(frozen=True, slots=True)
class _Match:
    page: PageRow
    reason: HitReason
    score: float


def _matches(index: PageIndex, asked: _Asked) -> list[_Match]:
    """Every page that would do, best first. Only those that may are looked at, however many there are."""
    if not index.says_anything():
        return []  # what a knowledge base was made with says nothing about what it will hold
    scores = _scores(index, asked)
    meta = _meta(index) if asked.overview.whole else frozenset()
    paths = meta.union(scores)
    if asked.overview.recent:
        paths = paths.union(page.path for page in index.pages() if layout.is_session(page.path))
    found: list[_Match] = []
    for path in paths:
        page = index.page(path)
        reason = _reason(page, asked, scores, meta) if page is not None and is_content(page) else None
        if page is not None and reason is not None:
            worth = SEDIMENT_WORTH if page.origin == "sediment" else 1.0
            found.append(_Match(page, reason, worth * scores.get(path, 0.0)))
    top = max((match.score for match in found), default=0.0)
    if top:
        found = [_Match(match.page, match.reason, round(match.score / top, 4)) for match in found]
    return sorted(found, key=_order)


def _order(match: _Match) -> tuple[int, float, bool, int, str]:
    page = match.page
    sediment = page.origin == "sediment"
    named_for_itself = sediment and match.reason is HitReason.FILENAME  # its name is its own title once more
    place = _ORDER[HitReason.BODY if named_for_itself else match.reason]
    return (place, -match.score, sediment, -page.mtime_ns, page.path)


def _scores(index: PageIndex, asked: _Asked) -> dict[str, float]:
    """How well each candidate matches, without a unit; those that share a word by chance are left out."""
    telling = ranking.telling_terms(asked.weighed)
    by_index: dict[str, float] = {}
    for column in ("", "title", "name"):
        for path, score in index.matching(telling, CANDIDATES, column=column):
            by_index[path] = max(score, by_index.get(path, 0.0))
    best = sorted(by_index, key=lambda path: -by_index[path])
    contents = index.contents(best[:READ])
    head = [
        (Fields(fold(page.title), fold(layout.stem(path)), _folded(contents.get(path, ""))), path, by_index[path], 0)
        for path in best[:READ]
        if (page := index.page(path)) is not None
    ]
    enough = IN_BODY * asked.weight
    kept = [each for each in head if _share(f"{each[0].title}\n{each[0].tags}\n{each[0].content}", asked) >= enough]
    scores = {ranked.id: ranked.score for ranked in ranking.reread(kept, asked.query, asked.weighed)}
    lowest = min(scores.values(), default=1.0)
    tail = best[READ:]
    scale = lowest / by_index[tail[0]] if tail and by_index[tail[0]] else 0.0
    return scores | {path: by_index[path] * min(scale, 1.0) for path in tail}


def _reason(page: PageRow, asked: _Asked, scores: dict[str, float], meta: frozenset[str]) -> HitReason | None:
    """The strongest reason that is true of the page."""
    titled = page.path in scores and asked.weight
    if titled and _share(fold(page.title), asked) >= IN_TITLE * asked.weight:
        return HitReason.TITLE
    if page.path in meta:
        return HitReason.KB_META
    if asked.overview.recent and layout.is_session(page.path):
        return HitReason.RECENT_SYNTHESIS
    if page.path not in scores:
        return None
    return HitReason.FILENAME if _share(fold(layout.stem(page.path)), asked) > 0 else HitReason.BODY


def _share(folded: str, asked: _Asked) -> float:
    """The weight of those terms of the question that stand in the text."""
    return sum(each.weight for each in asked.weighed if places_of(folded, each.term))


def _folded(text: str) -> str:
    """In pieces: one call for a page of five megabytes holds up every thread."""
    return "".join(map(fold, pieces(text)))


def _meta(index: PageIndex) -> frozenset[str]:
    """The pages that say what the whole is about; what was written for that purpose comes first."""
    there = [
        path
        for path in (*layout.META_PAGES, layout.OVERVIEW)
        if (page := index.page(path)) is not None and is_content(page)
    ]
    return frozenset(there[:META_MAX])


def _hit(page: PageRow, reason: HitReason, score: float) -> PageHit:
    return PageHit(page.path, page.title, "", page.mtime_ns / 1e9, reason, score)


def _explicit(page: PageRow) -> PageHit:
    return _hit(page, HitReason.EXPLICIT, 1.0)


def _with_snippets(ranked: RankedPages, snippet_max: int, budget: int) -> tuple[PageHit, ...]:
    """Each page with the part of it that matters, while the budget lasts; those that were named share it."""
    hits, words = ranked.found.hits, ranked.words
    named = sum(hit.hit_reason is HitReason.EXPLICIT for hit in hits)
    left = max(budget, 0)
    out: list[PageHit] = []
    for hit in hits:
        content = ranked.contents.get(hit.path, "")
        if hit.hit_reason is HitReason.EXPLICIT:
            room = min(snippet_max, left // max(named - len(out), 1))
        else:
            room = min(snippet_max, left)
            if room < min(SNIPPET_MIN_CHARS, len(content), snippet_max):
                break
        starts = hit.hit_reason in (HitReason.TITLE, HitReason.FILENAME)
        snippet = best_passages(content, () if starts else words, room, centred=True) if room > 0 else ""
        left -= len(snippet)
        places = _places(hit, content, ranked.terms)
        there = {term for _, terms in places for term in terms}
        matched = tuple(term for term in ranked.terms if term in there)
        out.append(replace(hit, snippet=snippet, matched=matched, cut=snippet != content, places=places))
    return tuple(out)


def _places(hit: PageHit, content: str, terms: Sequence[str]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Which of the terms stand in the title, the file's name and the content."""
    fields = (("title", fold(hit.title)), ("name", fold(layout.stem(hit.path))), ("content", _folded(content)))
    found = ((name, tuple(term for term in terms if term in text)) for name, text in fields)
    return tuple((name, there) for name, there in found if there)
