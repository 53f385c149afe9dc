"""`python -m tests.benchmarks.retrieval.hybrid --data DIR`: search by keywords and meaning, beside keywords alone.

With the embedded model that is installed (extra `vectors`), through the product's own background work and search. An
embedding takes a core 0.1 to 0.6 s a document, so all sets take hours: `--questions` and `--documents` measure on a
part (all that those questions ask for, and others drawn at random), `--keep` keeps the libraries with their vectors.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

from devflow.app.core import Core, opened
from devflow.app.paths import app_paths
from devflow.knowledge.acts import Actor
from devflow.providers import embedded
from devflow.retrieval.entries import search_entries
from tests.benchmarks.report import machine, percentile

from .library import load
from .quality import DEPTH
from .score import lead, scored
from .sets import CROSS_LINGUAL, SIX, BenchmarkSet, read_set

HEAD = f"{'set':12} {'docs':>5} {'asked':>5}  {'keyword':>7} {'hybrid':>10} {'r@10':>5} {'ndcg':>5} {'p95 ms':>7}  more"
"""Keyword and hybrid: recall@3. The times are of a search after its query's own embedding."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.retrieval.hybrid", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the folder that holds the sets")
    parser.add_argument("--sets", nargs="+", default=[*SIX, *CROSS_LINGUAL])
    parser.add_argument("--questions", type=int, help="so many questions a set, drawn at random")
    parser.add_argument("--documents", type=int, help="so many documents a set, those asked for among them")
    parser.add_argument("--keep", type=Path, help="keep the libraries here, with their vectors")
    options = parser.parse_args()
    if not embedded.installed():
        print(f"No embedded model is installed: {embedded.INSTALL}", file=sys.stderr)
        return 2
    print(f"On {machine()}, with {embedded.installed()[0].name}.\n\n{HEAD}", flush=True)
    with tempfile.TemporaryDirectory() as scratch:
        for name in options.sets:
            data = part_of(read_set(options.data / name), options.questions, options.documents)
            folder = (options.keep or Path(scratch)) / f"{name}-{len(data.documents)}"
            print(asyncio.run(_measure(folder, data)), flush=True)
    return 0


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


async def _measure(folder: Path, data: BenchmarkSet) -> str:
    async with opened(app_paths(folder)) as core:
        ids = await _filled(core, data)
        keyword, hybrid, spent = {}, {}, []
        for question in data.questions:
            found = await core.db.read(lambda session, text=question.text: search_entries(session, text, limit=DEPTH))
            keyword[question.id] = [ids[hit.entry.id] for hit in found]
            await core.embeddings.meaning(question.text)
            started = time.perf_counter()
            both = await core.knowledge.knowledge_search(question.text, limit=DEPTH)
            spent.append(1000 * (time.perf_counter() - started))
            hybrid[question.id] = [ids[hit.entry.id] for hit in both]
    before, after = scored(data, keyword), scored(data, hybrid)
    found = f"{before.recall[3]:7.3f} {after.recall[3]:10.3f} {after.recall[10]:5.3f} {after.ndcg:5.3f}"
    p95 = percentile(spent, 0.95)
    return (
        f"{data.name:12} {len(data.documents):5} {len(data.questions):5}  {found} {p95:7.2f}   "
        f"{_words(data, hybrid, keyword)}"
    )


async def _filled(core: Core, data: BenchmarkSet) -> dict[str, str]:
    """Entry ids to document ids; what stands there already stays, with its vectors."""
    stats = await core.knowledge.knowledge_stats()
    ids = (
        load(core.db, data.documents)
        if not stats.total
        else {str(uuid5(NAMESPACE_URL, each.id)): each.id for each in data.documents}
    )
    fields = {
        "vector_enabled": True,
        "embedding_provider_id": embedded.PROVIDER,
        "embedding_model": embedded.installed()[0].name,
    }
    await core.knowledge.knowledge_change_config(fields, actor=Actor.user())
    await core.embeddings.start()
    await core.embeddings.settled()
    state = await core.embeddings.state()
    if state.progress.ready < state.progress.total:
        raise SystemExit(f"{data.name}: {state.progress} – {state.problem}")
    return ids


def _words(data: BenchmarkSet, hybrid: dict[str, Sequence[str]], keyword: dict[str, Sequence[str]]) -> str:
    more, low, high = lead(data, hybrid, keyword)
    return f"{more:+.3f} ({low:+.3f} … {high:+.3f}){' WORSE' if high < 0 else ''}"


if __name__ == "__main__":
    raise SystemExit(main())
