"""A model in a process of its own: what becomes of texts when the process breaks, hangs, or is missing."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from devflow.providers import embedded
from devflow.providers.embedded import EmbeddedEmbedder
from devflow.providers.failures import WireFailure

PROGRAM = """
import json, os, struct, sys, time
out = sys.stdout.buffer
def say(value): out.write(json.dumps(value).encode() + b"\\n"); out.flush()
say({"ready": "m", "pid": os.getpid()})
for line in sys.stdin.buffer:
    asked = json.loads(line)
    text = asked["texts"][0]
    if text == "die": os._exit(9)
    if text == "fail": say({"error": "ValueError: no"}); continue
    if text == "nan": numbers = [float("nan"), 1.0]
    elif text == "zero": numbers = [0.0, 0.0]
    elif text == "pid": numbers = [float(os.getpid()), 1.0]
    else: numbers = [float(len(text)), float(asked["query"])]
    say({"count": 1, "dimension": 2})
    out.write(struct.pack("<2f", *numbers)); out.flush()
"""


@asynccontextmanager
async def running(tmp_path: Path, program: str = PROGRAM, idle: float = 60.0) -> AsyncIterator[EmbeddedEmbedder]:
    file = tmp_path / "child.py"
    file.write_text(program, encoding="utf-8")
    embedder = EmbeddedEmbedder("m", command=[sys.executable, str(file)], idle=idle)
    try:
        yield embedder
    finally:
        await embedder.aclose()


async def test_texts_and_queries_get_their_vectors(tmp_path: Path) -> None:
    async with running(tmp_path) as embedder:
        assert await embedder.embed(["a", "bcd"]) == [(1.0, 0.0), (3.0, 0.0)]
        assert await embedder.embed(["问题"], query=True) == [(2.0, 1.0)]
        assert embedder.dimension == 2


async def test_a_text_that_ends_the_process_harms_no_other(tmp_path: Path) -> None:
    async with running(tmp_path) as embedder:
        ((first, _),) = await embedder.embed(["pid"])
        for bad in ("die", "fail", "nan", "zero"):
            with pytest.raises(WireFailure, match="The embedded model m failed"):
                await embedder.embed([bad])
        ((second, _),) = await embedder.embed(["pid"])
        assert first != second


async def test_a_process_that_was_killed_is_started_again(tmp_path: Path) -> None:
    async with running(tmp_path) as embedder:
        ((pid, _),) = await embedder.embed(["pid"])
        os.kill(round(pid), signal.SIGTERM)
        results = await asyncio.gather(embedder.embed(["a"]), return_exceptions=True)
        assert results == [[(1.0, 0.0)]] or isinstance(results[0], WireFailure)
        assert await embedder.embed(["a"]) == [(1.0, 0.0)]


async def test_a_query_goes_before_texts_that_wait(tmp_path: Path) -> None:
    async with running(tmp_path) as embedder:
        done: list[str] = []

        async def ask(name: str, *, query: bool = False) -> None:
            await embedder.embed([name], query=query)
            done.append(name)

        await asyncio.gather(*(ask(f"text {number}") for number in range(40)), ask("query", query=True))
        assert done.index("query") < 10


async def test_a_package_that_cannot_load_says_so(tmp_path: Path) -> None:
    async with running(tmp_path, 'print(\'{"error": "ImportError: no engine"}\')') as embedder:
        with pytest.raises(WireFailure, match="no engine"):
            await embedder.embed(["a"])


async def test_a_process_that_does_not_start_says_so(tmp_path: Path) -> None:
    embedder = EmbeddedEmbedder("m", command=[str(tmp_path / "missing")])
    with pytest.raises(WireFailure, match="No such file"):
        await embedder.embed(["a"])
    await embedder.aclose()


async def test_closing_ends_the_process_and_refuses_what_waits(tmp_path: Path) -> None:
    async with running(tmp_path, "import time; time.sleep(600)") as embedder:
        waiting = [asyncio.create_task(embedder.embed([f"text {number}"])) for number in range(3)]
        await asyncio.sleep(0)
        await asyncio.wait_for(embedder.aclose(), 20)
        results = await asyncio.gather(*waiting, return_exceptions=True)
        assert all(isinstance(result, WireFailure) for result in results)


async def test_a_model_nobody_needs_is_let_go_and_comes_back(tmp_path: Path) -> None:
    async with running(tmp_path, idle=0.05) as embedder:
        ((first, _),) = await embedder.embed(["pid"])
        thread = embedder._thread
        if thread is not None:
            await asyncio.to_thread(thread.join, 20)
        assert embedder._process is None
        ((second, _),) = await embedder.embed(["pid"])
        assert first != second


def test_looking_for_models_loads_none() -> None:
    assert [model.module for model in embedded.MODELS if model.module in sys.modules] == []
    embedded.installed()
    assert [model.module for model in embedded.MODELS if model.module in sys.modules] == []
