"""What the confined file access of each system gives back."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class FileState:
    """A regular file as it was read: its bytes, permission bits, and how many names it has."""

    data: bytes
    mode: int
    links: int


@dataclass(frozen=True, slots=True)
class DirItem:
    """`kind` is folder, file, symbolic link, FIFO, …; `size` is in bytes; a protected one is not opened.

    `links` is how many names a file has, as far as the system tells it here.
    """

    name: str
    kind: str
    size: int
    protected: bool = False
    links: int = 1


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder that is held open. Where there are descriptors, `descriptor` is it, whatever `path` has become."""

    path: Path
    descriptor: int | None = None
