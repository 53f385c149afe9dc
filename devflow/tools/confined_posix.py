"""Opening files inside a folder so that nothing leads out: by directory descriptors, one name at a time.

No component is followed if it is a symbolic link, so a folder that is swapped for a link while we walk changes
nothing: we hold the descriptor of the real one. Opening never blocks on a FIFO and never opens a device.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from devflow.tools.confined import DirItem, FileState, Folder
from devflow.tools.paths import Parts, is_protected, joined, visible
from devflow.tools.refusal import ToolRefused
from devflow.tools.temporary import is_left, is_temporary, temporary_name

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | getattr(os, "O_NOCTTY", 0)
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC

Identity = tuple[int, int]


def scan(root: Path, forbidden: Sequence[Path], parts: Parts) -> list[DirItem]:
    """What stands in a directory; links and special files are named as what they are and never followed."""
    with _directory(root, forbidden, parts) as descriptor, os.scandir(descriptor) as entries:
        return [_item(entry) for entry in entries]


def read(root: Path, forbidden: Sequence[Path], parts: Parts, limit: int) -> FileState:
    """A regular file's bytes; raises `ToolRefused` above `limit` bytes and for everything that is no regular file."""
    with _directory(root, forbidden, parts[:-1]) as parent:
        found = _read_in(parent, parts, limit)
    if found is None:
        raise ToolRefused(f"There is no file {visible(joined(parts))}.")
    return found


def read_if_there(root: Path, forbidden: Sequence[Path], parts: Parts, limit: int) -> FileState | None:
    """As `read`; None where the file, or a folder on the way, does not exist yet."""
    try:
        with _directory(root, forbidden, parts[:-1]) as parent:
            return _read_in(parent, parts, limit)
    except _Missing:
        return None


def replace(
    root: Path, forbidden: Sequence[Path], parts: Parts, data: bytes, expected: FileState | None, limit: int
) -> bool:
    """Put `data` in the file's place at once, or do nothing and return False if it is not `expected` any more."""
    try:
        with _directory(root, forbidden, parts[:-1], make=True) as parent:
            return _replace_in(parent, parts, data, expected, limit)
    except OSError as error:
        raise ToolRefused(f"{visible(joined(parts))} cannot be written: {error.strerror}.") from None


@contextlib.contextmanager
def opened(root: Path, forbidden: Sequence[Path], parts: Parts) -> Iterator[Folder]:
    """A directory, held by its descriptor."""
    with _directory(root, forbidden, parts) as descriptor:
        yield Folder(root.joinpath(*parts), descriptor)


class _Missing(ToolRefused):
    """A folder on the way does not exist."""


@contextlib.contextmanager
def _directory(root: Path, forbidden: Sequence[Path], parts: Parts, *, make: bool = False) -> Iterator[int]:
    """The descriptor of a directory inside the root."""
    closed = [identity for path in forbidden if (identity := _identity_of(path)) is not None]
    _refuse_inside(root, forbidden)
    try:
        descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise ToolRefused(f"The project folder {visible(root.name)} cannot be opened: {error.strerror}.") from None
    try:
        for depth, name in enumerate(parts, 1):
            descriptor = _step(descriptor, name, parts[:depth], make=make)
            _refuse_identity(descriptor, closed, parts[:depth])
        yield descriptor
    finally:
        os.close(descriptor)


def _step(parent: int, name: str, so_far: Parts, *, make: bool) -> int:
    """Go down one name; closes `parent` only when it succeeds."""
    try:
        descriptor = os.open(name, _DIRECTORY, dir_fd=parent)
    except FileNotFoundError:
        if not make:
            raise _Missing(f"There is no folder {visible(joined(so_far))}.") from None
        with contextlib.suppress(FileExistsError):
            os.mkdir(name, 0o777, dir_fd=parent)
        descriptor = _open_or_refuse(parent, name, so_far)
    except OSError as error:
        raise _refused(error, so_far) from None
    os.close(parent)
    return descriptor


def _open_or_refuse(parent: int, name: str, so_far: Parts) -> int:
    try:
        return os.open(name, _DIRECTORY, dir_fd=parent)
    except OSError as error:
        raise _refused(error, so_far) from None


