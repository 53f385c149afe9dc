"""One knowledge base of so many pages, in a process of its own: `python -m tests.benchmarks.pages_probe PAGES ROUNDS`.

Prints one JSON object: what the cold scan, a turn, a turn after a change and the index itself cost. Times in seconds,
sizes in MiB.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from devflow.app.paths import app_paths
from devflow.domain.ids import now
from devflow.domain.knowledge_base import KnowledgeBase
from devflow.prompt.pages import PageWords, render_pages
from devflow.prompt.templates import Templates
from devflow.retrieval.pages import rank_pages
from devflow.wiki.page_index import PageIndex

from .page_folders import make_base

QUESTIONS = ("缓存 timeout 的配置怎么设置", "How is the connection pool sharded?", "这些文章总结一下")
Spent = tuple[float, float]
"""Seconds that passed, and seconds of computing."""
_opened: list[str] = []


def main(pages: int, rounds: int) -> dict[str, object]:
    with tempfile.TemporaryDirectory() as folder:
        root = make_base(Path(folder) / "kb", pages)
        files = sorted(map(str, root.glob("wiki/**/*.md")))
        return _probed(root, Path(folder) / "cache", files, rounds)


def _probed(root: Path, cache: Path, files: list[str], rounds: int) -> dict[str, object]:
    words = PageWords(
        KnowledgeBase("kb", "kb", str(root), now()), Templates(app_paths(cache).resources), "zh", Path("/home")
    )
    before = _rss()
    index = PageIndex(root, cache)
    began, computing = time.perf_counter(), time.process_time()
    index.refresh(within=0)
    titles = time.perf_counter() - began
    index.refresh()
    cold, computing = time.perf_counter() - began, time.process_time() - computing
    grown = _rss() - before

    question = QUESTIONS[0]

    def look() -> None:
        index.refresh()

    def turn() -> None:
        index.refresh()
        render_pages(rank_pages(index, question), words, 4_000)

    def change() -> None:
        with Path(files[0]).open("a", encoding="utf-8") as file:
            file.write("\n\nOne more word.")

    render_pages(rank_pages(index, QUESTIONS[1]), words, 4_000)
    time.sleep(0.05)  # so that no page is as young as the tick of the clock
    turn()
    sys.addaudithook(_watch)
    _opened.clear()
    turn()
    opened = len(_opened)
    stats: list[Spent] = []
    looks: list[Spent] = []
    turns: list[Spent] = []
    changed: list[Spent] = []
    for number in range(rounds):  # by turns, so that the machine's moods fall on all alike
        question = QUESTIONS[number % len(QUESTIONS)]
        stats.append(_timed(lambda: [os.stat(file) for file in files]))  # noqa: PTH116 - nothing but the call itself
        looks.append(_timed(look))
        turns.append(_timed(turn))
        change()
        changed.append(_timed(turn))
        time.sleep(0.03)
        look()
    index.close()
    size = sum(file.stat().st_size for file in cache.iterdir()) / 2**20
    text = sum(Path(file).stat().st_size for file in files) / 2**20
    return {
        "titles": titles, "cold": cold, "computing": computing, "grown": grown, "size": size, "text": text,
        "opened": opened, "stat": stats, "look": looks, "turn": turns, "changed": changed,
    }  # fmt: skip


def _timed(work: Callable[[], object]) -> Spent:
    began, computing = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - began, time.process_time() - computing


def _watch(event: str, arguments: tuple[object, ...]) -> None:
    if event == "open" and str(arguments[0]).endswith(".md") and "/prompts/" not in str(arguments[0]):
        _opened.append(str(arguments[0]))


def _rss() -> float:
    """Resident memory, in MiB; 0 where the system does not tell."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS")), 0.0)


if __name__ == "__main__":
    print(json.dumps(main(int(sys.argv[1]), int(sys.argv[2]))))
