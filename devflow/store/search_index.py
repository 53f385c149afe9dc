"""The search index of the library: what only SQLite (FTS5) has. Every table and trigger here begins with `search_`.

`search_docs` mirrors what a search filters and orders by (triggers keep it so), `search_former` the text as it was
indexed where the entry has another one by now (triggers note it, until the entry is indexed anew), `search_terms` the
terms of each field, `search_signs` what stands beside words, `search_words` every whole word, and `search_word_grams`
finds words by a part of them, however short. All of it is written in the transaction that writes the entry.
"""

# ruff: noqa: S608 - only names and placeholders that stand in this module are put together; every value is bound

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

from sqlalchemy import Connection
from sqlalchemy.orm import Session

from devflow.domain.text import fold, sign_terms, terms, whole_words
from devflow.store import tolerant
from devflow.store.database import Unit

VERSION = 4
"""Raise it whenever folding or terms change: an index of another version is rebuilt, never mixed."""

NAMES = (
    "search_word_grams",
    "search_words",
    "search_terms",
    "search_signs",
    "search_former",
    "search_sources",
    "search_docs",
    "search_missing",
    "search_state",
)
"""`search_sources` was the index's until its version 3."""
TRIGGERS = ("search_mirror", "search_changed", "search_deleted")
_TABLES = (
    """
    CREATE TABLE search_docs (
        doc INTEGER PRIMARY KEY,
        entry_id TEXT NOT NULL UNIQUE,
        kind TEXT NOT NULL,
        status TEXT NOT NULL,
        project_id TEXT,
        reuse_count INTEGER NOT NULL,
        updated_at TEXT NOT NULL,
        source_ref TEXT NOT NULL,
        folded_title TEXT NOT NULL,
        folded_tags TEXT NOT NULL
    )
    """,
    "CREATE TABLE search_former (doc INTEGER PRIMARY KEY, title TEXT NOT NULL, tags TEXT, content TEXT NOT NULL)",
    """
    CREATE VIRTUAL TABLE search_terms USING fts5(
        title, tags, content, content='', tokenize="ascii tokenchars '_+#.'"
    )
    """,
    "CREATE VIRTUAL TABLE search_signs USING fts5(signs, content='', detail='none', tokenize='ascii')",
    "CREATE TABLE search_words (id INTEGER PRIMARY KEY, word TEXT NOT NULL UNIQUE)",
    """
    CREATE VIRTUAL TABLE search_word_grams USING fts5(
        grams, content='', detail='none', tokenize="ascii tokenchars '_'"
    )
    """,
    # what is still to be indexed (search_fill)
    "CREATE TABLE search_missing (place INTEGER PRIMARY KEY, entry_id TEXT NOT NULL)",
    "CREATE TABLE search_state (key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID",
    """
    CREATE TRIGGER search_mirror AFTER UPDATE OF kind, status, project_id, reuse_count, updated_at ON entries BEGIN
        UPDATE search_docs SET kind = new.kind, status = new.status, project_id = new.project_id,
            reuse_count = new.reuse_count, updated_at = new.updated_at WHERE entry_id = new.id;
    END
    """,
    # A table without content must be told the very terms it holds, or it keeps them: so the text they are of.
    """
    CREATE TRIGGER search_changed BEFORE UPDATE OF title, tags, content ON entries
    WHEN (old.title, old.tags, old.content) IS NOT (new.title, new.tags, new.content) BEGIN
        INSERT OR IGNORE INTO search_former
            SELECT doc, old.title, old.tags, old.content FROM search_docs WHERE entry_id = old.id;
    END
    """,
    """
    CREATE TRIGGER search_deleted BEFORE DELETE ON entries BEGIN
        INSERT OR IGNORE INTO search_former
            SELECT doc, old.title, old.tags, old.content FROM search_docs WHERE entry_id = old.id;
    END
    """,
    # the order of the LIKE tier, for what most entries contain
    "CREATE INDEX search_order ON search_docs (reuse_count DESC, updated_at DESC, entry_id)",
    # title > tags > content; mild, because a title is often the page's and shared by many entries
    "INSERT INTO search_terms(search_terms, rank) VALUES ('rank', 'bm25(1.5, 1.2, 1.0)')",
)


