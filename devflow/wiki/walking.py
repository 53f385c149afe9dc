"""Which pages a knowledge base has right now, from the folder alone; links are not followed, and no file is opened."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from stat import S_ISREG

from devflow.wiki import layout

Stamp = tuple[int, int, int]
"""Tells one state of a file from another: `mtime_ns`, `size` and `ctime_ns`.

The third is what tells a change that keeps the other two: two pages that were swapped, a time that was put back, a
permission that was taken away. Where the system keeps the time of creation there (Windows) it tells less. The inode is
left out: some network folders give a file another one each time.
"""
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


@dataclass(slots=True)
class Walked:
    """`folders` has the pages of each folder by name; "" is the base's own. They are kept apart so that two walks are
    compared folder by folder, which for ten thousand pages costs next to nothing.

    `closed` are folders that could not be read: nothing is known about what they hold. `unnamed` are pages and folders
    whose names are not text in any encoding of this system; they are given with marks in the place of what is not.
    """

    folders: dict[str, dict[str, Stamp]] = field(default_factory=dict)
    closed: list[str] = field(default_factory=list)
    unnamed: list[str] = field(default_factory=list)

    def is_closed(self, folder: str) -> bool:
        """Whether the folder could not be read, or lies in one that could not."""
        return any(not each or folder == each or folder.startswith(f"{each}/") for each in self.closed)

    @property
    def count(self) -> int:
        return sum(map(len, self.folders.values()))

    def paths(self) -> Iterator[str]:
        return (joined(folder, name) for folder, names in self.folders.items() for name in names)


def joined(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def parted(path: str) -> tuple[str, str]:
    """The folder of a page ("" for the base's own) and its name in it."""
    folder, _, name = path.rpartition("/")
    return folder, name


def walk(root: Path) -> Walked:
    """Every `.md` file under `wiki/` that is no link and in no hidden folder, and the pages at the root."""
    walked = Walked()
    top = str(root)
    own: dict[str, Stamp] = {}
    for name in layout.META_PAGES:
        try:
            found = os.lstat(os.path.join(top, name))  # noqa: PTH118 - ten thousand of these must cost little
        except FileNotFoundError:
            continue
        except OSError:
            return Walked(closed=[""])
        if S_ISREG(found.st_mode):
            own[name] = (found.st_mtime_ns, found.st_size, found.st_ctime_ns)
    walked.folders[""] = own
    folders = [layout.WIKI]
    while folders:
        here = folders.pop()
        try:
            walked.folders[here], below, odd = _pages_in(os.path.join(top, here))  # noqa: PTH118
        except FileNotFoundError:
            if here == layout.WIKI and not own and not os.path.exists(os.path.join(top, layout.MARKER)):  # noqa: PTH110, PTH118
                return Walked(closed=[""])  # the folder was moved away, or its disk is gone and left an empty one
        except NotADirectoryError:
            continue  # a link, or something else by now
        except OSError as error:
            if not _is_link(os.path.join(top, here), error):  # noqa: PTH118
                walked.closed.append(here)
        else:
            folders += [f"{here}/{name}" for name in below]
            walked.unnamed += [_marked(f"{here}/{name}") for name in odd]
    return walked


_Found = tuple[dict[str, Stamp], list[str], list[str]]


def _pages_in(folder: str) -> _Found:
    """The pages right in it, the folders, and what has no name that can be written.

    The system finds each name from the folder that is open, not from the top, and a folder that became a link in the
    meantime is not entered.
    """
    if os.scandir not in os.supports_fd:
        if os.path.islink(folder):  # noqa: PTH114
            return {}, [], []
        with os.scandir(folder) as entries:
            return _sorted_out(entries)
    descriptor = os.open(folder, _FOLDER)
    try:
        with os.scandir(descriptor) as entries:
            return _sorted_out(entries)
    finally:
        os.close(descriptor)


def _sorted_out(entries: Iterator[os.DirEntry[str]]) -> _Found:
    pages: dict[str, Stamp] = {}
    below: list[str] = []
    odd: list[str] = []
    for entry in entries:
        name = entry.name
        if name.startswith("."):
            continue
        if name.endswith(layout.SUFFIX) and entry.is_file(follow_symlinks=False):
            if not name.isascii() and not _is_text(name):
                odd.append(name)
                continue
            try:
                found = entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue  # it went while the folder was read
            pages[name] = (found.st_mtime_ns, found.st_size, found.st_ctime_ns)
        elif entry.is_dir(follow_symlinks=False):
            (below if _is_text(name) else odd).append(name)
    return pages, below, odd


def _is_text(name: str) -> bool:
    """Python gives bytes that are no text as halves of pairs, which can be neither stored nor shown."""
    return not any("\ud800" <= char <= "\udfff" for char in name)


def _marked(path: str) -> str:
    return "".join(char if _is_text(char) else "\ufffd" for char in path)


def _is_link(folder: str, error: OSError) -> bool:
    """Opening a link without following it is refused with one of several numbers, by the system."""
    return not isinstance(error, PermissionError) and os.path.islink(folder)  # noqa: PTH114
