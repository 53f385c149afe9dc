"""For a Python process that a test starts with this folder in PYTHONPATH: no socket leaves the machine.

Every attempt, a name lookup included, adds a line to the file $NETWORK_ATTEMPTS and fails as without a network.
"""

import ipaddress
import os
import socket
from pathlib import Path
from typing import Any

_connect, _connect_ex, _lookup = socket.socket.connect, socket.socket.connect_ex, socket.getaddrinfo


def _refuse(host: Any) -> None:
    name = host.decode() if isinstance(host, bytes) else str(host or "localhost")
    if name == "localhost":
        return
    try:
        if ipaddress.ip_address(name.partition("%")[0]).is_loopback:
            return
    except ValueError:
        pass  # a name that only a resolver on the network would know
    with Path(os.environ["NETWORK_ATTEMPTS"]).open("a", encoding="utf-8") as attempts:
        attempts.write(f"{name}\n")
    raise OSError(101, "Network is unreachable")


def _check(self: socket.socket, address: Any) -> None:
    if self.family in (socket.AF_INET, socket.AF_INET6):
        _refuse(address[0])


def _connected(self: socket.socket, address: Any) -> None:
    _check(self, address)
    _connect(self, address)


def _connected_ex(self: socket.socket, address: Any) -> int:
    _check(self, address)
    return _connect_ex(self, address)


def _looked_up(host: Any, *arguments: Any, **options: Any) -> Any:
    _refuse(host)
    return _lookup(host, *arguments, **options)


socket.socket.connect = _connected  # type: ignore[method-assign]
socket.socket.connect_ex = _connected_ex  # type: ignore[method-assign]
socket.getaddrinfo = _looked_up
