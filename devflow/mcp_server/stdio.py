"""The protocol over standard input and output: a message a line, and nothing else ever on standard output.

The SDK has such a transport too. This one bounds a message, answers what is no message instead of leaving its sender
waiting, reads a half of a surrogate pair, and lets what was asked be answered before a closed input ends the server.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import re
import sys
import threading
from collections.abc import AsyncIterator
from typing import Any, BinaryIO

import anyio
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from devflow.domain.foreign_json import loads

log = logging.getLogger(__name__)

MESSAGE_MAX = 8 * 1024 * 1024
"""Bytes of one message."""
ANSWERS_S = 10.0
"""So long a closed input waits for the answers that are due."""
LISTENING = "subscriptions/listen"
"""Its answer comes when the client wants to hear no more: a closed input does not wait for that."""

Incoming = MemoryObjectReceiveStream[SessionMessage | Exception]
Outgoing = MemoryObjectSendStream[SessionMessage]

_HEAD = re.compile(rb'\s*\{\s*"jsonrpc"\s*:\s*"2\.0"\s*,\s*"id"\s*:\s*(-?\d{1,18}|"[^"\\]{1,100}")\s*,')
_TAIL = re.compile(rb'"id"\s*:\s*(-?\d{1,18}|"[^"\\]{1,100}")\s*\}\s*\Z')
_LOOKED_AT = 4_096


def claim() -> tuple[BinaryIO, BinaryIO]:
    """Take standard input and output for the protocol alone.

    From now on whatever else writes to standard output, a child or a library, writes to standard error.
    """
    taken = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb", buffering=0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return taken


class StdioTransport:
    def __init__(self, source: BinaryIO, sink: BinaryIO) -> None:
        self._source = source
        self._sink = sink
        self._due: set[str | int] = set()
        self._answered = asyncio.Event()
        self._writing = asyncio.Lock()
        self._broken = asyncio.Event()

    @contextlib.asynccontextmanager
    async def connected(self) -> AsyncIterator[tuple[Incoming, Outgoing]]:
        """The two streams of a session; the first ends when the client has gone."""
        to_session, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        outgoing, from_session = anyio.create_memory_object_stream[SessionMessage](0)
        lines: asyncio.Queue[bytes | None] = asyncio.Queue(1)
        loop = asyncio.get_running_loop()
        # A thread of its own, for a read of standard input can be neither awaited everywhere nor called off.
        threading.Thread(target=_read_lines, args=(self._source, lines, loop), daemon=True, name="stdin").start()
        async with anyio.create_task_group() as group:
            group.start_soon(self._read, lines, to_session)
            group.start_soon(self._write, from_session)
            try:
                yield incoming, outgoing
            finally:
                group.cancel_scope.cancel()

    async def _read(self, lines: asyncio.Queue[bytes | None], to_session: Outgoing | Any) -> None:
        async with to_session:
            while (line := await self._next(lines)) is not None:
                message = await self._message(line)
                if message is None:
                    continue
                self._note(message)
                try:
                    await to_session.send(SessionMessage(message))
                except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                    return
            with anyio.move_on_after(ANSWERS_S):
                while self._due and not self._broken.is_set():
                    self._answered.clear()
                    await self._answered.wait()

    async def _next(self, lines: asyncio.Queue[bytes | None]) -> bytes | None:
        """The next line; None when there is none, or when nobody reads what is written."""
        reading = asyncio.ensure_future(lines.get())
        broken = asyncio.ensure_future(self._broken.wait())
        try:
            await asyncio.wait([reading, broken], return_when=asyncio.FIRST_COMPLETED)
            return reading.result() if reading.done() else None
        finally:
            reading.cancel()
            broken.cancel()

    async def _message(self, line: bytes) -> types.JSONRPCMessage | None:
        """The line as a message; what is none is answered here."""
        if len(line) > MESSAGE_MAX:
            size = MESSAGE_MAX // (1024 * 1024)
            await self._refuse(_id_of(line), types.INVALID_REQUEST, f"A message of more than {size} MB is not taken.")
            return None
        if not line.strip():
            return None
        try:
            value = loads(line.decode("utf-8", "replace"))
        except ValueError as error:
            await self._refuse(None, types.PARSE_ERROR, f"The line is no JSON: {error}.")
            return None
        try:
            return types.jsonrpc_message_adapter.validate_python(value, by_name=False)
        except ValidationError:
            id = value.get("id") if isinstance(value, dict) else None
            good = id if isinstance(id, str) or (isinstance(id, int) and not isinstance(id, bool)) else None
            await self._refuse(good, types.INVALID_REQUEST, "The line is no JSON-RPC message.")
            return None

    def _note(self, message: types.JSONRPCMessage) -> None:
        match message:
            case types.JSONRPCRequest(id=id, method=method) if method != LISTENING:
                self._due.add(id)
            case types.JSONRPCNotification(method="notifications/cancelled", params={"requestId": str() | int() as id}):
                self._settle(id)
            case _:
                pass

    def _settle(self, id: str | int | None) -> None:
        if id is not None:
            self._due.discard(id)
            self._answered.set()

    async def _write(self, from_session: MemoryObjectReceiveStream[SessionMessage]) -> None:
        async with from_session:
            async for outgoing in from_session:
                message = outgoing.message
                await self._send(message)
                if isinstance(message, types.JSONRPCResponse | types.JSONRPCError):
                    self._settle(message.id)

    async def _refuse(self, id: str | int | None, code: int, why: str) -> None:
        log.warning("refused a message: %s", why)
        await self._send(types.JSONRPCError(jsonrpc="2.0", id=id, error=types.ErrorData(code=code, message=why)))

    async def _send(self, message: types.JSONRPCMessage) -> None:
        if self._broken.is_set():
            return
        value = message.model_dump(by_alias=True, exclude_unset=True)
        data = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"
        async with self._writing:
            try:
                await anyio.to_thread.run_sync(_write_all, self._sink, data, abandon_on_cancel=True)
            except OSError as error:  # the client is gone
                log.info("the client no longer reads: %s", error.strerror or error)
                self._broken.set()
                self._answered.set()


def _write_all(sink: BinaryIO, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[sink.write(left) or 0 :]


def _read_lines(source: BinaryIO, lines: asyncio.Queue[bytes | None], loop: asyncio.AbstractEventLoop) -> None:
    """Hand on line by line until the input ends; of one that is too long, its head and its tail."""
    with source, contextlib.suppress(RuntimeError):  # the loop was closed meanwhile
        while line := _line(source):
            asyncio.run_coroutine_threadsafe(lines.put(line), loop).result()
        asyncio.run_coroutine_threadsafe(lines.put(None), loop).result()


def _line(source: BinaryIO) -> bytes:
    try:
        line = source.readline(MESSAGE_MAX + 1)
        last = line
        while last and not last.endswith(b"\n") and len(line) > MESSAGE_MAX:
            last = source.readline(MESSAGE_MAX + 1)
            line = line[: MESSAGE_MAX + 1] + last[-_LOOKED_AT:]
        return line
    except (OSError, ValueError):  # closed under us
        return b""


def _id_of(line: bytes) -> str | int | None:
    """The id of a message too long to be read: where clients put it, at its very beginning or its very end."""
    found = _HEAD.match(line[:_LOOKED_AT]) or _TAIL.search(line[-_LOOKED_AT:])
    if found is None:
        return None
    id = json.loads(found[1])
    return id if isinstance(id, str | int) else None
