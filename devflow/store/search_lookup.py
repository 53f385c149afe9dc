"""Questions to the search index: which entries contain a text, which match terms. Reads only; SQLite (FTS5) only.

The order and the cut are made here on narrow rows; texts are read only for what may be shown.
"""

# ruff: noqa: S608 - only names and placeholders that stand in this module are put together; every value is bound

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import merge
from itertools import islice
from typing import Any, TypeVar, cast

from sqlalchemy.orm import Session

from devflow.domain.knowledge import LIBRARY, EmbeddingStatus, Kind, Status
from devflow.domain.text import Needle, fold
from devflow.store import tolerant
from devflow.store.entry_lists import ANY, Filters
from devflow.store.search_index import folded_tag, quoted

T = TypeVar("T")

ENOUGH_TERMS = 3
"""With this many whole terms a plain scan is narrow enough; parts of words need not be looked up."""
MAX_TERMS = 4
MAX_WORDS = 400
"""A part that stands in more words than this narrows nothing worth the union."""
MAX_SIGNS = 6
MANY = 1_500
"""What so many entries may contain is looked for by walking through the entries in order."""
READ_AT_ONCE = 400
_COLUMNS = "SELECT d.entry_id, d.reuse_count, instr(d.folded_title, ?) > 0 AS in_title FROM search_docs d WHERE 1"


@dataclass(frozen=True, slots=True)
class Scope:
    """Which entries count. `projects` lists the projects allowed, None among them for entries of no project; None alone
    allows all. `tags` must all be there. `source` is a whole `source_ref` or the word before its colon. `embedding` and
    `only` as a list's filters have them."""

    statuses: frozenset[Status] = LIBRARY
    kind: Kind | None = None
    tags: tuple[str, ...] = ()
    source: str | None = None
    projects: tuple[str | None, ...] | None = None
    embedding: EmbeddingStatus | None = None
    only: frozenset[str] | None = None

    @classmethod
    def of(cls, filters: Filters) -> Scope:
        """The same filters a list has."""
        return cls(
            filters.statuses,
            filters.kind,
            () if filters.tag is None else (filters.tag,),
            filters.source,
            None if filters.project == ANY else (filters.project,),
            filters.embedding,
            filters.only,
        )

    @classmethod
    def of_prompt(cls, project_id: str | None) -> Scope:
        """What may stand in a prompt: published entries of that project, and those of none, which hold everywhere."""
        return cls(projects=(None,) if project_id is None else (None, project_id))


@dataclass(frozen=True, slots=True)
class Contained:
    """Ids in the contract's order. `partial`: the cap on work was met before the end."""

    ids: tuple[str, ...]
    partial: bool = False


def containing(session: Session, needle: Needle, scope: Scope, limit: int, cap: int) -> Contained:
    """The first `limit` entries whose folded title or content contains the folded query: what a plain scan gives.

    Order: reuse count, then relevance (a title that is the query, a title that contains it, the content alone), then
    the newest change. At most `cap` texts are read.
    """
    narrowing = _narrowing(session, needle)
    if narrowing is None:
        return Contained(())
    found: list[str] = []
    read = 0
    for some in _candidates(session, needle.folded, narrowing, scope, limit):
        unsure = [each.id for each in some if not each.in_title][: cap - read]
        read += len(unsure)
        contents = _contents(session, unsure)
        for each in some:
            if not each.in_title and each.id not in contents:
                return Contained(tuple(found), partial=True)
            if each.in_title or needle.folded in fold(contents[each.id]):
                found.append(each.id)
                if len(found) == limit:
                    return Contained(tuple(found))
    return Contained(tuple(found))


def may_contain(session: Session, needle: Needle, scope: Scope) -> tuple[tuple[str, bool], ...]:
    """Every entry that may contain the folded query, in the contract's order: its id, and whether its title has it, so
    that its content need not be read. Reads no content: `with_content` does, for as many as there is time for."""
    narrowing = _narrowing(session, needle)
    if narrowing is None:
        return ()
    found = _sorted(session, needle.folded, narrowing, scope)
    return tuple((each.id, each.in_title) for each in found)


def with_content(session: Session, needle: Needle, ids: Sequence[str]) -> frozenset[str]:
    """Those of the entries whose content contains the folded query."""
    return frozenset(id for id, content in _contents(session, ids).items() if needle.folded in fold(content))


def is_filling(session: Session) -> bool:
    """Whether entries are still missing from the index: a search does not find them yet."""
    return bool(_rows(session, "SELECT 1 FROM search_missing LIMIT 1"))


def frequencies(session: Session, terms: Iterable[str], most: int | None = None) -> dict[str, int]:
    """In how many entries (of any status) each term stands, in any field; counted up to `most`, if that is given."""
    execute = _driver(session).execute  # asked for once: there are twenty terms, and each is counted in no time
    statement = "SELECT count(*) FROM search_terms WHERE search_terms MATCH ?"
    if most is not None:
        statement = f"SELECT count(*) FROM (SELECT 1 FROM search_terms WHERE search_terms MATCH ? LIMIT {most:d})"
    return {term: execute(statement, (quoted(term),)).fetchone()[0] for term in terms}


