"""The floor of injection: how often a message gets the entry it is about, how often another message gets any.

The library is mixed: entries as people write them, about software, among documents of all sets. The messages about the
entries, and those about nothing in the library, were written for this.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

from devflow.retrieval.entries import relevant_entries
from devflow.store.database import Database

from .library import library, load
from .related import SUBJECTS
from .sets import SIX, BenchmarkSet, Document
from .small_talk import UNRELATED

ENTRIES = 1_000
RIGHT_BAR, UNRELATED_BAR = 0.85, 0.05
ASKED = 34
"""Questions of each set, whose documents are in the library too."""


@dataclass(frozen=True, slots=True)
class Mixed:
    """A library's documents, and messages with the ids of those that answer them. `asked`: questions of each set."""

    documents: Sequence[Document]
    related: Sequence[tuple[str, frozenset[str]]]
    unrelated: Sequence[str]
    asked: Mapping[str, Sequence[tuple[str, frozenset[str]]]]

    @property
    def messages(self) -> Iterator[str]:
        yield from self.unrelated
        for message, _ in chain(self.related, *self.asked.values()):
            yield message


def mixed(sets: Mapping[str, BenchmarkSet]) -> Mixed:
    chance = random.Random(5)
    asked = {
        name: chance.sample(data.questions, min(ASKED, len(data.questions))) for name, data in sorted(sets.items())
    }
    asked = {name: asked[name] for name in SIX if name in asked}
    documents = [Document(subject.title, subject.title, subject.content) for subject in SUBJECTS]
    for place, name in enumerate(asked):
        room = (ENTRIES - len(documents)) // (len(asked) - place)
        documents += _some(sets[name], {id for question in asked[name] for id in question.relevant}, room, chance)
    return Mixed(
        documents,
        [(message, frozenset({subject.title})) for subject in SUBJECTS for message in subject.messages],
        UNRELATED,
        {
            name: [(q.text, frozenset(f"{name}:{document}" for document in q.relevant)) for q in questions]
            for name, questions in asked.items()
        },
    )


def measure(sets: Mapping[str, BenchmarkSet]) -> None:
    """Print the shares beside their bars, and what the sets' own questions get, by keywords alone."""
    mixture = mixed(sets)
    with TemporaryDirectory() as home, library(Path(home)) as database:
        ids = load(database, mixture.documents)
        report(mixture, len(ids), {message: _injected(database, ids, message) for message in mixture.messages})


def report(mixture: Mixed, size: int, injected: Mapping[str, Collection[str]]) -> None:
    """`injected`: for each message the ids of the documents it gets."""
    print(f"\ninjection, in a mixed library of {size:,}")
    right = [bool(wanted & set(injected[message])) for message, wanted in mixture.related]
    _report("the right entry for a message about it", right, RIGHT_BAR, at_least=True)
    fired = [bool(injected[message]) for message in mixture.unrelated]
    _report("anything for small talk and other subjects", fired, UNRELATED_BAR, at_least=False)
    for name, questions in mixture.asked.items():
        own = [bool(wanted & set(injected[message])) for message, wanted in questions]
        _report(f"the right document for a question of {name}", own, None, at_least=True)


def _some(data: BenchmarkSet, wanted: set[str], room: int, chance: random.Random) -> list[Document]:
    """Those wanted, then others, as many as there is room for."""
    named = [Document(f"{data.name}:{each.id}", each.title, each.text) for each in data.documents]
    first = [each for each in named if each.id.partition(":")[2] in wanted]
    others = [each for each in named if each.id.partition(":")[2] not in wanted]
    return [*first, *chance.sample(others, min(max(room - len(first), 0), len(others)))]


def _injected(database: Database, ids: Mapping[str, str], message: str) -> list[str]:
    found = database.run_read(lambda session: relevant_entries(session, message, project_id=None))
    return [ids[hit.entry.id] for hit in found]


def _report(what: str, outcomes: Iterable[bool], bar: float | None, *, at_least: bool) -> None:
    all_of_them = list(outcomes)
    share = sum(all_of_them) / len(all_of_them)
    beside = ""
    if bar is not None:
        held = share >= bar if at_least else share <= bar
        beside = f"   bar {'≥' if at_least else '≤'} {bar:.0%}   {'held' if held else 'MISSED'}"
    print(f"  {what:48} {share:6.1%} of {len(all_of_them)}{beside}", flush=True)
