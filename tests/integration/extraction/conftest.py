from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.integration.extraction.bench import Bench


@pytest.fixture
async def bench(home: Path) -> AsyncIterator[Bench]:
    """A started extraction over an own database, with a scripted model and a clock that stands still."""
    bench = Bench(home)
    await bench.start()
    yield bench
    await bench.close()