def size(session: Session) -> int:
    """About how many entries are indexed; never less than one."""
    return int(_rows(session, "SELECT coalesce(max(doc), 0) FROM search_docs")[0][0]) or 1


def matching(
    session: Session, alternatives: Iterable[Sequence[str]], scope: Scope, limit: int
) -> list[tuple[str, float, int]]:
    """(id, BM25, reuse count) of the best entries that have all terms of any alternative; higher is better."""
    asked = " OR ".join(f"({' AND '.join(map(quoted, terms))})" for terms in alternatives)
    where, values = _conditions(scope)
    statement = (
        "SELECT d.entry_id, -f.rank, d.reuse_count FROM search_terms f JOIN search_docs d ON d.doc = f.rowid "
        f"WHERE f.search_terms MATCH ? {where} ORDER BY f.rank LIMIT ?"
    )
    found = _rows(session, statement, asked, *values, limit)
    return [(id, rank, tolerant.number(reused)) for id, rank, reused in found]


def texts(session: Session, ids: Sequence[str]) -> dict[str, tuple[str, str, str]]:
    """Title, tags and content of the entries, folded."""
    found: dict[str, tuple[str, str, str]] = {}
    for some in _chunks(ids, READ_AT_ONCE):
        statement = (
            "SELECT d.entry_id, d.folded_title, d.folded_tags, e.content FROM search_docs d "
            f"JOIN entries e ON e.id = d.entry_id WHERE d.entry_id IN ({_marks(some)})"
        )
        found |= {row[0]: (row[1], row[2], fold(tolerant.text(row[3]))) for row in _rows(session, statement, *some)}
    return found


def inside(session: Session, ids: Sequence[str], scope: Scope) -> frozenset[str]:
    """Those of the entries that the scope allows."""
    where, values = _conditions(scope)
    found: set[str] = set()
    for some in _chunks(ids, READ_AT_ONCE):
        statement = f"SELECT d.entry_id FROM search_docs d WHERE d.entry_id IN ({_marks(some)}){where}"
        found.update(row[0] for row in _rows(session, statement, *some, *values))
    return frozenset(found)


def any_of(terms: Iterable[str]) -> str:
    return " OR ".join(map(quoted, terms))


@dataclass(frozen=True, slots=True)
class _Narrowing:
    """FTS5 expressions that every containing entry matches; empty: none is known. `count` stops at `MANY`."""

    terms: str
    signs: str
    count: int

    def conditions(self, column: str = "") -> tuple[str, tuple[str, ...]]:
        """As SQL over `search_docs d`, led by AND, and its values; with a column, of entries that match there."""
        found, values = "", []
        if self.terms:
            found += " AND d.doc IN (SELECT rowid FROM search_terms WHERE search_terms MATCH ?)"
            values.append(f"{{{column}}} : ({self.terms})" if column else self.terms)
        if self.signs:
            found += " AND d.doc IN (SELECT rowid FROM search_signs WHERE search_signs MATCH ?)"
            values.append(self.signs)
        return found, tuple(values)


def _narrowing(session: Session, needle: Needle) -> _Narrowing | None:
    """None if there can be no entry."""
    longest = sorted(needle.terms, key=len, reverse=True)  # likely the rarest
    parts = [quoted(term) for term in longest[:MAX_TERMS]]
    signs: list[str] = []
    if len(parts) < ENOUGH_TERMS:
        parts += [f"{quoted(char)} *" for char in needle.openers]
        signs = [quoted(sign) for sign in sorted(needle.signs, key=len, reverse=True)[:MAX_SIGNS]]
        for part in needle.parts:
            words = _words_with(session, part)
            if not words:
                return None
            if len(words) <= MAX_WORDS:
                parts.append(f"({any_of(words)})")
    asked = {"search_terms": " AND ".join(parts), "search_signs": " AND ".join(signs)}
    count = min((_count(session, table, asked[table]) for table in asked if asked[table]), default=MANY)
    return _Narrowing(asked["search_terms"], asked["search_signs"], count) if count else None


def _count(session: Session, table: str, asked: str) -> int:
    statement = f"SELECT count(*) FROM (SELECT 1 FROM {table} WHERE {table} MATCH ? LIMIT {MANY})"
    return int(_rows(session, statement, asked)[0][0])


def _words_with(session: Session, part: str) -> list[str]:
    """Words that contain the part, one more than `MAX_WORDS` at most."""
    grams = [part] if len(part) < 3 else [part[at : at + 3] for at in range(len(part) - 2)]
    statement = (
        "SELECT w.word FROM search_word_grams g JOIN search_words w ON w.id = g.rowid "
        "WHERE g.search_word_grams MATCH ? AND instr(w.word, ?) > 0 LIMIT ?"
    )
    asked = " AND ".join(map(quoted, dict.fromkeys(grams)))
    return [row[0] for row in _rows(session, statement, asked, part, MAX_WORDS + 1)]


