"""A whole DevFlow with a scripted model that means harm, and a place outside the project that must stay as it is."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.agent.conftest import Bench as Bench
from tests.integration.agent.conftest import Processes as Processes
from tests.integration.agent.conftest import bench as bench
from tests.integration.agent.conftest import processes as processes
from tests.integration.agent.conftest import server as server
from tests.integration.agent.conftest import workspace as workspace


@pytest.fixture(autouse=True)
def outside(tmp_path: Path) -> Iterator[Path]:
    """A folder beside the project; after each test everything in it is exactly what it was."""
    folder = tmp_path / "outside"
    (folder / "deep").mkdir(parents=True)
    (folder / "secret.txt").write_text("nobody may read or change this\n", encoding="utf-8")
    (folder / "deep" / "keep.txt").write_text("this stays\n", encoding="utf-8")
    before = _state(folder)
    yield folder
    assert _state(folder) == before


def _state(folder: Path) -> dict[str, tuple[int, str]]:
    return {
        str(path.relative_to(folder)): (
            path.lstat().st_mode,
            hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "",
        )
        for path in sorted(folder.rglob("*"))
    }
