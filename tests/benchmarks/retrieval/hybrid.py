"""`python -m tests.benchmarks.retrieval.hybrid --data DIR --keep DIR`: search by keywords and meaning, and by either.

With the embedded model that is installed (extra `vectors`), through the product's own background work and search. An
embedding takes a core 0.1 to 0.6 s a document, so all sets take hours the first time. `--keep` keeps the libraries and,
apart, the vectors: a run that was interrupted goes on, another reuses them, and a library of an older version can be
thrown away without them. `--questions` and `--documents` measure on a part (all that those questions ask for, and
others drawn at random).
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

from devflow.app.core import Core, opened
from devflow.app.paths import app_paths
from devflow.knowledge.acts import Actor
from devflow.models.registry import BUILTIN
from devflow.providers import embedded
from devflow.retrieval.entries import search_entries
from devflow.retrieval.hybrid import relevant_by_meaning
from devflow.retrieval.meaning import Meaning
from devflow.store import entries, search_fill
from tests.benchmarks.report import machine, percentile

from . import floor
from .kept import KeptVectors
from .library import load
from .quality import DEPTH
from .score import DEPTHS, Ranked, Scores, lead, scored
from .sets import CROSS_LINGUAL, SIX, BenchmarkSet, read_set

HEAD = (
    f"{'set':12} {'docs':>5} {'asked':>5}  {'system':8} "
    + " ".join(f"{f'r@{depth}':>5}" for depth in DEPTHS)
    + ("   mrr  ndcg  p95 ms  recall@3 against keyword")
)
"""The times are of a search after its query's own embedding."""
SYSTEMS = ("keyword", "vectors", "hybrid")
MEAN_BAR, CROSS_LINGUAL_BAR = 0.8, 0.78


@dataclass(frozen=True, slots=True)
class Outcome:
    """What each system found, and how often; `worse`: hybrid is significantly below keyword."""

    scores: Mapping[str, Scores]
    lines: Sequence[str]
    worse: bool


def main() -> int:
    options = _options()
    if not embedded.installed():
        print(f"No embedded model is installed: {embedded.INSTALL}", file=sys.stderr)
        return 2
    print(f"On {machine()}, with {embedded.installed()[0].name}.\n\n{HEAD}", flush=True)
    outcomes: dict[str, Outcome] = {}
    with tempfile.TemporaryDirectory() as scratch:
        keep = options.keep or Path(scratch)
        keep.mkdir(parents=True, exist_ok=True)
        kept = KeptVectors(keep / "vectors.db", f"{BUILTIN}/{embedded.installed()[0].name}")
        for name in options.sets:
            data = part_of(read_set(options.data / name), options.questions, options.documents)
            outcomes[name] = asyncio.run(_measure(keep / f"{name}-{len(data.documents)}", data, kept))
            print("\n".join(outcomes[name].lines), flush=True)
        _beside_bars(outcomes)
        if options.floor:
            asyncio.run(_floor(keep, options.data, kept))
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.retrieval.hybrid", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the folder that holds the sets")
    parser.add_argument("--sets", nargs="+", default=[*SIX, *CROSS_LINGUAL])
    parser.add_argument("--questions", type=int, help="so many questions a set, drawn at random")
    parser.add_argument("--documents", type=int, help="so many documents a set, those asked for among them")
    parser.add_argument("--keep", type=Path, help="keep the libraries and their vectors here")
    parser.add_argument("--floor", action="store_true", help="also measure the floor of injection")
    return parser.parse_args()


def part_of(data: BenchmarkSet, questions: int | None, documents: int | None) -> BenchmarkSet:
    chance = random.Random(7)
    asked = (
        data.questions
        if questions is None
        else tuple(chance.sample(data.questions, min(questions, len(data.questions))))
    )
    wanted = frozenset().union(*(question.relevant for question in asked))
    rest = [document for document in data.documents if document.id not in wanted]
    more = len(rest) if documents is None else min(len(rest), max(documents - len(wanted), 0))
    kept = wanted | {document.id for document in chance.sample(rest, more)}
    return replace(data, documents=tuple(each for each in data.documents if each.id in kept), questions=asked)


async def _measure(folder: Path, data: BenchmarkSet, kept: KeptVectors) -> Outcome:
    runs: dict[str, dict[str, list[str]]] = {system: {} for system in SYSTEMS}
    spent: list[float] = []
    async with opened(app_paths(folder)) as core:
        ids = await _filled(core, data, kept)
        for question in data.questions:
            text = question.text
            words = await core.db.read(lambda session, text=text: search_entries(session, text, limit=DEPTH))
            runs["keyword"][question.id] = [ids[hit.entry.id] for hit in words]
            meaning = await core.embeddings.meaning(text)
            if meaning is None:
                raise SystemExit(f"{data.name}: {core.embeddings.unheard}")
            runs["vectors"][question.id] = [ids[id] for id in await _nearest(core, meaning)]
            started = time.perf_counter()
            both = await core.knowledge.knowledge_search(text, limit=DEPTH)
            spent.append(1000 * (time.perf_counter() - started))
            runs["hybrid"][question.id] = [ids[hit.entry.id] for hit in both]
    return _outcome(data, runs, percentile(spent, 0.95))


