"""Stands between DevFlow and a real model server and narrows what is asked, so that a very small model can do it.

    with Relay(llama.port, narrow) as relay:      # narrow(path, body) -> body
        ... point a provider at relay.base_url ...

The bytes of the answers pass through as they come: the wire is the server's own. `relay.asked` keeps every body as it
came from DevFlow, in the order of arrival.
"""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

Narrow = Callable[[str, dict[str, Any]], dict[str, Any]]


class Relay:
    """Serves on a loopback port of its own, on threads of its own."""

    def __init__(self, port: int, narrow: Narrow) -> None:
        self.target = port
        self.narrow = narrow
        self.asked: list[dict[str, Any]] = []
        self._server = _Server(("127.0.0.1", 0), self)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(10)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address: tuple[str, int], relay: Relay) -> None:
        super().__init__(address, _Handler)
        self.relay = relay


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:
        """Silent."""

    def do_GET(self) -> None:
        self._pass_on(None)

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path.endswith("/chat/completions"):
            self.server.relay.asked.append(body)
        self._pass_on(json.dumps(self.server.relay.narrow(self.path, body)).encode())

    def _pass_on(self, body: bytes | None) -> None:
        upstream = http.client.HTTPConnection("127.0.0.1", self.server.relay.target, timeout=120)
        try:
            upstream.request(self.command, self.path, body, {"Content-Type": "application/json"})
            reply = upstream.getresponse()
            self.send_response(reply.status)
            self.send_header("Content-Type", reply.getheader("Content-Type", ""))
            self.send_header("Connection", "close")
            self.end_headers()
            while piece := reply.read1(65_536):
                self.wfile.write(piece)
        except OSError:
            self.close_connection = True  # whoever asked has gone
        finally:
            upstream.close()
