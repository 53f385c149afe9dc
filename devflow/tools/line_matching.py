"""Lines that an expression matches, found by a program that can be ended (`line_matcher`)."""

from __future__ import annotations

import contextlib
import json
import os
import struct
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from devflow.tools.line_matcher import receive
from devflow.tools.refusal import ToolRefused
from devflow.tools.search_budget import SearchBudget

FILE_SECONDS = 5.0  # for one file


@dataclass(frozen=True, slots=True)
class MatchedLine:
    """A line's number from 1, and where its first match begins and ends."""

    number: int
    start: int
    end: int


class TookTooLong(Exception):
    """The expression did not come to an end in its time."""


class LineMatcher:
    """A context: the program runs inside it. Raises `ToolRefused` for a pattern that is none."""

    def __init__(self, pattern: str, *, ignore_case: bool, most: int, budget: SearchBudget) -> None:
        self._asked = {"pattern": pattern, "ignore_case": ignore_case, "most": most}
        self._budget = budget
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        flags = getattr(subprocess, "CREATE_NO_WINDOW", 0)
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(Path(__file__).with_name("line_matcher.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(),
            creationflags=flags,
        )
        self._budget.watch(self._process)
        try:
            answer = self._ask(json.dumps(self._asked).encode())
        except BaseException:
            self.__exit__(None, None, None)
            raise
        if "error" in answer:
            self.__exit__(None, None, None)
            raise ToolRefused(f"The regular expression is none: {answer['error']}. Set regex to false to find text.")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        process.wait()
        self._budget.forget(process)

    def lines(self, text: str) -> tuple[list[MatchedLine], bool]:
        """The lines that match, at most so many, and whether there are more; raises `TookTooLong`."""
        answer = self._ask(text.encode("utf-8", "surrogatepass"))
        return [MatchedLine(*line) for line in answer["lines"]], bool(answer["more"])

    def _ask(self, data: bytes) -> dict[str, Any]:
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            raise TookTooLong
        watchdog = threading.Timer(min(FILE_SECONDS, self._budget.left), process.kill)
        watchdog.daemon = True
        watchdog.start()
        try:
            process.stdin.write(struct.pack(">Q", len(data)) + data)
            process.stdin.flush()
            answer = receive(process.stdout)
        except OSError:
            answer = None
        finally:
            watchdog.cancel()
        if answer is None:
            raise TookTooLong
        value = json.loads(answer)
        return value if isinstance(value, dict) else {}


def _environment() -> dict[str, str]:
    """Nothing of ours but what Windows needs to start a program at all."""
    return {name: value for name in ("SYSTEMROOT",) if (value := os.environ.get(name))}
