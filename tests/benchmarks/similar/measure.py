"""The labelled set, mixed into a library of other entries, asked through the product's own functions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from devflow.app.paths import app_paths
from devflow.domain.events import Hub
from devflow.domain.ids import new_id
from devflow.domain.knowledge import Kind, draft
from devflow.knowledge.similar import Likeness, likenesses
from devflow.store import entries
from devflow.store.database import Database, Unit
from devflow.store.migrate import open_database
from devflow.store.timeline import Act
from tests.benchmarks.retrieval.related import SUBJECTS
from tests.benchmarks.similar.labelled import Labelled, label, labelled
from tests.benchmarks.texts import Words

OTHERS = 520
SAME_MATTER = frozenset({0, 7, 10, 18, 19, 24, 25, 33, 42, 45})
"""Places of subjects that say what a labelled group is about: whether these resemble it is labelled nowhere."""
RECALL, PRECISION = 0.90, 0.80
LIMIT = 10


@dataclass(slots=True)
class Counts:
    """Answers against labels. `found` of `wanted` were answered; of `said` answers `right` were labelled so.

    Contradictions are looked for among all pairs of the labelled set, in both directions. `missed` and `wrong` name
    pairs.
    """

    wanted: int = 0
    found: int = 0
    said: int = 0
    right: int = 0
    missed: list[tuple[Labelled, Labelled]] = field(default_factory=list)
    wrong: list[tuple[Labelled, str, str]] = field(default_factory=list)

    @property
    def recall(self) -> float:
        return self.found / max(self.wanted, 1)

    @property
    def precision(self) -> float:
        return self.right / max(self.said, 1)


@dataclass(frozen=True, slots=True)
class Quality:
    similar: Counts
    contrary: Counts
    near_called_contrary: int
    near: int
    manners: dict[str, tuple[int, int]]
    """Manner of rewording to (found, wanted)."""


@contextmanager
def filled(home: Path, others: int = OTHERS) -> Iterator[tuple[Database, dict[str, str]]]:
    """A library with all labelled entries and `others` more; and entry ids by the labelled set's keys."""
    database = open_database(app_paths(home), Hub())
    try:
        yield database, database.run_write(lambda unit: _fill(unit, others))
    finally:
        database.close()


def measure(database: Database, ids: dict[str, str], language: str, half: str) -> Quality:
    known = {ids[entry.key]: entry for entry in labelled()}
    asked = [entry for entry in known.values() if entry.language == language and entry.half == half]
    similar, contrary = Counts(), Counts()
    manners: dict[str, list[int]] = {}
    near = near_called_contrary = 0
    for entry in asked:
        found = database.run_read(partial(likenesses, id_or_text=ids[entry.key], limit=LIMIT))
        answers = {each.entry.id: each for each in found}
        group = [other for other in asked if other.group == entry.group and other.key != entry.key]
        for other in group:
            answer, kind = answers.get(ids[other.key]), label(entry, other)
            if kind in ("near", "contrary"):
                _count(similar, entry, other, answer is not None)
                manner = manners.setdefault(other.manner or entry.manner, [0, 0])
                manner[0] += answer is not None
                manner[1] += 1
            if kind == "contrary":
                _count(contrary, entry, other, answer is not None and answer.contradicts is not None)
            if kind == "near":
                near += 1
                near_called_contrary += answer is not None and answer.contradicts is not None
        _judge(similar, contrary, entry, answers.values(), known)
    return Quality(
        similar, contrary, near_called_contrary, near, {name: (f, w) for name, (f, w) in sorted(manners.items())}
    )


def _count(counts: Counts, one: Labelled, other: Labelled, found: bool) -> None:
    counts.wanted += 1
    counts.found += found
    if not found:
        counts.missed.append((one, other))


def _judge(
    similar: Counts, contrary: Counts, entry: Labelled, answers: Iterable[Likeness], known: dict[str, Labelled]
) -> None:
    """Answers that are not labelled are wrong; the open pairs, and the same matter in the other language, count neither
    way."""
    for answer in answers:
        other = known.get(answer.entry.id)
        same = other is not None and other.number == entry.number
        if other is not None and same and other.language != entry.language:
            continue
        kind = label(entry, other) if other is not None and same else "related"
        if kind == "open":
            continue
        similar.said += 1
        similar.right += kind in ("near", "contrary")
        if kind == "related":
            similar.wrong.append((entry, answer.entry.title, f"{answer.score:.2f}"))
        if answer.contradicts is not None:
            contrary.said += 1
            contrary.right += kind == "contrary"
            if kind != "contrary":
                contrary.wrong.append((entry, answer.entry.title, str(answer.contradicts.against)))


def _fill(unit: Unit, others: int) -> dict[str, str]:
    act = Act("user", new_id())
    ids: dict[str, str] = {}
    for each in labelled():
        ids[each.key] = _insert(unit, act, each.title, each.content)
    for title, content in _others(others):
        _insert(unit, act, title, content)
    return ids


def _others(count: int) -> Sequence[tuple[str, str]]:
    """Entries as people write them, as far as there are, then texts made of words."""
    words = Words()
    written = [(each.title, each.content) for place, each in enumerate(SUBJECTS) if place not in SAME_MATTER]
    made = [words.text() for _ in range(count - len(written))]
    return [*written, *((text.title, text.content) for text in made)]


def _insert(unit: Unit, act: Act, title: str, content: str) -> str:
    return entries.insert(unit, draft(kind=Kind.PITFALL, title=title, content=content), act).id
