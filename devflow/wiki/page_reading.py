"""One page's file as it is read for the index. Nothing but an ordinary file is read, and nothing waits for one."""

from __future__ import annotations

import io
import os
import time
from dataclasses import replace
from pathlib import Path
from stat import S_ISREG

from devflow.store.page_file import PageRow
from devflow.wiki import layout
from devflow.wiki.decoding import decode
from devflow.wiki.page import read as take_apart

TOO_LARGE, ENCODING, UNREADABLE, NAME = "too_large", "encoding", "unreadable", "name"
"""Why a page is skipped; `NAME`: that of its file, or of a folder, is no text."""
HEAD = 4_096
"""Bytes that are read of a page for its title alone."""
TICK_NS = 20_000_000
"""Two changes of a file within so many nanoseconds may bear one time; where times are whole seconds, within two."""
_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)  # what became a link since the folder was read is no page
    | getattr(os, "O_NONBLOCK", 0)  # what became a pipe must not hold anybody up
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)


def read(root: Path, path: str, *, head_only: bool = False) -> tuple[PageRow, str]:
    """What is kept of the page, and its content; of its head alone, the title. Raises `OSError`.

    The state is the file's just before it was read. If that state is so young that the file may have changed since
    without looking different, `ctime_ns` is -1: the next look reads it again.
    """
    now = time.time_ns()
    descriptor = os.open(root / path, _FLAGS)
    with os.fdopen(descriptor, "rb", buffering=0) as file:
        state = os.fstat(descriptor)
        if not S_ISREG(state.st_mode):
            raise FileNotFoundError(path)
        name = layout.stem(path)
        ctime_ns = -1 if _is_young(state, now) else state.st_ctime_ns
        row = PageRow(path, state.st_mtime_ns, state.st_size, name, name, ctime_ns=ctime_ns)
        if state.st_size > layout.PAGE_MAX:
            return replace(row, problem=TOO_LARGE), ""
        raw = _bytes_of(file, HEAD if head_only else state.st_size + 1)
    if head_only:
        whole = raw[: raw.rfind(b"\n") + 1] or raw  # a character may be cut at the end
        text = decode(whole if len(raw) == HEAD else raw)
        return replace(row, title=name if text is None else take_apart(path, text).title, pending=True), ""
    text = decode(raw)
    if text is None:
        return replace(row, problem=ENCODING), ""
    page = take_apart(path, text)
    return replace(row, title=page.title, is_bare=page.is_bare, origin=page.origin), page.content


def _bytes_of(file: io.FileIO, most: int) -> bytes:
    raw = file.read(most)
    while raw and len(raw) < most and (more := file.read(most - len(raw))):
        raw += more
    return raw or b""


def _is_young(state: os.stat_result, now: int) -> bool:
    """Whether a change after `now` could leave this very state."""
    # Windows keeps the time of creation there, and only the other one tells.
    latest = state.st_ctime_ns if os.name != "nt" else state.st_mtime_ns
    whole_seconds = not latest % 1_000_000_000
    return latest > now - (2_000_000_000 if whole_seconds else TICK_NS)
