"""A command as a process: started without a terminal, followed, and ended with all that it started.

`run_process` may be awaited on any event loop (qasync's included: no child watcher, no subprocess transport). A thread
of its own does what blocks; the loop only hears that there is more to show, and how it ended. What differs between
systems stands in `process_posix` and `process_windows`: `carry_out(command, folder, take, stop)`, which blocks.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
import threading
import time
from collections.abc import Callable

from devflow.tools.command import Command, Ended, Stop
from devflow.tools.confined import Folder
from devflow.tools.process_output import Output

if sys.platform == "win32":
    from devflow.tools.process_windows import carry_out, shell_words
else:
    from devflow.tools.process_posix import carry_out, shell_words

__all__ = ["ProcessStopped", "run_process", "shell_words"]

SHOWN_EVERY_S = 0.1
"""Live output is told at most so often."""


class ProcessStopped(asyncio.CancelledError):
    """The task was cancelled; by now the command is ended, as `ended` says."""

    def __init__(self, ended: Ended, output: str) -> None:
        super().__init__()
        self.ended = ended
        self.output = output


async def run_process(
    command: Command,
    folder: Callable[[], contextlib.AbstractContextManager[Folder]],
    show: Callable[[str], None] | None,
) -> tuple[Ended, str]:
    """Run it to its end and return what it printed, its middle left out if it is long.

    `folder` opens the folder to run in, on the thread; `show` gets the newest output while it runs, on the loop.
    Raises what `folder` raises, and OSError where the system cannot start the program. Cancelled, it ends the command
    first and then raises `ProcessStopped`.
    """
    stop = Stop()
    live = _Live(show)
    done: asyncio.Future[Ended] = asyncio.get_running_loop().create_future()

    def work() -> None:
        try:
            with folder() as opened:
                ended = carry_out(command, opened, live.take, stop)
        except BaseException as error:  # noqa: BLE001  # it is raised where it is awaited
            _tell(done, None, error)
        else:
            _tell(done, ended, None)

    # A daemon: where the loop is gone, nobody may have to wait for it. The command ends with the process then.
    threading.Thread(target=work, name="command", daemon=True).start()
    try:
        ended = await asyncio.shield(done)
    except asyncio.CancelledError:
        stop.request()
        await asyncio.wait({done})
        if done.exception() is not None:
            raise
        raise ProcessStopped(done.result(), live.close()) from None
    return ended, live.close()


def _tell(done: asyncio.Future[Ended], ended: Ended | None, error: BaseException | None) -> None:
    def settle() -> None:
        if done.cancelled():
            return
        if error is not None:
            done.set_exception(error)
        else:
            assert ended is not None
            done.set_result(ended)

    with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
        done.get_loop().call_soon_threadsafe(settle)


class _Live:
    """The output so far: filled on the thread, shown on the loop."""

    def __init__(self, show: Callable[[str], None] | None) -> None:
        self._show = show
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._output = Output()
        self._pending = False
        self._shown_at = -SHOWN_EVERY_S
        self._closed = False

    def take(self, data: bytes) -> None:
        """More output (on the thread)."""
        with self._lock:
            self._output.add(data)
            if self._pending or self._show is None:
                return
            self._pending = True
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._plan)

    def close(self) -> str:
        """All of it; nothing is shown any more."""
        self._closed = True
        with self._lock:
            return self._output.text()

    def _plan(self) -> None:
        self._loop.call_later(max(0.0, self._shown_at + SHOWN_EVERY_S - time.monotonic()), self._emit)

    def _emit(self) -> None:
        with self._lock:
            self._pending = False
            text = self._output.newest()
        if not self._closed and self._show is not None:
            self._shown_at = time.monotonic()
            self._show(text)
