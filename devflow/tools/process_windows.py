"""Commands on Windows: in a job object, which ends with DevFlow and takes every process in it along.

A process is started suspended and put into its job before its first instruction, so that nothing it starts is outside.
There is no TERM for programs without a console: a command's whole job is terminated at once.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import subprocess
import threading
import time
from collections.abc import Callable
from typing import Any

from devflow.tools.command import Command, Ended, How, Stop
from devflow.tools.confined import Folder

_CREATE_SUSPENDED, _NO_WINDOW = 0x4, 0x0800_0000
_KILL_ON_JOB_CLOSE, _EXTENDED_LIMITS, _ACCOUNTING = 0x2000, 9, 1
_SHELL = ("/d", "/s", "/c")
_LINGER_S = 0.25
_CHUNK = 65_536


def shell_words(line: str) -> tuple[str, ...]:
    """The words that give the line to the system's shell."""
    return (os.environ.get("COMSPEC", "cmd.exe"), *_SHELL, line)


def carry_out(command: Command, folder: Folder, take: Callable[[bytes], None], stop: Stop) -> Ended:
    """Run the command to its end; `take` gets its output. Blocks. Raises OSError where it cannot be started."""
    started = time.monotonic()
    wanted = threading.Event()
    stop.attach(wanted.set)
    with _Job() as job:
        process = subprocess.Popen(  # the words are the user's decision
            _command_line(command.words),
            executable=command.program,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=dict(command.environ),
            cwd=folder.path,
            creationflags=_CREATE_SUSPENDED | _NO_WINDOW,
        )
        try:
            job.take_in(process)
        except OSError:
            process.kill()
            raise
        reader = threading.Thread(target=_read, args=(process, take), name="command output", daemon=True)
        reader.start()
        exited = threading.Thread(target=_wait, args=(process, wanted), name="command end", daemon=True)
        exited.start()
        wanted.wait(command.timeout)  # stopped, or over by itself
        code = process.poll()
        how = How.EXITED if code is not None else How.STOPPED if stop.requested else How.TIMED_OUT
        seconds = time.monotonic() - started
        if how is How.EXITED:
            reader.join(_LINGER_S)
        left = job.alive() if how is How.EXITED else 0
        job.terminate()
        process.wait()
        reader.join()
        exited.join()
        stop.attach(None)
        return Ended(how, code, seconds, left)


def _command_line(words: tuple[str, ...]) -> str:
    """Quoted as C programs read it; what follows `/c` reaches the shell as it stands, in quotes that `/s` removes."""
    if words[1:-1] == _SHELL:
        return f'{subprocess.list2cmdline(words[:-1])} "{words[-1]}"'
    return subprocess.list2cmdline(words)


def _read(process: subprocess.Popen[bytes], take: Callable[[bytes], None]) -> None:
    """Until the last process of the job has let go of the pipe."""
    assert process.stdout is not None
    with process.stdout as output, contextlib.suppress(OSError):
        while data := os.read(output.fileno(), _CHUNK):
            take(data)


def _wait(process: subprocess.Popen[bytes], wanted: threading.Event) -> None:
    process.wait()
    wanted.set()


class _Basic(ctypes.Structure):
    _fields_ = (
        ("process_time", ctypes.c_int64),
        ("job_time", ctypes.c_int64),
        ("flags", ctypes.c_uint32),
        ("minimum", ctypes.c_size_t),
        ("maximum", ctypes.c_size_t),
        ("processes", ctypes.c_uint32),
        ("affinity", ctypes.c_size_t),
        ("priority", ctypes.c_uint32),
        ("scheduling", ctypes.c_uint32),
    )


class _Extended(ctypes.Structure):
    _fields_ = (
        ("basic", _Basic),
        ("counters", ctypes.c_uint64 * 6),
        ("process_memory", ctypes.c_size_t),
        ("job_memory", ctypes.c_size_t),
        ("peak_process_memory", ctypes.c_size_t),
        ("peak_job_memory", ctypes.c_size_t),
    )


class _Accounting(ctypes.Structure):
    _fields_ = (
        ("times", ctypes.c_int64 * 4),
        ("faults", ctypes.c_uint32),
        ("processes", ctypes.c_uint32),
        ("active", ctypes.c_uint32),
        ("terminated", ctypes.c_uint32),
    )


class _Job:
    """A job object that kills what is in it when its only handle, ours, is closed."""

    def __enter__(self) -> _Job:
        self._kernel: Any = ctypes.WinDLL("kernel32", use_last_error=True)  # type: ignore[attr-defined,unused-ignore]
        self._kernel.CreateJobObjectW.restype = ctypes.c_void_p
        self._handle = ctypes.c_void_p(self._kernel.CreateJobObjectW(None, None))
        limits = _Extended()
        limits.basic.flags = _KILL_ON_JOB_CLOSE
        self._check(
            self._handle.value
            and self._kernel.SetInformationJobObject(
                self._handle, _EXTENDED_LIMITS, ctypes.byref(limits), ctypes.sizeof(limits)
            )
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._kernel.CloseHandle(self._handle)

    def take_in(self, process: subprocess.Popen[bytes]) -> None:
        """Put the suspended process into the job, then let it run."""
        handle = ctypes.c_void_p(int(process._handle))  # type: ignore[attr-defined]
        self._check(self._kernel.AssignProcessToJobObject(self._handle, handle))
        ntdll: Any = ctypes.WinDLL("ntdll")  # type: ignore[attr-defined,unused-ignore]
        if ntdll.NtResumeProcess(handle) != 0:
            raise OSError("the process cannot be resumed")

    def alive(self) -> int:
        """How many processes of the job still run."""
        found = _Accounting()
        self._check(
            self._kernel.QueryInformationJobObject(
                self._handle, _ACCOUNTING, ctypes.byref(found), ctypes.sizeof(found), None
            )
        )
        return int(found.active)

    def terminate(self) -> None:
        self._kernel.TerminateJobObject(self._handle, 1)

    def _check(self, done: Any) -> None:
        if not done:
            raise ctypes.WinError(ctypes.get_last_error())  # type: ignore[attr-defined,unused-ignore]
