"""Processes by a mark in their words: whether something that was started is still there."""

from __future__ import annotations

import os
import secrets
import select
from pathlib import Path


def new_mark() -> str:
    """A number of seconds for `sleep` that occurs nowhere else: `6000.831204917`."""
    return f"6000.{secrets.randbelow(10**9):09d}"


def marked(mark: str) -> list[int]:
    """The living processes that have the mark among their words."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                words = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if mark.encode() in words:
                found.append(int(entry.name))
    return found


def gone(pid: int, *, within: float) -> bool:
    """Wait until the process is over, at most so many seconds."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([descriptor], [], [], within)[0])
    finally:
        os.close(descriptor)
