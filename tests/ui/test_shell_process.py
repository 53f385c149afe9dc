"""The whole program as a process: it starts, is raised, is ended by a signal, and leaves nothing behind."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import perf_counter

import pytest


@contextmanager
def _started(home: Path) -> Iterator["subprocess.Popen[str]"]:
    """The window's process, once its socket answers."""
    process = _start(home)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate(timeout=10)


def _start(home: Path) -> "subprocess.Popen[str]":
    environ = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    return subprocess.Popen(
        [sys.executable, "-W", "error::RuntimeWarning", "-m", "devflow", "--home", str(home)],
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_window_in_order_within_two_seconds(home: Path, number: signal.Signals) -> None:
    with _started(home) as process:
        _wait_for_window(home, process)
        began = perf_counter()
        process.send_signal(number)
        output, _ = process.communicate(timeout=10)
        assert perf_counter() - began < 2.0
        assert process.returncode == 0
        assert _said(output) == []
    log = (home / "logs" / "devflow.log").read_text(encoding="utf-8")
    assert "ERROR" not in log
    assert "WARNING" not in log


def test_a_second_start_ends_at_once_and_the_first_goes_on(home: Path) -> None:
    with _started(home) as first:
        _wait_for_window(home, first)
        second = _start(home)
        output, _ = second.communicate(timeout=20)
        assert (second.returncode, _said(output)) == (0, [])
        assert first.poll() is None


def test_a_killed_window_does_not_keep_the_next_one_from_starting(home: Path) -> None:
    with _started(home) as first:
        _wait_for_window(home, first)
        first.kill()
        first.wait(timeout=10)
    with _started(home) as second:
        _wait_for_window(home, second)
        assert second.poll() is None


def _said(output: str) -> list[str]:
    """What the program printed; the offscreen platform's own remarks are not its."""
    return [line for line in output.splitlines() if not line.startswith("This plugin does not support")]


def _wait_for_window(home: Path, process: "subprocess.Popen[str]") -> None:
    """Until the log says that this process's window is shown; fails when it ends before."""
    log = home / "logs" / "devflow.log"
    shown = f"window shown by process {process.pid}"
    deadline = perf_counter() + 30
    while perf_counter() < deadline:
        if log.exists() and shown in log.read_text(encoding="utf-8"):
            return
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=0.05)
            raise AssertionError(f"it ended: {process.communicate()[0]}")
    raise AssertionError("the window did not appear")
