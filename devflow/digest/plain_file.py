"""Reading files of a knowledge base that anybody may have put there: no link is followed, no pipe waited for."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from stat import S_ISDIR, S_ISREG

_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)  # a link may lead to what nobody meant to send anywhere
    | getattr(os, "O_NONBLOCK", 0)  # a pipe must not hold anybody up
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)


class NotPlain(OSError):
    """There is something, but neither an ordinary file nor a folder."""


def read_plain(file: Path, most: int = -1) -> bytes:
    """The first `most` bytes of an ordinary file, or all of it. Raises `FileNotFoundError`, `NotPlain` or `OSError`."""
    found = os.lstat(file)
    if S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(file))
    if not S_ISREG(found.st_mode):
        raise NotPlain(f"{file.name} is no ordinary file")
    with os.fdopen(os.open(file, _FLAGS), "rb") as opened:
        if not S_ISREG(os.fstat(opened.fileno()).st_mode):
            raise NotPlain(f"{file.name} is no ordinary file")
        return opened.read(most)
