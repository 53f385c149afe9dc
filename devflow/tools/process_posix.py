"""Commands on POSIX systems: through `process_keeper`, which ends whatever they start (also when DevFlow is killed)."""

from __future__ import annotations

import contextlib
import logging
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from devflow.tools import process_keeper
from devflow.tools.command import Command, Ended, How, Stop
from devflow.tools.confined import Folder

log = logging.getLogger(__name__)

SHELL = ("/bin/sh", "-c")
_KEEPER = str(Path(process_keeper.__file__).resolve())
_CHUNK = 65_536
_FREE_BYTES = 16 * 1024 * 1024
_PAUSE_S = 0.005
"""Past so many bytes, output is taken in with pauses: its writer waits, and endless output costs little."""
_GIVE_UP_S = 8.0
"""The keeper has ended everything, or said what it cannot end, long before."""
_LOOK_S = 0.5
"""So often the keeper is looked at: the command may have stopped it."""


def shell_words(line: str) -> tuple[str, ...]:
    """The words that give the line to the system's shell."""
    return (*SHELL, line)


def carry_out(command: Command, folder: Folder, take: Callable[[bytes], None], stop: Stop) -> Ended:
    """Run the command to its end; `take` gets its output. Blocks. Raises OSError where it cannot be started."""
    assert folder.descriptor is not None
    started = time.monotonic()
    with contextlib.ExitStack() as closing:
        output, their_output = _pipe(closing)
        reports, their_reports = _pipe(closing)
        woken, poke = _pipe(closing)
        os.set_blocking(poke.fileno(), False)
        keeper = subprocess.Popen(  # the words are the user's decision
            [
                *(sys.executable, "-I", "-S", _KEEPER, str(their_reports.fileno()), str(folder.descriptor)),
                *(command.program, *command.words),
            ],
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=their_output.fileno(),
            stderr=their_output.fileno(),
            env=dict(command.environ),
            cwd="/",
            pass_fds=(their_reports.fileno(), folder.descriptor),
            start_new_session=True,
        )
        their_output.close()
        their_reports.close()
        stop.attach(lambda: _poke(poke.fileno()))
        closing.callback(stop.attach, None)
        followed = _Followed(keeper, take)
        try:
            followed.follow(output.fileno(), reports.fileno(), woken.fileno(), started + command.timeout)
        finally:
            followed.let_go()
    if followed.failed:
        raise OSError(followed.failed, os.strerror(followed.failed), command.program)
    ended_at = followed.exited_at or time.monotonic()
    how = followed.asked or How.EXITED
    return Ended(how, followed.code, ended_at - started, followed.left, followed.stuck, followed.settled)


class _Followed:
    """What the keeper has reported so far."""

    def __init__(self, keeper: subprocess.Popen[bytes], take: Callable[[bytes], None]) -> None:
        self._keeper = keeper
        self._take = take
        self._taken = 0
        self._reports = b""
        self._pid = 0
        self.settled = False
        self.asked: How | None = None
        self.exited_at: float | None = None
        self.code: int | None = None
        self.failed = 0
        self.left = 0
        self.stuck = 0

    def follow(self, output: int, reports: int, woken: int, deadline: float) -> None:
        """Until the keeper is gone, with it everything that could still print."""
        poller = select.poll()
        for descriptor in (output, reports, woken):
            poller.register(descriptor, select.POLLIN)
        give_up = float("inf")
        reporting = True
        while reporting and (now := time.monotonic()) < give_up:
            if self.asked or self.exited_at is not None:
                deadline = float("inf")
                give_up = min(give_up, now + _GIVE_UP_S)
            elif now >= deadline:
                self._ask(How.TIMED_OUT)
                continue
            rest = min(deadline - now, give_up - now, _LOOK_S)
            for descriptor, _ in poller.poll(max(1, int(rest * 1000))):
                if descriptor == output:
                    if not self._take_from(output):
                        poller.unregister(output)
                elif descriptor == reports:
                    reporting = self._hear(reports)
                else:
                    os.read(woken, _CHUNK)
                    self._ask(How.STOPPED)
            self._wake_keeper()
        os.set_blocking(output, False)
        with contextlib.suppress(BlockingIOError):
            for _ in range(16):
                if not self._take_from(output):
                    break

    def let_go(self) -> None:
        """Reap the keeper. One that was killed, or that hangs, left its command's group to us."""
        if not self.settled:
            self._keeper.kill()
            self._kill_group()
        assert self._keeper.stdin is not None
        self._keeper.stdin.close()
        self._keeper.wait()

    def _wake_keeper(self) -> None:
        """A command of the same user can stop its keeper, which then could not end it."""
        if not hasattr(os, "waitid"):  # macOS before Python 3.13
            return
        with contextlib.suppress(ChildProcessError, ProcessLookupError):
            # Other than `waitpid` this leaves a keeper that is over to be reaped by `wait`.
            if os.waitid(os.P_PID, self._keeper.pid, os.WSTOPPED | os.WNOHANG) is not None:
                os.kill(self._keeper.pid, signal.SIGCONT)

    def _take_from(self, output: int) -> bool:
        data = os.read(output, _CHUNK)
        self._take(data)
        self._taken += len(data)
        if self._taken > _FREE_BYTES:
            time.sleep(_PAUSE_S)
        return bool(data)

    def _ask(self, why: How) -> None:
        if self.asked or self.exited_at is not None:
            return
        self.asked = why
        assert self._keeper.stdin is not None
        with contextlib.suppress(OSError):
            self._keeper.stdin.write(b"t" if why is How.TIMED_OUT else b"s")

    def _hear(self, reports: int) -> bool:
        data = os.read(reports, _CHUNK)
        *lines, self._reports = (self._reports + data).split(b"\n")
        for line in lines:
            word, _, number = line.decode("ascii").partition(" ")
            match word:
                case "pid":
                    self._pid = int(number)
                case "failed":
                    self.failed = int(number)
                case "exit":
                    self.code, self.exited_at = int(number), time.monotonic()
                case "ended":
                    self.left, self.settled = int(number), True
                case "stuck":
                    self.stuck = int(number)
                case _:
                    log.warning("the keeper of a command said %r", line)
        return bool(data)

    def _kill_group(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if self._pid and os.getsid(self._pid) == self._pid:  # still the session that the keeper made
                os.killpg(self._pid, signal.SIGKILL)


def _pipe(closing: contextlib.ExitStack) -> tuple[_End, _End]:
    reading, writing = os.pipe()
    return closing.enter_context(_End(reading)), closing.enter_context(_End(writing))


class _End:
    """One end of a pipe; closed once."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def __enter__(self) -> _End:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def fileno(self) -> int:
        return self._descriptor

    def close(self) -> None:
        if self._descriptor >= 0:
            descriptor, self._descriptor = self._descriptor, -1
            os.close(descriptor)


def _poke(descriptor: int) -> None:
    with contextlib.suppress(BlockingIOError):
        os.write(descriptor, b"s")