def create(connection: Connection) -> None:
    """Make the empty index; the first migration calls it after it has made `entries`."""
    for statement in _TABLES:
        connection.exec_driver_sql(statement)
    connection.exec_driver_sql("INSERT INTO search_state VALUES ('version', ?)", (VERSION,))


def drop(connection: Connection) -> None:
    """Remove the index, whichever of its parts exist."""
    drop_triggers(connection)
    for table in NAMES:
        connection.exec_driver_sql(f"DROP TABLE IF EXISTS {table}")


def drop_triggers(connection: Connection) -> None:
    for trigger in TRIGGERS:
        connection.exec_driver_sql(f"DROP TRIGGER IF EXISTS {trigger}")


def put(unit: Unit, id: str, title: str, content: str, tags: Iterable[str]) -> None:
    """Index an entry, or index it anew after its title, content or tags changed. Its row must have been flushed."""
    unit.session.flush()
    _put(unit.session.connection(), id, title, content, tuple(tags))


def put_again(connection: Connection, id: str) -> None:
    """Index an entry as it is stored; one that is gone is no error."""
    row = connection.exec_driver_sql("SELECT title, content, tags FROM entries WHERE id = ?", (id,)).first()
    if row is not None:
        _put(connection, id, row[0], row[1], _tags(row[2]))


def remove(unit: Unit, id: str) -> None:
    """Take an entry out of the index; one that is not in it is no error."""
    unit.session.flush()
    _remove(unit.session.connection(), id)


def erase(unit: Unit, id: str, former: Iterable[str] = ()) -> None:
    """`remove` that leaves no trace of the text: words used nowhere else go, and the segments are written anew.

    `former` are texts that the entry once had: their words were learnt too, and an edit does not forget them.
    """
    connection = unit.session.connection()
    words = sorted({*_words_of(connection, id), *(word for text in former for word in whole_words(text))})
    remove(unit, id)
    for word in words:
        if not connection.exec_driver_sql("SELECT 1 FROM search_terms(?) LIMIT 1", (quoted(word),)).first():
            _forget_word(connection, word)
    for table in ("search_terms", "search_signs", "search_word_grams"):
        connection.exec_driver_sql(f"INSERT INTO {table}({table}) VALUES ('optimize')")


def rebuild(unit: Unit, progress: Callable[[int, int], None] | None = None) -> int:
    """Make the whole index anew from `entries`, within the transaction; returns the number of entries.

    `progress(done, total)` is called after every hundred entries.
    """
    unit.session.flush()
    connection = unit.session.connection()
    drop(connection)
    create(connection)
    total = connection.exec_driver_sql("SELECT count(*) FROM entries").scalar_one()
    done = 0
    for batch in _batches(connection, "SELECT id, title, content, tags FROM entries ORDER BY created_at, id"):
        for id, title, content, tags in batch:
            _put(connection, id, title, content, _tags(tags))
        done += len(batch)
        if progress is not None:
            progress(done, total)
    return int(total)


def is_current(session: Session) -> bool:
    """Whether the index is there and was made by this version's terms; if not, `rebuild` it."""
    connection = session.connection()
    found = connection.exec_driver_sql("SELECT 1 FROM sqlite_master WHERE name = 'search_state'").first()
    if not found:
        return False
    version = connection.exec_driver_sql("SELECT value FROM search_state WHERE key = 'version'").scalar()
    return bool(version == VERSION)


