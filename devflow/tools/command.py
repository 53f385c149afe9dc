"""A command to start, how it ended, and the request to end it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum


class How(StrEnum):
    EXITED = "exited"
    TIMED_OUT = "timed_out"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class Command:
    """`program` is absolute, or relative to the folder it runs in. `words[0]` is what the program sees as its name."""

    program: str
    words: tuple[str, ...]
    environ: Mapping[str, str]
    timeout: float


@dataclass(frozen=True, slots=True)
class Ended:
    """`code`: the exit code, negative for a signal, None where it never came to one. `seconds` until the command ended.

    `left`: processes that it left running and that were ended; `stuck`: those that could not be. Not `settled`: nobody
    could say whether anything is left.
    """

    how: How
    code: int | None
    seconds: float
    left: int = 0
    stuck: int = 0
    settled: bool = True


class Stop:
    """A request to end the command, from any thread, heard wherever `carry_out` waits."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._wake: Callable[[], None] | None = None
        self.requested = False

    def request(self) -> None:
        with self._lock:
            self.requested = True
            if self._wake is not None:
                self._wake()

    def attach(self, wake: Callable[[], None] | None) -> None:
        """Call `wake` at a request, at once if it has come already; None before what it wakes is closed."""
        with self._lock:
            self._wake = wake
            if wake is not None and self.requested:
                wake()
