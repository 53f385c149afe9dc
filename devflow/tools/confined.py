"""What the confined file access of each system gives back."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FileState:
    """A regular file as it was read: its bytes, permission bits, and how many names it has."""

    data: bytes
    mode: int
    links: int


@dataclass(frozen=True, slots=True)
class DirItem:
    """`kind` is folder, file, symbolic link, FIFO, …; `size` is in bytes; a protected one is not opened."""

    name: str
    kind: str
    size: int
    protected: bool = False
