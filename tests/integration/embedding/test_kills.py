"""A process that is killed while it makes vectors: the next one makes what is missing, and nothing twice."""

from __future__ import annotations

import asyncio
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from devflow.knowledge.embedding_state import Phase
from tests.fakes.embedding_server import EmbeddingServer
from tests.integration.embedding.conftest import PATIENCE, Benches

ENTRIES = 20
ROOT = Path(__file__).resolve().parents[3]


async def test_a_process_killed_between_two_batches_loses_and_doubles_nothing(
    benches: Benches, server: EmbeddingServer, home: Path
) -> None:
    async with AsyncExitStack() as stack:
        bench = await benches.open(stack, background=False)
        for number in range(ENTRIES):
            await bench.publish(f"Take the write lock {number}", f"BEGIN IMMEDIATE takes it {number}.")
        await bench.switch_on()

    def hold_what_follows(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        if len(rows) == 8:
            server.hold = asyncio.Event()
        return rows

    server.misbehave = hold_what_follows
    command = [sys.executable, "-m", "tests.integration.embedding.killed_embedder", str(home)]
    process = await asyncio.create_subprocess_exec(*command, cwd=ROOT)
    try:
        await asyncio.wait_for(server.held.wait(), 3 * PATIENCE)
    finally:
        process.kill()
        await process.wait()
    server.hold, server.misbehave = None, lambda rows: rows
    asked = len(server.every_text)
    async with AsyncExitStack() as stack:
        bench = await benches.open(stack)
        await bench.embeddings.settled()
        state = await bench.state()
        assert (state.phase, state.progress.ready) == (Phase.READY, ENTRIES)
        assert bench.vectors() == ENTRIES
        assert len(server.every_text) - asked == ENTRIES - 8  # the first batch was stored, the scale too
