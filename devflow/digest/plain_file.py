"""Files of a knowledge base that others read and write, too: no link is followed, no pipe waited for, nothing is half
written, and what somebody else writes meanwhile is not lost."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Callable
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import Literal

from devflow.wiki.decoding import decode

NEW = ".devflow-new"
"""Ends the name of a file that is being written; no such file is a page."""
TRIES_MAX = 50
"""So often a file is read anew that somebody else keeps writing to."""
State = tuple[int, int, int] | None
"""Time, size and inode; None: there is no file."""

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


def write_new(target: Path, data: bytes) -> None:
    """All of it, under a name that nothing had."""
    new = target.with_name(f".{target.name}{NEW}")
    try:
        flushed(new, data)
        if os.name == "nt":
            new.rename(target)  # refuses to replace there
        else:
            _link(new, target)
    finally:
        new.unlink(missing_ok=True)
    flush_folder(target.parent)


def _link(new: Path, target: Path) -> None:
    try:
        os.link(new, target)
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        if os.path.lexists(target):
            raise FileExistsError(target) from None
        new.rename(target)


def append_line(root: Path, name: str, unless: str, line: str) -> None:
    """Add the line at the end, in the file's own encoding and line ends; every byte that is there stays.

    Nothing is added where the file has the words `unless`. A link is left alone, for it may lead anywhere; so is what
    is no file, and a file that cannot be told to be text.
    """
    new = f"# {name.removesuffix('.md').capitalize()}\n".encode()
    change_file(root / name, lambda raw: _with_line(new if raw is None else raw, unless, line))


def _with_line(raw: bytes, unless: str, line: str) -> bytes | None:
    text = decode(raw)
    if text is None or unless in text:
        return None
    end = "\r\n" if "\r\n" in raw.decode(encoding_of(raw), "ignore") else "\n"
    gap = "" if not text or text.endswith("\n") else end
    if text.strip() and not _ends_in_list(text):
        gap += end
    return raw + f"{gap}{line}{end}".encode(encoding_of(raw), "replace")


def change_file(file: Path, change: Callable[[bytes | None], bytes | None]) -> None:
    """What `change` makes of the file's bytes (None: there is no file), whole or not at all; None changes nothing.

    Whoever else writes to the file meanwhile, an editor or a script, loses nothing: it is read anew.
    """
    for _ in range(TRIES_MAX):
        before = _state(file)
        raw: bytes | None = None
        try:
            raw = read_plain(file)
        except NotPlain:
            return
        except FileNotFoundError:
            pass
        data = change(raw)
        if data is None or replace_file(file, data, if_still=before):
            return
    raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))


def _state(file: Path) -> State:
    try:
        found = os.lstat(file)
    except FileNotFoundError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def replace_file(file: Path, data: bytes, *, if_still: State | Literal["whatever"] = "whatever") -> bool:
    """The file with other bytes, whole or not at all, with the rights it had. False: it is not `if_still` any more."""
    new = file.with_name(f".{file.name}{NEW}")
    try:
        flushed(new, data)
        with contextlib.suppress(OSError):
            new.chmod(file.stat().st_mode & 0o777)
        if if_still != "whatever" and _state(file) != if_still:
            return False
        new.replace(file)
    finally:
        new.unlink(missing_ok=True)
    flush_folder(file.parent)
    return True


def _ends_in_list(text: str) -> bool:
    last = text.rstrip().rpartition("\n")[2]
    return last.lstrip().startswith(("- ", "* ", "+ "))


def encoding_of(raw: bytes) -> str:
    if raw.startswith(b"\xff\xfe"):
        return "utf-16-le"
    if raw.startswith(b"\xfe\xff"):
        return "utf-16-be"
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return "gb18030"
    return "utf-8"


def flushed(file: Path, data: bytes) -> None:
    with file.open("wb") as out:
        out.write(data)
        out.flush()
        os.fsync(out.fileno())


def flush_folder(folder: Path) -> None:
    """So that the name outlives a loss of power, too; only POSIX systems can."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            with contextlib.suppress(OSError):
                os.fsync(descriptor)
        finally:
            os.close(descriptor)
