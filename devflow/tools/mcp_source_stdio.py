"""A server that is a program of this machine: started in a session of its own, spoken to by lines, ended whole.

The SDK has such a transport too. This one bounds what a server may send, keeps the last words of one that dies, passes
on no more of the environment than it is given, and ends within a second. It runs on the sources' own thread.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import shutil
import signal
import subprocess
import sys
from collections import deque
from collections.abc import AsyncIterator

import anyio
import mcp_types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from devflow.domain.messages import N_
from devflow.domain.redaction import redact
from devflow.domain.text.hidden import with_hidden_shown
from devflow.providers.mending import mended
from devflow.tools.mcp_expand import Launch

log = logging.getLogger(__name__)

MESSAGE_MAX = 8 * 1024 * 1024
"""Bytes of one message; a server that sends a longer one is ended."""
MESSAGES_PER_S = 5_000
"""A server that sends more messages than this in a second is ended: it would only heat the room."""
STRAY_MAX = 200
"""So many lines in a row that are no message are passed over: some servers print a greeting."""
LOGGED_MAX = 300
"""So many lines of a server's standard error go to the log for each start."""
LAST_WORDS_S = 10.0
"""What a server wrote longer ago says nothing of its end."""
_GRACE_S = 0.4
_LINE_MAX = 2_000

Incoming = MemoryObjectReceiveStream[SessionMessage | Exception]
Outgoing = MemoryObjectSendStream[SessionMessage]


class StdioTransport:
    """`connected()` is an SDK transport: entered, it gives the two streams of a session; left, the program and all that
    it started is gone.

    `ended` is set when the program is no longer to be spoken to; `why` says what it did wrong, if it did. `exit_code`
    is known once it was left, if the program ended without being made to.
    """

    def __init__(self, name: str, launch: Launch) -> None:
        self._name = name
        self._launch = launch
        self._process: asyncio.subprocess.Process | None = None
        self._last_words: deque[tuple[float, str]] = deque(maxlen=6)
        self.ended = anyio.Event()
        self.why = ""
        self.exit_code: int | None = None

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process is not None else None

    @property
    def last_words(self) -> str:
        """What it wrote shortly before now, without secrets, on one line."""
        recent = (text for at, text in self._last_words if anyio.current_time() - at < LAST_WORDS_S)
        return " ".join(" ".join(recent).split())[-400:]

    @contextlib.asynccontextmanager
    async def connected(self) -> AsyncIterator[tuple[Incoming, Outgoing]]:
        process = await self._spawn()
        self._process = process
        to_session, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        outgoing, from_session = anyio.create_memory_object_stream[SessionMessage](0)
        async with anyio.create_task_group() as group:
            group.start_soon(self._read, process, to_session)
            group.start_soon(self._write, process, from_session)
            group.start_soon(self._listen, process)
            try:
                yield incoming, outgoing
            finally:
                with anyio.CancelScope(shield=True):
                    outgoing.close()
                    incoming.close()
                    self.exit_code = await _end(process)
                group.cancel_scope.cancel()

    async def _spawn(self) -> asyncio.subprocess.Process:
        program = shutil.which(self._launch.command, path=self._launch.env.get("PATH")) or self._launch.command
        own_group = (
            {"creationflags": getattr(subprocess, "CREATE_NO_WINDOW", 0)}
            if sys.platform == "win32"
            else {"start_new_session": True}
        )
        return await asyncio.create_subprocess_exec(
            program,
            *self._launch.args,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=self._launch.cwd,
            env=dict(self._launch.env),
            limit=MESSAGE_MAX,
            **own_group,
        )

    async def _read(
        self, process: asyncio.subprocess.Process, to_session: MemoryObjectSendStream[SessionMessage | Exception]
    ) -> None:
        """Pass messages on until the program ends, or does what no server does."""
        assert process.stdout is not None
        rate = _Rate(MESSAGES_PER_S)
        stray = 0
        try:
            async with to_session:
                while not self.why:
                    try:
                        line = await process.stdout.readline()
                    except ValueError:
                        self.why = N_("it sent a message of more than 8 MB")
                        break
                    if not line:
                        break
                    if rate.is_exceeded():
                        self.why = N_("it sends messages without end")
                        break
                    message = _message(line)
                    stray = 0 if message is not None else stray + bool(line.strip())
                    if message is not None:
                        await to_session.send(message)
                    elif line.strip():
                        self._note("stdout", line)
                        if stray > STRAY_MAX:
                            self.why = N_("what it sends is not MCP")
        except (anyio.BrokenResourceError, anyio.ClosedResourceError, ConnectionError):
            pass  # the session has let go
        finally:
            self.ended.set()

    async def _write(
        self, process: asyncio.subprocess.Process, from_session: MemoryObjectReceiveStream[SessionMessage]
    ) -> None:
        assert process.stdin is not None
        async with from_session:
            async for sent in from_session:
                text = sent.message.model_dump_json(by_alias=True, exclude_unset=True)
                try:
                    process.stdin.write(text.encode("utf-8", "backslashreplace") + b"\n")
                    await process.stdin.drain()
                except (ConnectionError, RuntimeError):
                    self.ended.set()
                    return

    async def _listen(self, process: asyncio.subprocess.Process) -> None:
        """Standard error to the log, so that a server never waits for somebody to read it."""
        assert process.stderr is not None
        count = 0
        while chunk := await process.stderr.read(65_536):
            for line in chunk.splitlines():
                count += 1
                if count <= LOGGED_MAX:
                    self._note("stderr", line)
                elif count == LOGGED_MAX + 1:
                    log.info("MCP server %s: no more of its standard error is kept", self._name)

    def _note(self, stream: str, line: bytes) -> None:
        text = redact(with_hidden_shown(line[:_LINE_MAX].decode("utf-8", "replace").strip())).text
        for secret in self._launch.secrets:
            text = text.replace(secret, "…")
        if text:
            self._last_words.append((anyio.current_time(), text))
            log.info("MCP server %s, %s: %s", self._name, stream, text)


