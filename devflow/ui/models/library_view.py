"""What the library shows: filters, search and order, as one value that survives a restart (KP-8)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from devflow.domain.knowledge import EmbeddingStatus, Kind, Status
from devflow.store.entry_lists import SORTS, SOURCES, Filters

GROUP = "library_view"
"""Its settings group."""

RELEVANCE = "relevance"
CONFLICTS, FAILED, PENDING = "conflicts", "embedding-failed", "embedding-pending"
ATTENTION = (CONFLICTS, FAILED, PENDING)
"""What asks for attention: contradictions, vectors that could not be made, vectors that are still to be made."""
_EMBEDDING = {FAILED: EmbeddingStatus.FAILED, PENDING: EmbeddingStatus.PENDING}


@dataclass(frozen=True, slots=True)
class LibraryView:
    """`status` None shows every status. While a query stands, `found_sort` is the order, else `sort`.

    `attention` is one of `ATTENTION`.
    """

    status: Status | None = Status.PUBLISHED
    kind: Kind | None = None
    tag: str | None = None
    source: str | None = None
    attention: str | None = None
    query: str = ""
    sort: str = "updated"
    found_sort: str = RELEVANCE

    def filters(self, conflicting: frozenset[str] = frozenset()) -> Filters:
        """`conflicting`: the entries that are known to contradict another one."""
        statuses = frozenset(Status) if self.status is None else frozenset({self.status})
        return Filters(
            statuses=statuses,
            kind=self.kind,
            tag=self.tag,
            source=self.source,
            embedding=_EMBEDDING.get(self.attention or ""),
            only=conflicting if self.attention == CONFLICTS else None,
        )

    @property
    def searching(self) -> bool:
        return bool(self.query.strip())

    @property
    def order(self) -> str:
        return self.found_sort if self.searching else self.sort

    @property
    def narrowed(self) -> bool:
        """Whether a facet is set beyond the status."""
        return bool(self.kind or self.tag or self.source or self.attention)


def to_settings(view: LibraryView) -> dict[str, Any]:
    return asdict(view)


def from_settings(value: Mapping[str, Any]) -> LibraryView:
    """What was stored; a field that cannot be read falls back to its default."""
    default = LibraryView()
    sorts = frozenset(SORTS) - {"inbox"}
    status = value.get("status", default.status)  # None is a choice: every status
    return LibraryView(
        status=None if status is None else _one_of(Status, status) or default.status,
        kind=_one_of(Kind, value.get("kind")),
        tag=_text(value.get("tag")),
        source=source if (source := _text(value.get("source"))) in SOURCES else None,
        attention=which if (which := _text(value.get("attention"))) in ATTENTION else None,
        query=_text(value.get("query")) or "",
        sort=sort if (sort := _text(value.get("sort"))) in sorts else default.sort,
        found_sort=sort if (sort := _text(value.get("found_sort"))) in sorts | {RELEVANCE} else RELEVANCE,
    )


def _one_of(choices: Any, value: object) -> Any:
    return next((choice for choice in choices if choice == value), None)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
