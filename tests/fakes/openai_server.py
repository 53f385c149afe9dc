"""A server that speaks OpenAI chat completions from a script, on a real loopback socket, and keeps every request.

    with OpenAIServer() as server:
        server.script(Turn("Hello."), Turn(calls=[Call("read_file", {"path": "a.txt"})]), Turn("Done."))
        ... point a provider at server.base_url ...
        assert server.requests[0].system.startswith(...)

It runs on threads of its own, so that it answers a Qt loop, a plain loop and another process alike. Chat requests take
the next scripted turn; titles and extractions come in the background, so they have queues of their own and harmless
defaults. A chat request without a scripted turn is answered with status 500 and fails the server's `close`.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, ClassVar, Self

TITLE_MARK = "title of a conversation"
"""Stands in the system prompt of every request for a title, in both languages (resources/prompts)."""


@dataclass(frozen=True)
class Call:
    """A tool call; `arguments` as an object, or as the very text to send. `id` None: the server makes one."""

    tool: str
    arguments: Mapping[str, Any] | str = field(default_factory=dict)
    id: str | None = None


class Gate:
    """Stops a turn in the middle until the test opens it."""

    def __init__(self) -> None:
        self._reached = threading.Event()
        self._open = threading.Event()

    def open(self) -> None:
        self._open.set()

    def wait_reached(self, timeout: float = 10.0) -> None:
        """Block until the server stands before this gate."""
        if not self._reached.wait(timeout):
            raise TimeoutError("no turn came to this gate")

    @property
    def reached(self) -> bool:
        return self._reached.is_set()

    def pass_through(self, closing: threading.Event) -> None:
        self._reached.set()
        while not self._open.wait(0.02):
            if closing.is_set():
                raise ConnectionAbortedError


@dataclass(frozen=True)
class Turn:
    """One answer.

    `text` is a string, or pieces of which some may be `Gate`s; each piece is one event. `status` other than 200 answers
    with `error` and `headers`. `cut` closes the connection after the text, without a finish reason; `break_with` sends
    an error object mid-stream instead. `pause` is in seconds, between pieces.
    """

    text: str | Sequence[str | Gate] = ""
    calls: Sequence[Call] = ()
    reasoning: str = ""
    finish: str | None = None
    usage: tuple[int, int] | None = (100, 10)
    status: int = 200
    error: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    cut: bool = False
    break_with: str = ""
    pause: float = 0.0
    before: Gate | None = None


Answer = Turn | Callable[["Request"], Turn]
"""A turn, or a function that makes it from the request."""


@dataclass(frozen=True)
class Request:
    """One request as it arrived. `aborted` is set when the client closed the connection before the answer's end."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]
    at: float
    aborted: threading.Event = field(default_factory=threading.Event)

    @property
    def messages(self) -> list[dict[str, Any]]:
        return self.body.get("messages", [])

    @property
    def system(self) -> str:
        """The system prompt, empty if there is none."""
        return "".join(m["content"] for m in self.messages if m["role"] == "system")

    @property
    def last_user(self) -> str:
        return next((m["content"] for m in reversed(self.messages) if m["role"] == "user"), "")

    @property
    def tools(self) -> list[str]:
        return [tool["function"]["name"] for tool in self.body.get("tools", [])]

    @property
    def tool_results(self) -> list[str]:
        return [m["content"] for m in self.messages if m["role"] == "tool"]

    @property
    def purpose(self) -> str:
        """`chat`, `extraction` (asks for structured output) or `title`."""
        if self.body.get("response_format"):
            return "extraction"
        return "title" if TITLE_MARK in self.system else "chat"


