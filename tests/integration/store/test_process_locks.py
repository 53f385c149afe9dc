"""Which processes live, as the locks in the data directory tell."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from devflow.store.lock import ProcessLock

HOLDER = """
import sys
from pathlib import Path
from devflow.store.lock import ProcessLock
lock = ProcessLock(Path(sys.argv[1]))
print(lock.id, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def other(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Another process that holds a lock in the same folder, and the lock's id."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    yield process, process.stdout.readline().strip()
    process.kill()
    process.communicate()


def test_a_process_is_alive_to_itself_and_dead_once_closed(tmp_path: Path) -> None:
    lock, watcher = ProcessLock(tmp_path), ProcessLock(tmp_path)
    assert lock.is_alive(lock.id)
    assert watcher.is_alive(lock.id)
    lock.close()
    assert not watcher.is_alive(lock.id)
    assert not lock.is_alive(lock.id)
    lock.close()
    watcher.close()


def test_nobody_and_the_unknown_are_dead(tmp_path: Path) -> None:
    lock = ProcessLock(tmp_path)
    assert not lock.is_alive(None)
    assert not lock.is_alive("00000000-0000-0000-0000-000000000000")
    lock.close()


def test_another_process_is_alive_until_it_is_killed(tmp_path: Path, other: tuple[subprocess.Popen[str], str]) -> None:
    process, id = other
    lock = ProcessLock(tmp_path)
    assert lock.is_alive(id)
    assert lock.is_alive(id), "asking does not end it"
    process.kill()
    process.wait()
    assert not lock.is_alive(id)
    lock.close()


def test_cleaning_removes_the_files_of_the_dead_and_of_nobody_else(
    tmp_path: Path, other: tuple[subprocess.Popen[str], str]
) -> None:
    _, id = other
    (tmp_path / "dead.lock").touch()
    lock = ProcessLock(tmp_path)
    lock.clean()
    assert {file.stem for file in tmp_path.glob("*.lock")} == {id, lock.id}
    lock.close()


def test_lock_files_are_for_their_owner_alone(tmp_path: Path) -> None:
    lock = ProcessLock(tmp_path)
    if sys.platform != "win32":
        assert (tmp_path / f"{lock.id}.lock").stat().st_mode & 0o077 == 0
    lock.close()
