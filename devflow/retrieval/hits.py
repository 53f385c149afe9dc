"""What a search of the library gives: entries, and for each the reason."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from devflow.domain.knowledge import Entry

Tier = Literal["like", "term", "meaning"]


@dataclass(frozen=True, slots=True)
class Match:
    """Why an entry was found.

    `like`: title or content contains the whole query, which is then the only one of `terms`. `term`: it has these terms
    of the query. `meaning`: its vector alone found it. Terms are folded; `fields` are among `title`, `tags`, `content`,
    in this order; `places` says which of the terms stand in each. `similarity` of a search by meaning: 0 for unrelated
    texts, 0.3 at the floor; None where the entry has no vector, or only keywords were asked.
    """

    tier: Tier
    terms: tuple[str, ...]
    fields: tuple[str, ...]
    similarity: float | None = None
    places: tuple[tuple[str, tuple[str, ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class Hit:
    """`score` is relative to the best hit (1.00), not a probability; one that contains the whole query has 1.00."""

    entry: Entry
    score: float
    match: Match


@dataclass(frozen=True, slots=True)
class SearchResult:
    """`total` counts all entries that match, where that was asked for. `partial`: a cap on work was met, or the index
    is being made anew: there may be more."""

    hits: tuple[Hit, ...]
    total: int | None = None
    partial: bool = False

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)


NOTHING = SearchResult((), 0)


@dataclass(frozen=True, slots=True)
class FoundIds:
    """The ids of what a search finds, best first. `capped`: a cap on work was met, so there may be more; `filling`: the
    index is being made anew, and what is not in it yet is not found."""

    ids: tuple[str, ...] = ()
    capped: bool = False
    filling: bool = False

    @property
    def partial(self) -> bool:
        return self.capped or self.filling