def _replace_in(parent: int, parts: Parts, data: bytes, expected: FileState | None, limit: int) -> bool:
    _sweep(parent)
    temporary = temporary_name()
    descriptor = os.open(temporary, _NEW, 0o600, dir_fd=parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fchmod(file.fileno(), expected.mode if expected is not None else 0o666 & ~_umask())
            os.fsync(file.fileno())
        now = _read_in(parent, parts, limit)
        if (now and now.data) != (expected and expected.data):
            return False
        os.rename(temporary, parts[-1], src_dir_fd=parent, dst_dir_fd=parent)
        temporary = ""
        os.fsync(parent)
    finally:
        if temporary:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary, dir_fd=parent)
    return True


def _sweep(parent: int) -> None:
    """Remove what a process that was killed while it wrote here has left."""
    for name in os.listdir(parent):
        if is_temporary(name):
            with contextlib.suppress(OSError):
                if is_left(os.stat(name, dir_fd=parent, follow_symlinks=False)):
                    os.unlink(name, dir_fd=parent)


def _read_in(parent: int, parts: Parts, limit: int) -> FileState | None:
    if not parts:
        raise ToolRefused("The project folder is a folder, not a file.")
    shown = visible(joined(parts))
    try:
        descriptor = os.open(parts[-1], _FILE, dir_fd=parent)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _refused(error, parts) from None
    try:
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):
            raise ToolRefused(f"{shown} is a folder, not a file.")
        if not stat.S_ISREG(status.st_mode):
            raise ToolRefused(f"{shown} is {_special(status.st_mode)}, not a regular file.")
        if status.st_size > limit:
            raise ToolRefused(f"{shown} has {status.st_size:,} bytes; files of at most {limit:,} bytes are opened.")
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            data = file.read(limit + 1)
    finally:
        os.close(descriptor)
    if len(data) > limit:
        raise ToolRefused(f"{shown} grew over {limit:,} bytes while it was read.")
    return FileState(data, stat.S_IMODE(status.st_mode), status.st_nlink)


def _item(entry: os.DirEntry[str]) -> DirItem:
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError:
        return DirItem(entry.name, "unreadable", 0)
    mode = status.st_mode
    if stat.S_ISDIR(mode):
        kind = "folder"
    elif stat.S_ISREG(mode):
        kind = "file"
    else:
        kind = _special(mode).removeprefix("a ")
    return DirItem(entry.name, kind, status.st_size, is_protected(entry.name), status.st_nlink)


def _special(mode: int) -> str:
    for test, words in (
        (stat.S_ISLNK, "a symbolic link"),
        (stat.S_ISFIFO, "a FIFO"),
        (stat.S_ISSOCK, "a socket"),
        (stat.S_ISCHR, "a device"),
        (stat.S_ISBLK, "a device"),
    ):
        if test(mode):
            return words
    return "a special file"


def _refused(error: OSError, parts: Parts) -> ToolRefused:
    shown = visible(joined(parts))
    match error.errno:
        case errno.ELOOP | errno.EMLINK:
            return ToolRefused(f"{shown} is a symbolic link; links are not followed.")
        case errno.ENOTDIR:
            return ToolRefused(f"{shown} is not a folder, or is a symbolic link; links are not followed.")
        case errno.ENXIO | errno.EOPNOTSUPP | errno.ENODEV:
            return ToolRefused(f"{shown} is a socket or a device, not a regular file.")
        case _:
            return ToolRefused(f"{shown} cannot be opened: {error.strerror}.")


def _refuse_inside(root: Path, forbidden: Sequence[Path]) -> None:
    real = Path(os.path.realpath(root))
    for path in forbidden:
        if real.is_relative_to(os.path.realpath(path)):
            raise ToolRefused("The project folder lies inside DevFlow's own data, which is protected.")


def _refuse_identity(descriptor: int, closed: Sequence[Identity], parts: Parts) -> None:
    status = os.fstat(descriptor)
    if (status.st_dev, status.st_ino) in closed:
        raise ToolRefused(f"{visible(joined(parts))} is DevFlow's own data, which is protected.")


def _identity_of(path: Path) -> Identity | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _umask() -> int:
    """The process's umask; it can only be read by setting it, which would race with other threads."""
    try:
        with open("/proc/self/status", encoding="ascii") as status:  # noqa: PTH123 - no Path needed for one line
            line = next(line for line in status if line.startswith("Umask:"))
        return int(line.split()[1], 8)
    except (OSError, StopIteration, ValueError):
        return 0o022
