"""Reading a public set: `corpus.jsonl`, `dev/queries.jsonl`, `dev/qrels.tsv`. The data stays where it is."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

SIX = ("cmrc2018", "drcd", "javaguide", "cosqa", "claudedocs", "libafl")
CROSS_LINGUAL = ("tldr-xling",)
PAGES = ("javaguide",)
"""Asked as pages of a knowledge base too."""
TITLE_MAX, TEXT_MAX = 200, 20_000


@dataclass(frozen=True, slots=True)
class Document:
    id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Question:
    id: str
    text: str
    relevant: frozenset[str]


@dataclass(frozen=True, slots=True)
class BenchmarkSet:
    name: str
    documents: tuple[Document, ...]
    questions: tuple[Question, ...]


def read_set(folder: Path) -> BenchmarkSet:
    """Titles cut at 200 characters, texts at 20,000, exact duplicates loaded once with their judgements joined."""
    first: dict[tuple[str, str], Document] = {}
    loaded_as: dict[str, str] = {}
    for row in _json_lines(folder / "corpus.jsonl"):
        title = " ".join(str(row.get("title") or row["id"]).split())[:TITLE_MAX]
        text = str(row["text"])[:TEXT_MAX]
        document = first.setdefault((title, text), Document(str(row["id"]), title, text))
        loaded_as[str(row["id"])] = document.id
    relevant: dict[str, set[str]] = {}
    for line in (folder / "dev" / "qrels.tsv").read_text("utf-8").splitlines():
        question, document_id, *_ = line.split("\t")
        relevant.setdefault(question, set()).add(loaded_as[document_id])
    questions = tuple(
        Question(str(row["id"]), str(row["text"]), frozenset(relevant[str(row["id"])]))
        for row in _json_lines(folder / "dev" / "queries.jsonl")
        if str(row["id"]) in relevant
    )
    return BenchmarkSet(folder.name, tuple(first.values()), questions)


def _json_lines(path: Path) -> Iterable[dict[str, object]]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                yield json.loads(line)
