"""A server that sends exactly the bytes a test wants, when it wants them, on a real loopback socket.

async with RawServer() as server:
    server.answer(b"data: …\n\n", hold)   # pieces; an `asyncio.Event` is waited for
    ... post to server.base_url ...
    assert server.received[0].json["model"] == "m"
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import struct
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

Piece = bytes | asyncio.Event


@dataclass(frozen=True)
class Answer:
    """`end`: `close` ends the body well, `cut` closes the socket inside it, `reset` resets the connection."""

    pieces: Sequence[Piece] = ()
    status: int = 200
    kind: str = "text/event-stream"
    headers: Mapping[str, str] = field(default_factory=dict)
    end: str = "close"
    head: bool = True


@dataclass
class Received:
    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the client has closed the connection."""

    @property
    def json(self) -> dict[str, Any]:
        value: dict[str, Any] = json.loads(self.body)
        return value


class RawServer:
    """Answers by path (`on`), else in the order of `answer`; without any, with 404."""

    def __init__(self) -> None:
        self.received: list[Received] = []
        self.port = 0
        self.open_connections = 0
        self._answers: deque[Answer] = deque()
        self._by_path: dict[str, Answer] = {}
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._arrival = asyncio.Condition()

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def base_url(self) -> str:
        return f"{self.origin}/v1"

    def answer(self, *pieces: Piece, **options: Any) -> None:
        """Queue an answer made of these pieces."""
        self._answers.append(Answer(pieces, **options))

    def forget_answers(self) -> None:
        """Drop what nobody asked for."""
        self._answers.clear()

    def on(self, path: str, body: object, *, status: int = 200) -> None:
        """Always answer this path with this JSON."""
        self._by_path[path] = Answer((json.dumps(body).encode(),), status, "application/json")

    async def wait_for(self, count: int) -> Received:
        """The `count`th request, once it has arrived."""
        async with self._arrival:
            await asyncio.wait_for(self._arrival.wait_for(lambda: len(self.received) >= count), 5)
        return self.received[count - 1]

    async def close(self) -> None:
        """Die: no new connection, and every open one is reset."""
        assert self._server is not None
        self._server.close()
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.open_connections += 1
        try:
            await self._serve(reader, writer)
        except asyncio.CancelledError:
            _reset(writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            self.open_connections -= 1
            self._tasks.discard(task)
            writer.close()
            with contextlib.suppress(ConnectionError, asyncio.CancelledError):
                await writer.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            first, *lines = head.strip().split("\r\n")
            method, path, _ = first.split(" ", 2)
            headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
            body = await reader.readexactly(int(headers.get("content-length", 0)))
            request = Received(method, path, headers, body)
            async with self._arrival:
                self.received.append(request)
                self._arrival.notify_all()
            answer = self._by_path.get(path) or (
                self._answers.popleft()
                if self._answers
                else Answer((b'{"error": "nothing here"}',), 404, "application/json")
            )
            sending = asyncio.create_task(self._send(writer, answer))
            leaving = asyncio.create_task(_watch(reader, request))
            try:
                await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                sending.cancel()
                leaving.cancel()
            await asyncio.gather(sending, leaving, return_exceptions=True)
            if request.gone.is_set() or answer.end != "close":
                return

    async def _send(self, writer: asyncio.StreamWriter, answer: Answer) -> None:
        if answer.head:
            lines = [f"HTTP/1.1 {answer.status} Whatever", f"Content-Type: {answer.kind}", "Transfer-Encoding: chunked"]
            lines += [f"{name}: {value}" for name, value in answer.headers.items()]
            writer.write(("\r\n".join(lines) + "\r\n\r\n").encode())
        for piece in answer.pieces:
            if isinstance(piece, asyncio.Event):
                await writer.drain()
                await piece.wait()
            elif piece:
                writer.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
        match answer.end:
            case "close":
                writer.write(b"0\r\n\r\n")
                await writer.drain()
            case "reset":
                await writer.drain()
                _reset(writer)
            case _:
                await writer.drain()


async def _watch(reader: asyncio.StreamReader, request: Received) -> None:
    """Wait until the client closes; it sends nothing while it listens to an answer."""
    try:
        if not await reader.read(1):
            request.gone.set()
    except ConnectionError:
        request.gone.set()


def _reset(writer: asyncio.StreamWriter) -> None:
    connection = writer.get_extra_info("socket")
    if connection is not None:
        with contextlib.suppress(OSError):
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
