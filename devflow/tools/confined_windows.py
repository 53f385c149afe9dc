"""The same as `confined_posix` on Windows, which has no directory descriptors.

Each component is refused if it is a reparse point (symbolic link, junction, mount point), and after opening, the final
path of the handle must lie inside the root: what was swapped in between is found out before a byte is used.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from devflow.tools.confined import DirItem, FileState, Folder
from devflow.tools.paths import Parts, is_protected, joined, visible
from devflow.tools.refusal import ToolRefused
from devflow.tools.temporary import is_left, is_temporary, temporary_name

_REPARSE = 0x400  # FILE_ATTRIBUTE_REPARSE_POINT
_RESERVED = re.compile(r"^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(\..*)?$", re.IGNORECASE)
_BAD = re.compile(r'[<>:"|?*\x00-\x1f]')


def scan(root: Path, forbidden: Sequence[Path], parts: Parts) -> list[DirItem]:
    folder = _checked(root, forbidden, parts)
    if not folder.is_dir():
        raise ToolRefused(f"There is no folder {visible(joined(parts))}.")
    return [_item(entry) for entry in os.scandir(folder)]


def read(root: Path, forbidden: Sequence[Path], parts: Parts, limit: int) -> FileState:
    found = read_if_there(root, forbidden, parts, limit)
    if found is None:
        raise ToolRefused(f"There is no file {visible(joined(parts))}.")
    return found


def read_if_there(root: Path, forbidden: Sequence[Path], parts: Parts, limit: int) -> FileState | None:
    if not parts:
        raise ToolRefused("The project folder is a folder, not a file.")
    path = _checked(root, forbidden, parts)
    shown = visible(joined(parts))
    if path.is_dir():
        raise ToolRefused(f"{shown} is a folder, not a file.")
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOINHERIT", 0))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ToolRefused(f"{shown} cannot be opened: {error.strerror}.") from None
    with os.fdopen(descriptor, "rb") as file:
        _refuse_outside(file.fileno(), root, shown)
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise ToolRefused(f"{shown} is not a regular file.")
        if status.st_size > limit:
            raise ToolRefused(f"{shown} has {status.st_size:,} bytes; files of at most {limit:,} bytes are opened.")
        return FileState(file.read(limit), stat.S_IMODE(status.st_mode), status.st_nlink)


def replace(
    root: Path, forbidden: Sequence[Path], parts: Parts, data: bytes, expected: FileState | None, limit: int
) -> bool:
    path = _checked(root, forbidden, parts)
    path.parent.mkdir(parents=True, exist_ok=True)
    _sweep(path.parent)
    temporary = path.parent / temporary_name()
    try:
        with temporary.open("xb") as file:
            _refuse_outside(file.fileno(), root, visible(joined(parts)))
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        now = read_if_there(root, forbidden, parts, limit)
        if (now and now.data) != (expected and expected.data):
            return False
        temporary.replace(path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            temporary.unlink()
    return True


def _sweep(folder: Path) -> None:
    """Remove what a process that was killed while it wrote here has left."""
    for path in folder.iterdir():
        if is_temporary(path.name):
            with contextlib.suppress(OSError):
                if is_left(path.lstat()):
                    path.unlink()


@contextlib.contextmanager
def opened(root: Path, forbidden: Sequence[Path], parts: Parts) -> Iterator[Folder]:
    """A directory, by its checked path."""
    folder = _checked(root, forbidden, parts)
    if not folder.is_dir():
        raise ToolRefused(f"There is no folder {visible(joined(parts))}.")
    yield Folder(folder)


def _checked(root: Path, forbidden: Sequence[Path], parts: Parts) -> Path:
    """The path, with no component that could mean another place; raises `ToolRefused`."""
    if not root.is_dir():
        raise ToolRefused(f"The project folder {visible(root.name)} cannot be opened.")
    path = root
    real_forbidden = [os.path.realpath(place) for place in forbidden]
    for depth, name in enumerate(parts, 1):
        shown = visible(joined(parts[:depth]))
        if _BAD.search(name) or _RESERVED.match(name) or name != name.rstrip(". "):
            raise ToolRefused(f"{shown} is not a name for a file here.")
        path /= name
        with contextlib.suppress(FileNotFoundError):
            attributes: Any = path.lstat()
            if attributes.st_file_attributes & _REPARSE:
                raise ToolRefused(f"{shown} is a link; links are not followed.")
    real = Path(os.path.realpath(path))
    if any(real.is_relative_to(place) for place in real_forbidden):
        raise ToolRefused("That is DevFlow's own data, which is protected.")
    return path


def _refuse_outside(descriptor: int, root: Path, shown: str) -> None:
    final = _final_path(descriptor)
    if not Path(final).is_relative_to(os.path.realpath(root)):
        raise ToolRefused(f"{shown} leads outside the project folder.")


def _final_path(descriptor: int) -> str:
    """GetFinalPathNameByHandleW: where the opened file really is."""
    windows: Any = ctypes
    msvcrt: Any = __import__("msvcrt")
    buffer = ctypes.create_unicode_buffer(32_768)
    kernel = windows.WinDLL("kernel32", use_last_error=True)
    handle = ctypes.c_void_p(msvcrt.get_osfhandle(descriptor))
    if not kernel.GetFinalPathNameByHandleW(handle, buffer, len(buffer), 0):
        raise ToolRefused("The file's place cannot be verified.")
    return buffer.value.removeprefix("\\\\?\\UNC").removeprefix("\\\\?\\")


def _item(entry: os.DirEntry[str]) -> DirItem:
    status: Any = entry.stat(follow_symlinks=False)
    if status.st_file_attributes & _REPARSE:
        kind = "link"
    else:
        kind = "folder" if stat.S_ISDIR(status.st_mode) else "file"
    return DirItem(entry.name, kind, status.st_size, is_protected(entry.name))