class OpenAIServer:
    """Start with `with` (or `start` and `close`). `models` is what /models lists; `key` demands that bearer token.

    Servers of other protocols are this one with a `Handler` of their own.
    """

    handler: ClassVar[type[Handler]]

    def __init__(
        self,
        *,
        models: Sequence[str] = ("scripted",),
        key: str | None = None,
        port: int = 0,
        context_window: int | None = None,
    ) -> None:
        self.models = list(models)
        self.key = key
        self.context_window = context_window
        self.requests: list[Request] = []
        """Chat requests, in the order of arrival."""
        self.extractions: list[Request] = []
        self.titles: list[Request] = []
        self.unscripted: list[Request] = []
        self._turns: deque[Answer] = deque()
        self._extraction_turns: deque[Answer] = deque()
        self._title_turns: deque[Answer] = deque()
        self._changed = threading.Condition()
        self._closing = threading.Event()
        self._connections: set[socket.socket] = set()
        self._server = _Server(("127.0.0.1", port), self)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def script(self, *turns: Answer | str) -> None:
        """Answers to the next chat requests."""
        self._extend(self._turns, turns)

    def script_extraction(self, *turns: Answer | str | Mapping[str, Any]) -> None:
        """Answers to the next extractions; an object is sent as JSON text. Default: nothing was found."""
        self._extend(self._extraction_turns, turns)

    def script_title(self, *turns: Answer | str) -> None:
        """Answers to the next requests for a title. Default: an empty one, which is no title."""
        self._extend(self._title_turns, turns)

    def wait_for(self, count: int, *, purpose: str = "chat", timeout: float = 10.0) -> list[Request]:
        """Block until so many requests of that purpose have arrived; not for the thread of the client's event loop."""
        kept = self.kept(purpose)
        with self._changed:
            if not self._changed.wait_for(lambda: len(kept) >= count, timeout):
                raise TimeoutError(f"{len(kept)} {purpose} requests of {count}")
        return list(kept)

    async def arrival(self, count: int, *, purpose: str = "chat", timeout: float = 10.0) -> list[Request]:
        """`wait_for` for coroutines: the event loop goes on meanwhile."""
        return await asyncio.to_thread(self.wait_for, count, purpose=purpose, timeout=timeout)

    def kept(self, purpose: str) -> list[Request]:
        return {"chat": self.requests, "extraction": self.extractions, "title": self.titles}[purpose]

    def start(self) -> Self:
        self._thread.start()
        return self

    def close(self) -> None:
        """Stop at once, mid-stream too (a client sees its connection break)."""
        if self._closing.is_set():
            return
        self._closing.set()
        self._server.shutdown()
        with self._changed:
            open_now = list(self._connections)
        for connection in open_now:
            _break(connection)
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
        if kind is None and self.unscripted:
            asked = [request.last_user[:80] for request in self.unscripted]
            raise AssertionError(f"chat requests without a scripted turn: {asked}")

    @property
    def connected_now(self) -> int:
        """Connections that are open."""
        with self._changed:
            return len(self._connections)

    # for the handler -----------------------------------------------------------------------------------------------

    def accept(self, request: Request) -> Turn:
        """Record a completion request and choose its answer."""
        purpose = request.purpose
        queue, default = {
            "chat": (self._turns, None),
            "extraction": (self._extraction_turns, Turn('{"items": []}')),
            "title": (self._title_turns, Turn("", usage=None)),
        }[purpose]
        with self._changed:
            self.kept(purpose).append(request)
            answer = queue.popleft() if queue else default
            if answer is None:
                self.unscripted.append(request)
                answer = Turn(status=500, error="no scripted turn is left")
            self._changed.notify_all()
        return answer(request) if callable(answer) else answer

    def connected(self, connection: socket.socket, here: bool) -> None:
        with self._changed:
            (self._connections.add if here else self._connections.discard)(connection)

    @property
    def closing(self) -> threading.Event:
        return self._closing

    def _extend(self, queue: deque[Answer], turns: Sequence[Answer | str | Mapping[str, Any]]) -> None:
        with self._changed:
            for turn in turns:
                if isinstance(turn, str):
                    queue.append(Turn(turn))
                elif isinstance(turn, Mapping):
                    queue.append(Turn(json.dumps(turn, ensure_ascii=False)))
                else:
                    queue.append(turn)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, address: tuple[str, int], script: OpenAIServer) -> None:
        self.script = script
        super().__init__(address, script.handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is part of the tests, not an error to print."""


class Handler(BaseHTTPRequestHandler):
    """The protocol: what the server says of its models, and how a turn looks on the wire."""

    protocol_version = "HTTP/1.1"
    server: _Server
    endpoint = "/chat/completions"
    stream_type = "text/event-stream"
    request_type: type[Request] = Request

    def setup(self) -> None:
        super().setup()
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.server.script.connected(self.connection, True)

    def finish(self) -> None:
        self.server.script.connected(self.connection, False)
        super().finish()

    def log_message(self, format: str, *args: Any) -> None:
        """Silent: the requests are kept."""

    def do_GET(self) -> None:
        if not self._authorised():
            return
        found = self.look_up({})
        if found is None:
            self._json(404, self.error(f"no such path: {self.path}", "not_found"))
        else:
            self._json(200, found)

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        data = self.rfile.read(length)
        if len(data) < length:  # the client was killed in the middle of its request
            self.close_connection = True
            return
        body = json.loads(data or b"{}")
        if not self._authorised():
            return
        if not self.path.endswith(self.endpoint):
            found = self.look_up(body)
            if found is None:
                self._json(404, self.error(f"no such path: {self.path}", "not_found"))
            else:
                self._json(200, found)
            return
        request = self.request_type("POST", self.path, dict(self.headers.items()), body, time.monotonic())
        turn = self.server.script.accept(request)
        try:
            if turn.before is not None:
                self._wait_at(turn.before, request)
            if turn.status != 200:
                self._json(turn.status, self.error(turn.error, "scripted"), turn.headers)
            elif body.get("stream"):
                self._stream(request, turn)
            else:
                self._json(200, self.whole(request, turn))
        except OSError:
            request.aborted.set()
            self.close_connection = True

    def _authorised(self) -> bool:
        key = self.server.script.key
        if key is None or self.key_given() == key:
            return True
        self._json(401, self.error("Incorrect API key provided.", "invalid_api_key"))
        return False

    def look_up(self, body: Mapping[str, Any]) -> Any:
        """What stands at this path, or None for nothing."""
        if not self.path.endswith("/models"):
            return None
        script = self.server.script
        window = {"max_model_len": script.context_window} if script.context_window else {}
        return {"object": "list", "data": [{"id": name, "object": "model", **window} for name in script.models]}

    def error(self, words: str, kind: str) -> Any:
        return {"error": {"message": words, "type": kind}}

    def events(self, request: Any, turn: Turn) -> Sequence[str | Gate | None]:
        return _events(request, turn)

    def whole(self, request: Any, turn: Turn) -> Any:
        return _whole(request, turn)

    def key_given(self) -> str:
        return str(self.headers.get("Authorization", "")).removeprefix("Bearer ")

    def _json(self, status: int, value: Any, headers: Mapping[str, str] | None = None) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        for name, content in (headers or {}).items():
            self.send_header(name, content)
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, request: Request, turn: Turn) -> None:
        self.send_response(200)
        self.send_header("Content-Type", self.stream_type)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for piece in self.events(request, turn):
            if isinstance(piece, Gate):
                self._wait_at(piece, request)
            elif piece is None:  # cut here
                _break(self.connection)
                raise ConnectionAbortedError
            else:
                self._chunk(piece)
                if turn.pause and self.server.script.closing.wait(turn.pause):
                    raise ConnectionAbortedError
        self.wfile.write(b"0\r\n\r\n")

    def _wait_at(self, gate: Gate, request: Request) -> None:
        """Wait for the gate, noticing a client that hangs up meanwhile."""
        waiting = threading.Thread(target=self._watch_client, args=(gate, request), daemon=True)
        waiting.start()
        gate.pass_through(self.server.script.closing)

    def _watch_client(self, gate: Gate, request: Request) -> None:
        try:
            gone = self.connection.recv(1, socket.MSG_PEEK) == b""
        except OSError:
            gone = True
        if gone:
            request.aborted.set()
            gate.open()

    def _chunk(self, event: str) -> None:
        data = event.encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()


OpenAIServer.handler = Handler


def _events(request: Request, turn: Turn) -> Sequence[str | Gate | None]:
    """The stream's pieces: events, gates to wait at, and None where the connection breaks."""
    out: list[str | Gate | None] = [_event(request, {"role": "assistant", "content": ""})]
    if turn.reasoning:
        out.append(_event(request, {"reasoning_content": turn.reasoning}))
    out += [piece if isinstance(piece, Gate) else _event(request, {"content": piece}) for piece in pieces_of(turn.text)]
    for index, call in enumerate(turn.calls):
        out += _call_events(request, index, call)
    if turn.break_with:
        return [*out, f"data: {json.dumps({'error': {'message': turn.break_with}})}\n\n", None]
    if turn.cut:
        return [*out, None]
    out.append(_event(request, {}, turn.finish or ("tool_calls" if turn.calls else "stop")))
    if turn.usage is not None:
        out.append(_data({**_head(request), "choices": [], "usage": _usage(turn.usage)}))
    return [*out, "data: [DONE]\n\n"]


def pieces_of(text: str | Sequence[str | Gate]) -> Sequence[str | Gate]:
    """A plain string is sent in a few pieces, as servers do."""
    if isinstance(text, str):
        return [text[i : i + 12] for i in range(0, len(text), 12)]
    return text


def _call_events(request: Request, index: int, call: Call) -> list[str]:
    """A call as servers stream it: its id and name first, then its arguments in two pieces."""
    arguments = call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments, ensure_ascii=False)
    id = call.id or f"call_{index}_{abs(hash((request.at, index))) % 10**8}"
    half = len(arguments) // 2
    first = {"index": index, "id": id, "type": "function", "function": {"name": call.tool, "arguments": ""}}
    rest = [{"index": index, "function": {"arguments": part}} for part in (arguments[:half], arguments[half:]) if part]
    return [_event(request, {"tool_calls": [piece]}) for piece in (first, *rest)]


def _whole(request: Request, turn: Turn) -> dict[str, Any]:
    text = "".join(piece for piece in pieces_of(turn.text) if isinstance(piece, str))
    return {
        **_head(request),
        "object": "chat.completion",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": _usage(turn.usage or (0, 0)),
    }


def _head(request: Request) -> dict[str, Any]:
    return {"id": "scripted", "object": "chat.completion.chunk", "created": 0, "model": request.body.get("model", "")}


def _event(request: Request, delta: Mapping[str, Any], finish: str | None = None) -> str:
    return _data({**_head(request), "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})


def _data(value: Mapping[str, Any]) -> str:
    return f"data: {json.dumps(value, ensure_ascii=False)}\n\n"


def _usage(usage: tuple[int, int]) -> dict[str, int]:
    return {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)}


def _break(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