def check(session: Session) -> list[str]:
    """What is wrong with the index, in English sentences; nothing is: an empty list. Reads only."""
    session.flush()
    connection = session.connection()
    if not is_current(session):
        return ["The search index was made by another version."]
    if left := connection.exec_driver_sql("SELECT count(*) FROM search_missing").scalar_one():
        return [f"The search index is being made: {left} entries are still missing."]
    problems = [
        sentence.format(count=count)
        for statement, sentence in _CHECKS
        if (count := connection.exec_driver_sql(statement).scalar_one())
    ]
    joined = (
        "SELECT e.title, f.title, e.content, f.content, e.tags, f.tags FROM search_former f "
        "JOIN search_docs d ON d.doc = f.doc JOIN entries e ON e.id = d.entry_id"
    )
    changed = sum(
        (title, content, _tags(tags)) != (old_title, old_content, _tags(old_tags))
        for batch in _batches(connection, joined)
        for title, old_title, content, old_content, tags, old_tags in batch
    )
    if changed:
        problems.append(f"{changed} entries were changed without their index.")
    return problems


_CHECKS = (
    (
        "SELECT count(*) FROM entries WHERE id NOT IN (SELECT entry_id FROM search_docs)",
        "{count} entries are not in the search index.",
    ),
    (
        "SELECT count(*) FROM search_docs WHERE entry_id NOT IN (SELECT id FROM entries)",
        "{count} index rows belong to no entry.",
    ),
    (
        """
        SELECT count(*) FROM search_docs d JOIN entries e ON e.id = d.entry_id
        WHERE (d.kind, d.status, d.reuse_count, d.updated_at, d.source_ref)
            IS NOT (e.kind, e.status, e.reuse_count, e.updated_at, e.source_ref) OR d.project_id IS NOT e.project_id
        """,
        "{count} index rows disagree with their entry.",
    ),
    (
        """
        SELECT (SELECT count(*) FROM search_docs WHERE doc NOT IN (SELECT id FROM search_terms_docsize))
            + (SELECT count(*) FROM search_terms_docsize WHERE id NOT IN (SELECT doc FROM search_docs))
        """,
        "{count} index rows have no terms, or terms no row.",
    ),
    (
        """
        SELECT (SELECT count(*) FROM search_docs WHERE doc NOT IN (SELECT id FROM search_signs_docsize))
            + (SELECT count(*) FROM search_signs_docsize WHERE id NOT IN (SELECT doc FROM search_docs))
        """,
        "{count} index rows have no signs, or signs no row.",
    ),
    (
        "SELECT 3 - count(*) FROM sqlite_master WHERE name IN ('search_mirror', 'search_changed', 'search_deleted')",
        "{count} triggers of the search index are missing.",
    ),
)


def quoted(term: str) -> str:
    """A term as a string of FTS5's query language."""
    return '"' + term.replace('"', '""') + '"'


def grams_of(word: str) -> list[str]:
    """The different parts of a word of one, two and three characters."""
    found: dict[str, None] = {}
    for size in (1, 2, 3):
        found |= dict.fromkeys(word[at : at + size] for at in range(len(word) - size + 1))
    return list(found)


def folded_tag(tag: str) -> str:
    """How a tag stands in `search_docs.folded_tags`: a line of its own."""
    return f"\n{fold(tag.strip())}\n"


def _put(connection: Connection, id: str, title: str, content: str, tags: tuple[str, ...]) -> None:
    doc = _remove(connection, id)  # kept, so that the highest number stays near the number of entries
    inserted = connection.exec_driver_sql(
        """
        INSERT INTO search_docs
            (doc, entry_id, kind, status, project_id, reuse_count, updated_at, source_ref, folded_title, folded_tags)
        SELECT ?, id, kind, status, project_id, reuse_count, updated_at, source_ref, ?, ? FROM entries WHERE id = ?
        RETURNING doc
        """,
        (doc, fold(title), "".join(map(folded_tag, tags)), id),
    ).scalar()
    if inserted is None:
        raise LookupError(f"entry {id} is not in the database")
    connection.exec_driver_sql(
        "INSERT INTO search_terms (rowid, title, tags, content) VALUES (?, ?, ?, ?)",
        (inserted, *_streams(title, tags, content)),
    )
    connection.exec_driver_sql(
        "INSERT INTO search_signs (rowid, signs) VALUES (?, ?)", (inserted, _signs(title, content))
    )
    _learn_words(connection, {word for text in (title, content) for word in whole_words(text)})


