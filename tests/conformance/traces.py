"""What a process holds: tasks, threads, descriptors, connections, children."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import stat
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_OF_LOOP = ("MainThread", "asyncio_")
"""Threads that the event loop keeps for later."""
_OF_SERVER = ("(serve_forever)", "(process_request_thread)", "(_watch_client)")
"""Threads of the test's own server, which ends each a moment after its client."""


@dataclass(frozen=True)
class Traces:
    """`connections` are this process' own ends of connections to one port; `descriptors` all that is open."""

    tasks: tuple[str, ...]
    threads: tuple[str, ...]
    connections: int
    descriptors: int
    children: tuple[int, ...]


def traces(port: int) -> Traces:
    """What is there now, the running task and the loop's own threads left out; descriptors and children on Linux."""
    current = asyncio.current_task()
    tasks = sorted(task.get_name() for task in asyncio.all_tasks() if task is not current)
    threads = sorted(
        thread.name
        for thread in threading.enumerate()
        if not thread.name.startswith(_OF_LOOP) and not thread.name.endswith(_OF_SERVER)
    )
    descriptors = _descriptors()
    return Traces(
        tuple(tasks),
        tuple(threads),
        sum(_peer_port(descriptor) == port for descriptor in descriptors),
        len(descriptors),
        tuple(_children()),
    )


def _descriptors() -> Sequence[int]:
    try:
        names = os.listdir("/proc/self/fd")  # noqa: PTH208 - the listing's own descriptor is closed again by then
    except OSError:
        return ()
    return [number for number in map(int, names) if _is_open(number)]


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def _peer_port(descriptor: int) -> int | None:
    """The port at the other end, if this is a connection to one."""
    with contextlib.suppress(OSError):
        if not stat.S_ISSOCK(os.fstat(descriptor).st_mode):
            return None
        with socket.socket(fileno=os.dup(descriptor)) as connection:
            if connection.family in (socket.AF_INET, socket.AF_INET6):
                return int(connection.getpeername()[1])
    return None


def _children() -> list[int]:
    found: set[int] = set()
    for file in Path("/proc/self/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found.update(map(int, file.read_text().split()))
    return sorted(found)