@dataclass(frozen=True, slots=True)
class _Candidate:
    id: str
    reused: int
    in_title: bool


def _candidates(
    session: Session, folded: str, narrowing: _Narrowing, scope: Scope, limit: int
) -> Iterator[Sequence[_Candidate]]:
    """Those that may contain the text, in the contract's order, in growing batches.

    What few entries may contain is taken from the index and sorted. What many contain is soon found by walking through
    the entries in that order; the titles, which come before the contents of the same reuse count, are asked apart.
    """
    if narrowing.count < MANY or limit > MANY // 4:
        yield from _batched(_sorted(session, folded, narrowing, scope), limit)
        return
    where, values = _conditions(scope)
    narrowed, more = narrowing.conditions("title")
    titled = (
        f"{_COLUMNS} {narrowed} {where} AND in_title ORDER BY +d.reuse_count DESC, d.folded_title = ? DESC, "
        "d.updated_at DESC, d.entry_id LIMIT ?"
    )
    walked = f"{_COLUMNS} {where} AND NOT in_title ORDER BY d.reuse_count DESC, d.updated_at DESC, d.entry_id"
    both = merge(
        _stepping(session, titled, folded, *more, *values, folded, limit),
        _stepping(session, walked, folded, *values),
        key=lambda each: (-each.reused, not each.in_title),
    )
    yield from _batched(both, limit)


def _sorted(session: Session, folded: str, narrowing: _Narrowing, scope: Scope) -> Iterator[_Candidate]:
    where, values = _conditions(scope)
    narrowed, more = narrowing.conditions()
    statement = (  # `+`: sorted, not walked
        f"{_COLUMNS} {narrowed} {where} ORDER BY +d.reuse_count DESC, d.folded_title = ? DESC, in_title DESC, "
        "d.updated_at DESC, d.entry_id"
    )
    return _stepping(session, statement, folded, *more, *values, folded)


def _stepping(session: Session, statement: str, *values: Any) -> Iterator[_Candidate]:
    """Rows as they are asked for: the rest is never found."""
    cursor = _driver(session).execute(statement, values)
    try:
        for id, reused, in_title in cursor:
            yield _Candidate(id, tolerant.number(reused), bool(in_title))
    finally:
        cursor.close()


def _batched(candidates: Iterator[_Candidate], limit: int) -> Iterator[Sequence[_Candidate]]:
    size = max(2 * limit, 32)
    while some := list(islice(candidates, min(size, READ_AT_ONCE))):
        yield some
        size *= 4


def _contents(session: Session, ids: Sequence[str]) -> dict[str, str]:
    if not ids:
        return {}
    return dict(_rows(session, f"SELECT id, content FROM entries WHERE id IN ({_marks(ids)})", *ids))


def _conditions(scope: Scope) -> tuple[str, tuple[Any, ...]]:
    """The scope as SQL over `search_docs d`, each condition led by AND, and its values."""
    found: list[str] = []
    values: list[Any] = []
    if len(scope.statuses) < len(Status):
        statuses = sorted(status.value for status in scope.statuses)
        found.append(f"d.status IN ({_marks(statuses)})")
        values += statuses
    if scope.kind is not None:
        found.append("d.kind = ?")
        values.append(scope.kind.value)
    for tag in scope.tags:
        found.append("instr(d.folded_tags, ?) > 0")
        values.append(folded_tag(tag))
    if scope.source is not None:
        found.append("(d.source_ref = ? OR substr(d.source_ref, 1, ?) = ?)")
        values += [scope.source, len(scope.source) + 1, f"{scope.source}:"]
    if scope.projects is not None:
        named = [project for project in scope.projects if project is not None]
        nowhere = " OR d.project_id IS NULL" if None in scope.projects else ""
        found.append(f"(d.project_id IN ({_marks(named)}){nowhere})")
        values += named
    if scope.embedding is not None:
        found.append("d.entry_id IN (SELECT id FROM entries WHERE embedding_status = ?)")
        values.append(scope.embedding.value)
    if scope.only is not None:
        found.append(f"d.entry_id IN ({_marks(tuple(scope.only))})")
        values += sorted(scope.only)
    return "".join(f" AND {condition}" for condition in found), tuple(values)


def _rows(session: Session, statement: str, *values: Any) -> list[Any]:
    return cast("list[Any]", _driver(session).execute(statement, values).fetchall())


def _driver(session: Session) -> Any:
    """Straight to the driver: of a search's dozen small questions, each would cost more to wrap than to answer."""
    connection = session.connection().connection.driver_connection
    assert connection is not None
    return connection


def _marks(items: Sequence[Any]) -> str:
    return ", ".join("?" * len(items))


def _chunks(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    return (items[start : start + size] for start in range(0, len(items), size))
