"""Simple keyword systems to compare with, on the same documents and questions: what any program has for nothing.

Each is as its authors describe it and knows nothing of the product: LIKE over the stored text, FTS5 with SQLite's own
tokenizers, FTS5 over overlapping pairs of Han characters, and BM25 over these pairs with a weight for the title and a
bonus for neighbours.
"""

from __future__ import annotations

import re
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from heapq import nlargest
from itertools import pairwise
from math import log

from .sets import BenchmarkSet, Document

DEPTH = 10
Ask = Callable[[str], Sequence[str]]
Ranked = Mapping[str, tuple[str, ...]]

_HAN = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\da-zA-Z_]+")
_WORD = re.compile(rf"[{_HAN}]+|[^\W{_HAN}]+")


def run(system: str, data: BenchmarkSet) -> Ranked:
    """What the system named finds for every question, best first."""
    ask = SYSTEMS[system](data.documents)
    return {question.id: tuple(ask(question.text))[:DEPTH] for question in data.questions}


def pairs(text: str) -> list[str]:
    """Words in lower case and the parts of identifiers; Han and its neighbours as overlapping pairs."""
    found: list[str] = []
    for piece in _WORD.findall(text):
        if re.match(f"[{_HAN}]", piece):
            found += [piece[i : i + 2] for i in range(len(piece) - 1)] or [piece]
        else:
            parts = [part.lower() for part in _PART.findall(piece)]
            found += parts if parts == [piece.lower()] else [piece.lower(), *parts]
    return found


def _like(documents: Sequence[Document]) -> Ask:
    def ask(question: str) -> Sequence[str]:
        whole = question.strip().lower()
        return [d.id for d in documents if whole in d.title.lower() or whole in d.text.lower()]

    return ask


def _like_words(documents: Sequence[Document]) -> Ask:
    """Every word that stands somewhere counts one; a run of Han is one word."""
    texts = [(d.id, f"{d.title}\n{d.text}".lower()) for d in documents]

    def ask(question: str) -> Sequence[str]:
        words = set(_WORD.findall(question.lower()))
        counted = [(sum(word in text for word in words), id) for id, text in texts]
        return [id for count, id in sorted(counted, key=lambda each: -each[0]) if count]

    return ask


def _fts(tokenizer: str, of_text: Callable[[str], str], terms: Callable[[str], list[str]]) -> Callable[..., Ask]:
    def made(documents: Sequence[Document]) -> Ask:
        connection = sqlite3.connect(":memory:")
        connection.execute(f'CREATE VIRTUAL TABLE t USING fts5(title, text, tokenize="{tokenizer}")')
        connection.executemany("INSERT INTO t VALUES (?, ?)", [(of_text(d.title), of_text(d.text)) for d in documents])

        def ask(question: str) -> Sequence[str]:
            asked = " OR ".join('"' + term.replace('"', '""') + '"' for term in dict.fromkeys(terms(question)))
            if not asked:
                return ()
            rows = connection.execute("SELECT rowid FROM t WHERE t MATCH ? ORDER BY rank LIMIT ?", (asked, DEPTH))
            return [documents[row[0] - 1].id for row in rows]

        return ask

    return made


def _threes(text: str) -> list[str]:
    return [text[i : i + 3] for i in range(len(text) - 2) if text[i : i + 3].strip() == text[i : i + 3]]


def _bm25(documents: Sequence[Document]) -> Ask:
    """BM25 (k 1.2, b 0.75), the title's terms three times, one half of the rarer one's weight more for neighbours."""
    k, b, title_times, phrase = 1.2, 0.75, 3, 0.5
    postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
    neighbours: list[set[tuple[str, str]]] = []
    lengths: list[int] = []
    for place, document in enumerate(documents):
        title, text = pairs(document.title), pairs(document.text)
        counted = Counter(text)
        for term in title:
            counted[term] += title_times
        lengths.append(counted.total())
        neighbours.append({*pairwise(title), *pairwise(text)})
        for term, count in counted.items():
            postings[term].append((place, count))
    mean = sum(lengths) / len(lengths)

    def rarity(term: str) -> float:
        count = len(postings.get(term, ()))
        return log(1 + (len(documents) - count + 0.5) / (count + 0.5))

    def ask(question: str) -> Sequence[str]:
        terms = pairs(question)
        scores: dict[int, float] = defaultdict(float)
        for term in dict.fromkeys(terms):
            weight = rarity(term)
            for place, count in postings.get(term, ()):
                scores[place] += weight * count * (k + 1) / (count + k * (1 - b + b * lengths[place] / mean))
        for first, second in dict.fromkeys(pairwise(terms)):
            bonus = phrase * min(rarity(first), rarity(second))
            for place, _ in postings.get(first, ()):
                if (first, second) in neighbours[place]:
                    scores[place] += bonus
        return [documents[place].id for place in nlargest(DEPTH, scores, key=lambda place: scores[place])]

    return ask


SYSTEMS: Mapping[str, Callable[[Sequence[Document]], Ask]] = {
    "LIKE whole message": _like,
    "LIKE per word": _like_words,
    "FTS5 unicode61": _fts("unicode61", str, lambda text: _WORD.findall(text)),
    "FTS5 trigram": _fts("trigram", str, _threes),
    "FTS5 over pairs": _fts("ascii tokenchars _", lambda text: " ".join(pairs(text)), pairs),
    "BM25 over pairs, title, neighbours": _bm25,
}