async def _floor(keep: Path, data: Path, kept: KeptVectors) -> None:
    """What is put into prompts by words and meaning, in a mixed library."""
    mixture = floor.mixed({name: read_set(data / name) for name in (*SIX, *CROSS_LINGUAL)})
    injected: dict[str, list[str]] = {}
    async with opened(app_paths(keep / f"mixed-{len(mixture.documents)}")) as core:
        ids = await _filled(core, BenchmarkSet("mixed", tuple(mixture.documents), ()), kept)
        size = (await core.knowledge.knowledge_stats()).total
        for message in mixture.messages:
            meaning = await core.embeddings.meaning(message)
            if meaning is None:
                raise SystemExit(f"injection: {core.embeddings.unheard}")
            asked = partial(relevant_by_meaning, message=message, meaning=meaning, project_id=None)
            injected[message] = [ids[hit.entry.id] for hit in await core.db.read(asked)]
    floor.report(mixture, size, injected)


async def _filled(core: Core, data: BenchmarkSet, kept: KeptVectors) -> dict[str, str]:
    """Entry ids to document ids; what stands there already stays, with its vectors."""
    ids = {str(uuid5(NAMESPACE_URL, each.id)): each.id for each in data.documents}
    stand = {entry.id for entry in await core.db.read(lambda session: entries.get_many(session, ids))}
    load(core.db, [each for each in data.documents if str(uuid5(NAMESPACE_URL, each.id)) not in stand])
    while not (await core.db.write(lambda unit: search_fill.fill(unit, most=200))).is_full:
        pass
    fields = {
        "vector_enabled": True,
        "embedding_provider_id": embedded.PROVIDER,
        "embedding_model": embedded.installed()[0].name,
    }
    await core.knowledge.knowledge_change_config(fields, actor=Actor.user())
    kept.give(core.db)
    await core.embeddings.start()
    await core.embeddings.settled()
    state = await core.embeddings.state()
    if state.progress.ready < state.progress.total:
        raise SystemExit(f"{data.name}: {state.progress} – {state.problem}")
    kept.take(core.db)
    return ids


async def _nearest(core: Core, meaning: Meaning) -> list[str]:
    """Ids of the entries that are nearest, however far."""
    found = await core.db.read(lambda session: meaning.index.nearest(session, meaning.asked, DEPTH, float("-inf")))
    return [near.entry_id for near in found]


def _outcome(data: BenchmarkSet, runs: Mapping[str, Ranked], p95: float) -> Outcome:
    scores = {system: scored(data, runs[system]) for system in SYSTEMS}
    lines = []
    for system in SYSTEMS:
        of = scores[system]
        numbers = " ".join(f"{of.recall[depth]:.3f}" for depth in DEPTHS) + f" {of.mrr:.3f} {of.ndcg:.3f}"
        more, low, high = lead(data, runs[system], runs["keyword"])
        compared = "" if system == "keyword" else f"  {more:+.3f} (95 % {low:+.3f} … {high:+.3f})"
        beside = f"{p95:7.2f}" if system == "hybrid" else " " * 7
        name = f"{data.name:12} {len(data.documents):5} {len(data.questions):5}  {system:8}"
        lines.append(f"{name} {numbers} {beside}{compared}".rstrip())
    worse = lead(data, runs["hybrid"], runs["keyword"])[2] < 0
    return Outcome(scores, lines, worse)


def _beside_bars(outcomes: Mapping[str, Outcome]) -> None:
    """The bars are for other questions of the same sets (spec 04)."""
    print()
    if all(name in outcomes for name in SIX):
        for system in SYSTEMS:
            mean = sum(outcomes[name].scores[system].recall[3] for name in SIX) / len(SIX)
            print(f"mean recall@3 of the six, {system:8} {mean:.3f}" + _held(system, mean, MEAN_BAR))
    for name in CROSS_LINGUAL:
        if name in outcomes:
            found = outcomes[name].scores["hybrid"].recall[3]
            print(f"{name} recall@3, hybrid {found:.3f}" + _held("hybrid", found, CROSS_LINGUAL_BAR))
    worse = [name for name, outcome in outcomes.items() if outcome.worse]
    print(f"sets significantly below their own keyword run: {', '.join(worse) or 'none'}")


def _held(system: str, value: float, bar: float) -> str:
    if system != "hybrid":
        return ""
    return f"   bar {bar:.3f} (on other questions)   {'held' if value >= bar else 'MISSED'} on these"


if __name__ == "__main__":
    raise SystemExit(main())
