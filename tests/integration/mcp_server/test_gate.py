"""Nothing unpublished is told below *manage* but one's own, and nothing is published by a tool: random sequences."""

from pathlib import Path

import pytest

from tests.integration.mcp_server.gate import STEPS, run

SEQUENCES = 500


@pytest.mark.parametrize("part", range(5))
async def test_random_sequences_of_calls_at_every_right_with_the_human_at_work(tmp_path: Path, part: int) -> None:
    """Five parts of a hundred, so that a slow machine shows progress. The long form: `gate.py`."""
    sequences = SEQUENCES // 5
    steps, answered, refused = await run(sequences, 100 + part, tmp_path)
    assert steps == sequences * STEPS
    assert answered > steps // 5
    assert refused > steps // 10
