"""The floor of injection: how often a message that the library answers gets its entry, how often another gets any."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from devflow.retrieval.entries import relevant_entries
from devflow.store.database import Database

from .library import library, load
from .sets import SIX, BenchmarkSet
from .small_talk import UNRELATED

ASKED = 100
UNRELATED_BAR = 0.05


def measure(sets: Mapping[str, BenchmarkSet]) -> None:
    """Print both shares: questions asked of everything, and messages and questions whose answer is not there."""
    names = [name for name in SIX if name in sets]
    chosen = {
        name: random.Random(5).sample(sets[name].questions, min(ASKED, len(sets[name].questions))) for name in names
    }

    def related(database: Database, ids: Mapping[str, str]) -> None:
        for name in names:
            right = sum(_right(database, ids, name, q.text, q.relevant) for q in chosen[name])
            print(f"{name:12} its own entry injected {right / len(chosen[name]):6.1%}")
        _report("small talk and other subjects", (_any(database, text) for text in UNRELATED), UNRELATED_BAR)

    _with(sets, names, related)
    for absent in names:
        kept = [name for name in names if name != absent and {name, absent} != {"cmrc2018", "drcd"}]
        _with(
            sets,
            kept,
            lambda database, _, absent=absent: _report(
                f"{absent} asked of the other sets", (_any(database, q.text) for q in chosen[absent]), None
            ),
        )


def _with(
    sets: Mapping[str, BenchmarkSet], names: Sequence[str], act: Callable[[Database, Mapping[str, str]], None]
) -> None:
    with TemporaryDirectory() as home, library(Path(home)) as database:
        ids: dict[str, str] = {}
        for name in names:
            ids |= {id: f"{name}:{document}" for id, document in load(database, sets[name].documents, name).items()}
        act(database, ids)


def _any(database: Database, text: str) -> bool:
    return bool(database.run_read(lambda session: relevant_entries(session, text, project_id=None)))


def _right(database: Database, ids: Mapping[str, str], name: str, text: str, relevant: Iterable[str]) -> bool:
    found = database.run_read(lambda session: relevant_entries(session, text, project_id=None))
    return any(ids[hit.entry.id] == f"{name}:{document}" for hit in found for document in relevant)


def _report(what: str, fired: Iterable[bool], bar: float | None) -> None:
    outcomes = list(fired)
    share = sum(outcomes) / len(outcomes)
    beside = "" if bar is None else f"   bar {bar:.0%}   {'held' if share <= bar else 'MISSED'}"
    print(f"{what:45} something injected {share:6.1%} of {len(outcomes)}{beside}", flush=True)
