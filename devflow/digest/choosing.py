"""Which files a batch is to be made of: what a folder holds, and what is known of each before anything is sent.

Everything blocks: call it on a thread.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from devflow.digest.limits import BYTES_MAX
from devflow.domain.text.storable import is_storable
from devflow.wiki import layout
from devflow.wiki.founding import SOURCES

FILES_MAX = 5_000
"""So many files are chosen at once at most."""
_BLOCK = 1 << 20


class LeftOut(StrEnum):
    """Why a file cannot be digested, as far as a look at it tells."""

    KIND = "kind"
    LARGE = "large"
    EMPTY = "empty"
    GONE = "gone"
    IRREGULAR = "irregular"
    NAME = "name"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A file that was chosen; `inside` is its folder below the one that was named, `size` is in bytes."""

    path: Path
    inside: str = ""
    size: int = 0
    left_out: LeftOut | None = None


@dataclass(frozen=True, slots=True)
class Chosen:
    """`others` counts files of other kinds in the folders, by suffix; `more`: there were too many."""

    files: tuple[Candidate, ...] = ()
    others: tuple[tuple[str, int], ...] = ()
    more: bool = False


def found_files(given: Sequence[Path]) -> tuple[Path, ...]:
    """The files as absolute paths; a folder stands for what can be digested in it, hidden ones and `wiki/` not."""
    found: list[Path] = []
    for path in given:
        top = Path(os.path.abspath(path.expanduser()))  # noqa: PTH100 - links keep their own names
        found += [file for file in _inside(top) if _is_source(file)] if top.is_dir() else [top]
    return tuple(dict.fromkeys(found))


def look_at(given: Sequence[Path], already: Collection[Path] = ()) -> Chosen:
    """What was picked or dropped, each file once, without those that are `already` there."""
    known = set(already)
    files: list[Candidate] = []
    others: dict[str, int] = {}
    for path in given:
        top = Path(os.path.abspath(path.expanduser()))  # noqa: PTH100
        inside = _inside(top) if top.is_dir() else iter([top])
        for file in inside:
            if file != top and not _is_source(file):
                suffix = file.suffix.lower() or file.name
                others[suffix] = others.get(suffix, 0) + 1
            elif file not in known:
                if len(known) >= FILES_MAX:
                    return Chosen(tuple(files), _by_count(others), more=True)
                known.add(file)
                files.append(_candidate(file, top))
    return Chosen(tuple(files), _by_count(others))


def sha256_of(file: Path) -> str:
    """The hash of the file's content; empty where it cannot be read."""
    sha = hashlib.sha256()
    try:
        with file.open("rb") as stream:
            while block := stream.read(_BLOCK):
                sha.update(block)
    except OSError:
        return ""
    return sha.hexdigest()


def _inside(top: Path) -> Iterator[Path]:
    """Every file of a folder that a human would expect there; of a knowledge base not what the application wrote."""
    for here, folders, files in os.walk(top):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name != layout.WIKI)
        own = (*layout.META_PAGES, layout.LOG) if (Path(here) / layout.MARKER).is_file() else ()
        for name in sorted(files):
            file = Path(here, name)
            # A link may lead to what nobody meant to send anywhere; it can be named by itself.
            if not name.startswith(".") and name not in own and not file.is_symlink():
                yield file


def _is_source(file: Path) -> bool:
    return file.suffix.lower() in SOURCES


def _candidate(file: Path, top: Path) -> Candidate:
    inside = file.parent.relative_to(top).as_posix() if file != top else ""
    inside = "" if inside == "." else inside
    try:
        found = file.stat()
    except (OSError, ValueError):
        return Candidate(file, inside, left_out=LeftOut.GONE)
    return Candidate(file, inside, found.st_size, _why_not(file, found))


def _why_not(file: Path, found: os.stat_result) -> LeftOut | None:
    if not stat.S_ISREG(found.st_mode):
        return LeftOut.IRREGULAR
    if not _is_source(file):
        return LeftOut.KIND
    if not is_storable(str(file)):
        return LeftOut.NAME
    if found.st_size > BYTES_MAX:
        return LeftOut.LARGE
    return LeftOut.EMPTY if not found.st_size else None


def _by_count(others: dict[str, int]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(others.items(), key=lambda each: (-each[1], each[0])))