class _Rate:
    """How often something happens, second by second."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._count = 0
        self._since = anyio.current_time()

    def is_exceeded(self) -> bool:
        now = anyio.current_time()
        if now - self._since >= 1:
            self._since, self._count = now, 0
        self._count += 1
        return self._count > self._limit


def _message(line: bytes) -> SessionMessage | None:
    read = mcp_types.jsonrpc_message_adapter.validate_json
    with contextlib.suppress(ValidationError, ValueError):
        return SessionMessage(read(line, by_name=False))
    with contextlib.suppress(ValidationError, ValueError, RecursionError):
        return SessionMessage(read(_without_halves(line), by_name=False))
    return None


def _without_halves(line: bytes) -> str:
    """Halves of surrogate pairs and bytes that are no UTF-8 as marks: a strict reader takes no message with one."""
    return mended(json.dumps(json.loads(line.decode("utf-8", "replace")), ensure_ascii=False))


async def _end(process: asyncio.subprocess.Process) -> int | None:
    """Close its input, which asks it to go; then TERM, then KILL for all of its group. Within about a second.

    Returns its exit code if it went by itself.
    """
    assert process.stdin is not None
    with contextlib.suppress(ConnectionError, RuntimeError, OSError):
        process.stdin.close()
    by_itself = await _gone(process, _GRACE_S)
    if not by_itself:
        _signal(process, force=False)
        if not await _gone(process, _GRACE_S):
            log.info("an MCP server did not end when it was asked to; it is killed (process %d)", process.pid)
    _signal(process, force=True)  # what it started may outlive it
    await _gone(process, _GRACE_S)
    transport = getattr(process, "_transport", None)  # a grandchild may hold a pipe open for ever
    if transport is not None:
        with contextlib.suppress(OSError):
            transport.close()
    return process.returncode if by_itself else None


async def _gone(process: asyncio.subprocess.Process, seconds: float) -> bool:
    """Whether it ends in time. Not `process.wait()`: that also waits for pipes that a grandchild may hold."""
    deadline = anyio.current_time() + seconds
    while process.returncode is None:
        if anyio.current_time() >= deadline:
            return False
        await anyio.sleep(0.01)
    return True


def _signal(process: asyncio.subprocess.Process, *, force: bool) -> None:
    if sys.platform == "win32":
        if process.returncode is None:
            command = ["taskkill", "/T", "/F", "/PID", str(process.pid)]
            subprocess.run(command, capture_output=True, check=False, timeout=2)
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL if force else signal.SIGTERM)
