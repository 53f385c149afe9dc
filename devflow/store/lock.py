"""Locks of the operating system on files: which processes live, and whose turn it is.

A run names its owner by the id of a lock that is held while its process lives. The system lets go of it however the
process ends, so a killed owner is dead at once and a pid that was given away again fools nobody. What differs between
systems stands here alone.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from devflow.domain.ids import new_id

if sys.platform == "win32":
    import msvcrt

    def _try_lock(descriptor: int) -> bool:
        try:
            os.lseek(descriptor, 0, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _wait_for_lock(descriptor: int) -> None:
        while not _try_lock(descriptor):
            time.sleep(0.02)
else:
    import fcntl

    def _try_lock(descriptor: int) -> bool:
        # flock, not lockf: a POSIX record lock is lost when any descriptor of the file is closed in this process.
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True

    def _wait_for_lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX)


@contextlib.contextmanager
def one_at_a_time(path: Path) -> Iterator[None]:
    """Of all threads and processes that name this file, one at a time is inside. Blocks: call it on a thread.

    The file is made where it is missing, and stays.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        _wait_for_lock(descriptor)
        yield
    finally:
        os.close(descriptor)


class ProcessLock:
    """This process's proof of life. `id` is new for every instance; `close` lets go of it."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.id, self._descriptor = _acquire(directory)

    def is_alive(self, owner: str | None) -> bool:
        """Whether the process that made the id still lives. A dead one's file is removed on the way."""
        if owner is None:
            return False
        if owner == self.id:
            return self._descriptor is not None
        return _is_held(self._directory / f"{owner}.lock")

    def clean(self) -> None:
        """Remove the files of dead processes."""
        for file in self._directory.glob("*.lock"):
            if file.stem != self.id:
                _is_held(file)

    def close(self) -> None:
        if self._descriptor is None:
            return
        os.close(self._descriptor)
        self._descriptor = None
        _remove(self._directory / f"{self.id}.lock")


def left_behind(directory: Path) -> tuple[Path, ...]:
    """The files of processes that ended without taking theirs away. They are let be: `clean_up` removes them."""
    return tuple(file for file in sorted(directory.glob("*.lock")) if not _is_held(file, remove=False))


def clean_up(directory: Path) -> None:
    """Remove the files of dead processes, from a program that has no lock itself."""
    for file in directory.glob("*.lock"):
        _is_held(file)


def _acquire(directory: Path) -> tuple[str, int | None]:
    """Make and lock a file; again with another name if a cleaner took the file between the two."""
    while True:
        id = new_id()
        path = directory / f"{id}.lock"
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        if _try_lock(descriptor) and path.exists():
            return id, descriptor
        os.close(descriptor)
        _remove(path)  # it was only looked at


def _is_held(path: Path, *, remove: bool = True) -> bool:
    try:
        descriptor = os.open(path, os.O_RDWR)
    except FileNotFoundError:
        return False
    try:
        held = not _try_lock(descriptor)
        if remove and not held and sys.platform != "win32":
            _remove(path)  # while the lock is ours: a new process that is just making this file will see it gone
    finally:
        os.close(descriptor)
    if remove and not held and sys.platform == "win32":
        _remove(path)  # an open file cannot be removed there, nor can one that its process still has open
    return held


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink()
