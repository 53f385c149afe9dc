"""Starts many processes of one kind fast: one process has imported everything and forks; every child is really one.

python -m tests.integration.reliability.killed_nursery            (the forking process: JSON lines in, JSON lines out)
python -m tests.integration.reliability.killed_nursery SPEC_JSON  (one child, where there is no fork)
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import logging
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from sqlalchemy.orm import configure_mappers

from tests.support.commands import ROOT, environment

MODULE = "tests.integration.reliability.killed_nursery"
log = logging.getLogger(__name__)

FORKS = hasattr(os, "fork")
KILLED = -9 if FORKS else 1
"""The code of a process that was killed."""

LONGEST_LIFE_S = 120
"""A window whose parents are gone does not sit there for ever."""

BROKEN = 70
"""The code of one that met an exception."""


class Nursery:
    """`start` gives a child; `wait` its exit code; `kill` ends it without a chance to say goodbye."""

    def __init__(self) -> None:
        self._codes: dict[int, int] = {}
        self._children: dict[int, subprocess.Popen[bytes]] = {}
        self._alive: set[int] = set()
        self._changed = threading.Condition()
        self._started: int | None = None
        self._parent = self._spawn() if FORKS else None

    def start(self, spec: dict[str, Any]) -> int:
        """A child with that specification (`killed_window.live`); returns its pid. `log` in it names its output."""
        if self._parent is None:
            with Path(spec["log"]).open("ab") as log:
                child = subprocess.Popen(
                    [sys.executable, "-m", MODULE, json.dumps(spec)],
                    cwd=ROOT,
                    env=environment(),
                    stdout=log,
                    stderr=log,
                )
            self._children[child.pid] = child
            return child.pid
        assert self._parent.stdin is not None
        self._parent.stdin.write(json.dumps(spec).encode() + b"\n")
        self._parent.stdin.flush()
        with self._changed:
            if not self._changed.wait_for(lambda: self._started is not None, 60):
                raise TimeoutError("no child was started within a minute")
            pid, self._started = self._started, None
        assert pid is not None
        self._alive.add(pid)
        return pid

    def wait(self, pid: int, seconds: float) -> int | None:
        """Its exit code, or None if it still lives after so many seconds."""
        if self._parent is None:
            try:
                return self._children[pid].wait(seconds)
            except subprocess.TimeoutExpired:
                return None
        with self._changed:
            self._changed.wait_for(lambda: pid in self._codes, seconds)
            return self._codes.get(pid)

    def kill(self, pid: int) -> None:
        if self._parent is None:
            self._children[pid].kill()
        elif pid not in self._codes:
            with contextlib.suppress(ProcessLookupError):  # it has just ended by itself
                os.kill(pid, signal.SIGKILL)

    def close(self) -> None:
        for pid in self._alive if self._parent is not None else self._children:
            if self.wait(pid, 0) is None:
                self.kill(pid)
                self.wait(pid, 60)
        if self._parent is not None:
            assert self._parent.stdin is not None
            self._parent.stdin.close()
            self._parent.wait(60)
            self._reader.join(60)
            assert self._parent.stdout is not None
            self._parent.stdout.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _spawn(self) -> subprocess.Popen[bytes]:
        parent = subprocess.Popen(
            [sys.executable, "-m", MODULE],
            cwd=ROOT,
            env=environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._reader = threading.Thread(target=self._read, args=(parent,), daemon=True)
        self._reader.start()
        return parent

    def _read(self, parent: subprocess.Popen[bytes]) -> None:
        assert parent.stdout is not None
        for line in parent.stdout:
            told = json.loads(line)
            with self._changed:
                if "started" in told:
                    self._started = told["started"]
                else:
                    self._codes[told["ended"]] = told["code"]
                    self._alive.discard(told["ended"])
                self._changed.notify_all()


def serve() -> None:
    """Fork a child for each line of standard input; say which started and how each ended."""
    for needed in ("devflow.providers.openai_compat", "devflow.store.schema"):
        importlib.import_module(needed)  # else every child does, when it first needs it
    configure_mappers()
    gc.freeze()
    from tests.integration.reliability import killed_window

    signal.signal(signal.SIGCHLD, lambda *_: _reap())
    for line in sys.stdin:
        if (pid := os.fork()) == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.alarm(LONGEST_LIFE_S)
            os._exit(_child(killed_window.live, json.loads(line)))
        _say({"started": pid})


def _reap() -> None:
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        _say({"ended": pid, "code": os.waitstatus_to_exitcode(status)})


def _child(live: Callable[[dict[str, Any]], int], spec: dict[str, Any]) -> int:
    output = os.open(spec["log"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for descriptor, stream in ((nothing, 0), (output, 1), (output, 2)):
        os.dup2(descriptor, stream)
    try:
        return live(spec)
    except Exception:
        log.exception("this window met a bug")
        return BROKEN
    finally:
        sys.stdout.flush()
        sys.stderr.flush()


def _say(value: dict[str, Any]) -> None:
    os.write(1, json.dumps(value).encode() + b"\n")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        from tests.integration.reliability import killed_window

        raise SystemExit(killed_window.live(json.loads(sys.argv[1])))
    serve()
