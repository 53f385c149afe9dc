"""Asking the product's own search every question of a set, of entries and of pages."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from devflow.retrieval.entries import search_entries
from devflow.retrieval.hits import SearchResult
from devflow.retrieval.pages import search_knowledge_base
from devflow.store.database import Database
from devflow.wiki.page_index import PageIndex

from .sets import BenchmarkSet, Document

DEPTH = 10
PAIRS = 500
_HAN_PAIR = re.compile("(?=([\u4e00-\u9fff]{2}))")
ROOM = 100_000
"""Characters for the snippets: a prompt's budget shall not end the ranking."""


@dataclass(frozen=True, slots=True)
class Run:
    """What a set's questions found: document ids, best first, and the milliseconds each took."""

    ranked: Mapping[str, tuple[str, ...]]
    milliseconds: tuple[float, ...]


def ask_entries(database: Database, data: BenchmarkSet, ids: Mapping[str, str]) -> Run:
    def ask(text: str) -> list[str]:
        return [ids[hit.entry.id] for hit in _found(database, text)]

    return _run(data, ask)


def two_characters(database: Database, data: BenchmarkSet) -> tuple[int, int]:
    """How many pairs of Han characters that stand in the documents a search does not find, and of how many."""
    chance = random.Random(2)
    some = chance.sample(data.documents, min(PAIRS, len(data.documents)))
    pairs = [chance.choice(found) for each in some if (found := _HAN_PAIR.findall(f"{each.title}\n{each.text}"))]
    return sum(not _found(database, pair) for pair in pairs), len(pairs)


def ask_pages(folder: Path, data: BenchmarkSet) -> Run:
    """Each document as a page of a knowledge base in `folder`, with its title as heading."""
    names = {f"wiki/concepts/{number:05}.md": document for number, document in enumerate(data.documents)}
    for path, document in names.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(_page(document), "utf-8")
    index = PageIndex(folder, None)
    try:
        index.refresh()

        def ask(text: str) -> list[str]:
            found = search_knowledge_base(index, text, max_pages=DEPTH, snippet_max_chars=1, total_budget_chars=ROOM)
            return [names[hit.path].id for hit in found.hits]

        return _run(data, ask)
    finally:
        index.close()


def _found(database: Database, text: str) -> SearchResult:
    return database.run_read(lambda session: search_entries(session, text, limit=DEPTH))


def _page(document: Document) -> str:
    return f"# {document.title}\n\n{document.text}\n"


def _run(data: BenchmarkSet, ask: Callable[[str], Sequence[str]]) -> Run:
    ranked: dict[str, tuple[str, ...]] = {}
    spent: list[float] = []
    for question in data.questions:
        started = time.perf_counter()
        found = ask(question.text)
        spent.append(1000 * (time.perf_counter() - started))
        ranked[question.id] = tuple(found)
    return Run(ranked, tuple(spent))
