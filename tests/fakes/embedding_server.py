"""An embedding server on a real loopback socket: vectors that mean something, and every way to get them wrong.

A text's vector has an axis for each of a few things that people say in English and Chinese (`THINGS`), and a little
noise of its own, so that texts about the same thing are near each other and others are not.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
from collections.abc import Callable
from typing import Any, Self

THINGS = (
    ("lock", "锁", "busy", "deferred"),
    ("pool", "连接", "connection"),
    ("render", "界面", "paint", "flicker"),
    ("deploy", "发布", "release", "rollout"),
    ("bread", "面包", "oven"),
    ("invoice", "发票", "accounting"),
)
NOISE = 8


def vector(text: str, dimension: int = len(THINGS) + NOISE) -> list[float]:
    """An axis for each thing, then noise; cut or filled up to `dimension`."""
    folded = text.lower()
    things = [float(any(word in folded for word in words)) for words in THINGS]
    digest = hashlib.sha256(text.encode()).digest()
    noise = [0.12 * (byte / 255 - 0.5) for byte in digest[:NOISE]]
    made = [*things, *noise]
    return [*made, *([0.01] * dimension)][:dimension]


class EmbeddingServer:
    """`misbehave` changes an answer (rows with `index` and `embedding`) before it is sent; `status` other than 200
    refuses; `hold` keeps answers back until it is set; `held`: one waits. `texts`: what was asked, request by request.
    """

    def __init__(self) -> None:
        self.texts: list[list[str]] = []
        self.models: list[str] = []
        self.dimension = len(THINGS) + NOISE
        self.status = 200
        self.refuse: Callable[[list[str]], bool] = lambda _texts: False
        self.misbehave: Callable[[list[dict[str, Any]]], list[dict[str, Any]]] = lambda rows: rows
        self.hold: asyncio.Event | None = None
        self.held = asyncio.Event()
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.Task[None]] = set()
        self.port = 0

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def every_text(self) -> list[str]:
        return [text for some in self.texts for text in some]

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in list(self._open):
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            await self._serve(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._open.discard(task)
            writer.close()
            with contextlib.suppress(ConnectionError, asyncio.CancelledError):
                await writer.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One answer, then the end: no connection outlives the program that is tested."""
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(
            (int(line.split(b":")[1]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), 0
        )
        body = json.loads(await reader.readexactly(length)) if length else {}
        status, answer = await self._answer(body)
        raw = json.dumps(answer).encode()
        writer.write(
            f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {len(raw)}\r\n\r\n".encode()
            + raw
        )
        await writer.drain()

    async def _answer(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        if "input" not in body:
            return 200, {"data": [{"id": "embed-small"}, {"id": "embed-large"}]}
        texts = list(body["input"])
        self.texts.append(texts)
        self.models.append(str(body.get("model")))
        if self.hold is not None:
            self.held.set()
            await self.hold.wait()
        if self.status != 200:
            return self.status, {"error": {"message": "the machine is on fire"}}
        if self.refuse(texts):
            return 400, {"error": {"message": "one of the texts is not to my taste"}}
        rows = [{"index": place, "embedding": vector(text, self.dimension)} for place, text in enumerate(texts)]
        return 200, {"data": self.misbehave(rows)}
