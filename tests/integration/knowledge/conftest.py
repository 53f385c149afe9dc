from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.library import Library, open_library


@pytest.fixture
async def library(home: Path) -> AsyncIterator[Library]:
    async with open_library(home) as opened:
        yield opened