def _remove(connection: Connection, id: str) -> int | None:
    """Returns the number the entry had."""
    if (indexed := _indexed(connection, id)) is None:
        return None
    doc, title, tags, content = indexed
    connection.exec_driver_sql(
        "INSERT INTO search_terms (search_terms, rowid, title, tags, content) VALUES ('delete', ?, ?, ?, ?)",
        (doc, *_streams(title, tags, content)),
    )
    connection.exec_driver_sql(
        "INSERT INTO search_signs (search_signs, rowid, signs) VALUES ('delete', ?, ?)", (doc, _signs(title, content))
    )
    connection.exec_driver_sql("DELETE FROM search_former WHERE doc = ?", (doc,))
    connection.exec_driver_sql("DELETE FROM search_docs WHERE doc = ?", (doc,))
    return doc


def _indexed(connection: Connection, id: str) -> tuple[int, str, tuple[str, ...], str] | None:
    """The entry's number, and its title, tags and content as they were indexed."""
    row = connection.exec_driver_sql(
        """
        SELECT d.doc, f.doc IS NULL, f.title, f.tags, f.content, e.title, e.tags, e.content FROM search_docs d
        LEFT JOIN search_former f ON f.doc = d.doc LEFT JOIN entries e ON e.id = d.entry_id WHERE d.entry_id = ?
        """,
        (id,),
    ).first()
    if row is None:
        return None
    doc, is_unchanged, *texts = row
    title, tags, content = texts[3:] if is_unchanged else texts[:3]
    return None if title is None else (int(doc), title, _tags(tags), content)


def _streams(title: str, tags: tuple[str, ...], content: str) -> tuple[str, str, str]:
    return " ".join(terms(title)), " ".join(terms("\n".join(tags))), " ".join(terms(content))


def _signs(title: str, content: str) -> str:
    return " ".join(sign_terms(fold(f"{title}\n{content}")))


def _learn_words(connection: Connection, words: set[str]) -> None:
    known: set[str] = set()
    for some in _chunks(sorted(words), 500):
        statement = "SELECT word FROM search_words WHERE word IN (" + ", ".join("?" * len(some)) + ")"
        rows = connection.exec_driver_sql(statement, tuple(some))
        known.update(row[0] for row in rows)
    if not (unknown := sorted(words - known)):
        return
    # Numbered here, for a statement each costs four times as much as all of them in two.
    first = connection.exec_driver_sql("SELECT coalesce(max(id), 0) + 1 FROM search_words").scalar_one()
    numbered = list(enumerate(unknown, first))
    connection.exec_driver_sql("INSERT INTO search_words (id, word) VALUES (?, ?)", numbered)
    grams = [(id, " ".join(grams_of(word))) for id, word in numbered]
    connection.exec_driver_sql("INSERT INTO search_word_grams (rowid, grams) VALUES (?, ?)", grams)


def _forget_word(connection: Connection, word: str) -> None:
    id = connection.exec_driver_sql("SELECT id FROM search_words WHERE word = ?", (word,)).scalar()
    if id is not None:
        connection.exec_driver_sql(
            "INSERT INTO search_word_grams (search_word_grams, rowid, grams) VALUES ('delete', ?, ?)",
            (id, " ".join(grams_of(word))),
        )
        connection.exec_driver_sql("DELETE FROM search_words WHERE id = ?", (id,))


def _words_of(connection: Connection, id: str) -> list[str]:
    if (indexed := _indexed(connection, id)) is None:
        return []
    _, title, _, content = indexed
    return sorted({*whole_words(title), *whole_words(content)})


def _tags(raw: Any) -> tuple[str, ...]:
    return tolerant.texts(tolerant.json_value(raw))


def _batches(connection: Connection, statement: str) -> Iterator[list[Any]]:
    cursor = connection.exec_driver_sql(statement)
    while batch := cursor.fetchmany(100):
        yield list(batch)


def _chunks(items: list[str], size: int) -> Iterator[list[str]]:
    iterator = iter(items)
    while some := list(islice(iterator, size)):
        yield some
