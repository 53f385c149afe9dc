"""A process of its own between DevFlow and a command: it starts it, and it ends all that the command began.

Run by its path with `python -I -S`, so that it is up within 20 ms; standard library only, POSIX only. Arguments: the
descriptor for reports, the descriptor of the folder, the program, its words. On standard input one byte asks it to end
the command (`t`: its time is over, `s`: stopped), and the end of the input does too: that is how a killed DevFlow takes
its commands along, on every POSIX system. Standard output is the command's.

Reports are lines: `pid N` (the command's process and group), `failed ERRNO` (it cannot be started), `exit CODE` (as
`waitpid` tells, a signal is negative), `ended N` (processes that were left and were ended), `stuck N` (that could not
be ended).

On Linux it adopts orphans (`PR_SET_CHILD_SUBREAPER`): whatever a command starts, in whatever session, with whatever
double fork, stays below this process and is found in `/proc`. Elsewhere only the command's group is ended.
"""

from __future__ import annotations

import contextlib
import errno
import os
import select
import signal
import sys
import time

GRACE_S = {"t": 2.0, "s": 0.5}
"""From TERM to KILL, by what asked for the end."""
LINGER_S = 0.25
"""What the command left behind may end by itself within so many seconds."""
KILL_S = 3.0
"""For so long KILL is repeated; what is alive then cannot be ended."""
_TICK_S = 0.01
_SUBREAPER = 36


def main(report: int, folder: int, program: str, words: list[str]) -> None:
    os.set_inheritable(report, False)
    adopts = _adopt_orphans()
    wake, poke = os.pipe()
    os.set_blocking(poke, False)
    signal.set_wakeup_fd(poke, warn_on_full_buffer=False)
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, _noted)
    pid = os.fork()
    if pid == 0:
        _become(report, folder, program, words)
    os.close(folder)
    _say(report, f"pid {pid}")
    with open(os.devnull, "wb") as nothing:  # noqa: PTH123 - pathlib would double the start-up time
        # Nobody must wait for output that only this process could still write.
        os.dup2(nothing.fileno(), 1)
        os.dup2(nothing.fileno(), 2)
    _Keeper(report, wake, pid, adopts=adopts).keep()


class _Keeper:
    def __init__(self, report: int, wake: int, pid: int, *, adopts: bool) -> None:
        self._report = report
        self._wake = wake
        self._pid = pid
        self._adopts = adopts
        self._exited = False
        self._childless = False

    def keep(self) -> None:
        """Wait for the command, or for the word to end it; then leave nothing behind."""
        asked = ""
        while not self._exited and not asked:
            asked = self._listen(None)
            self._reap()
        left = 0
        if self._exited and not asked:
            self._wait_until_gone(LINGER_S)
            left = len(self._alive())
        self._wait_until_gone(GRACE_S.get(asked, GRACE_S["s"]), term=True)
        stuck = self._kill()
        self._reap()
        _say(self._report, f"ended {left}")
        if stuck:
            _say(self._report, f"stuck {stuck}")

    def _listen(self, seconds: float | None) -> str:
        """What was asked for (`t`, `s`), `s` at the end of the input and on TERM, or nothing."""
        ready, _, _ = select.select([0, self._wake], [], [], seconds)
        if self._wake in ready and any(number != signal.SIGCHLD for number in os.read(self._wake, 4096)):
            return "s"
        if 0 in ready:
            return os.read(0, 1).decode("ascii", "replace") or "s"
        return ""

    def _wait_until_gone(self, seconds: float, *, term: bool = False) -> None:
        """`term`: ask each to end, once; also those that were begun while the others were being asked."""
        until = time.monotonic() + seconds
        asked: set[int] = set()
        while (alive := self._alive()) and (rest := until - time.monotonic()) > 0:
            if term:
                self._signal(signal.SIGTERM, [pid for pid in alive if pid not in asked])
                asked.update(alive)
            select.select([self._wake], [], [], min(rest, _TICK_S))
            self._reap()

    def _kill(self) -> int:
        """Until nothing is left that could start another; how many could not be ended."""
        until = time.monotonic() + KILL_S
        while (alive := self._alive()) or self._has_children():
            if time.monotonic() >= until:
                return max(1, len(alive))
            self._signal(signal.SIGKILL, self._stop(alive, until))
            select.select([self._wake], [], [], _TICK_S)
            self._reap()
        return 0

    def _stop(self, alive: list[int], until: float) -> list[int]:
        """Stop them all first: one killed after the other, a tree that forks as fast as it dies would outrun this."""
        stopped: set[int] = set()
        while (fresh := [pid for pid in alive if pid not in stopped]) and time.monotonic() < until:
            self._signal(signal.SIGSTOP, fresh)
            stopped.update(fresh)
            alive = self._alive()
        return list(stopped)

    def _has_children(self) -> bool:
        """Where orphans are adopted, whatever lives below has a child of this process above it, or is one.

        `/proc` is read while it changes: one that forks and ends, forks and ends, may be missed there, but not here.
        """
        self._reap()
        return self._adopts and not self._childless

    def _alive(self) -> list[int]:
        if self._adopts:
            return _descendants()
        try:
            os.killpg(self._pid, 0)
        except ProcessLookupError:
            return []
        except PermissionError:
            pass
        return [self._pid]

    def _signal(self, number: int, pids: list[int]) -> None:
        for pid in pids:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                (os.kill if self._adopts else os.killpg)(pid, number)

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                self._childless = True
                return
            if pid == 0:
                return
            if pid == self._pid:
                self._exited = True
                _say(self._report, f"exit {os.waitstatus_to_exitcode(status)}")


def _become(report: int, folder: int, program: str, words: list[str]) -> None:
    """The child's part: a session and group of its own, in its folder, without input. Does not return."""
    try:
        os.setsid()
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE):
            signal.signal(number, signal.SIG_DFL)
        os.fchdir(folder)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.set_inheritable(folder, False)
        os.execv(program, words)  # noqa: S606 - what the user decided
    except OSError as error:
        _say(report, f"failed {error.errno or errno.EIO}")
    finally:
        os._exit(127)


def _descendants() -> list[int]:
    """Every process below this one that is not over yet, by the parents that `/proc` names."""
    children: dict[int, list[int]] = {}
    over: set[int] = set()
    for name in os.listdir("/proc"):  # noqa: PTH208 - the same
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123 - pathlib would double the start-up time
                state, parent = file.read().rpartition(b")")[2].split()[:2]
        except (OSError, ValueError):
            continue
        children.setdefault(int(parent), []).append(int(name))
        if state in b"ZX":
            over.add(int(name))
    found: list[int] = []
    ahead = [os.getpid()]
    while ahead:
        below = children.get(ahead.pop(), [])
        ahead += below
        found += below
    return [pid for pid in found if pid not in over]


def _adopt_orphans() -> bool:
    if sys.platform != "linux" or not os.access("/proc/self/stat", os.R_OK):
        return False
    try:
        import ctypes

        return bool(ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0) == 0)
    except (ImportError, OSError, AttributeError):
        return False


def _noted(number: int, frame: object) -> None:
    """The byte in the wake-up pipe is what counts."""


def _say(report: int, line: str) -> None:
    with contextlib.suppress(OSError):
        os.write(report, f"{line}\n".encode("ascii"))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4:])
