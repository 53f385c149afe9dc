"""Which pages a knowledge base has right now, from the folder alone; links are not followed."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from stat import S_ISREG

from devflow.wiki import layout


@dataclass(frozen=True, slots=True)
class Stamp:
    """What tells one state of a file from another."""

    mtime_ns: int
    size: int


@dataclass(slots=True)
class Walked:
    """`stamps` by path; `closed` are folders that could not be read: nothing is known about what they hold."""

    stamps: dict[str, Stamp] = field(default_factory=dict)
    closed: list[str] = field(default_factory=list)

    def is_closed(self, path: str) -> bool:
        """Whether the page lies in a folder that could not be read."""
        return any(not folder or path.startswith(f"{folder}/") for folder in self.closed)


def walk(root: Path) -> Walked:
    """Every `.md` file under `wiki/` that is no link and in no hidden folder, and the pages at the root."""
    walked = Walked()
    top = str(root)
    for name in layout.META_PAGES:
        try:
            found = os.lstat(os.path.join(top, name))  # noqa: PTH118 - ten thousand of these must cost little
        except FileNotFoundError:
            continue
        except OSError:
            walked.closed.append("")
            return walked
        if S_ISREG(found.st_mode):
            walked.stamps[name] = Stamp(found.st_mtime_ns, found.st_size)
    if not os.path.islink(os.path.join(top, layout.WIKI)):  # noqa: PTH114, PTH118
        _walk_into(top, layout.WIKI, walked)
    return walked


def _walk_into(top: str, folder: str, walked: Walked) -> None:
    folders = [folder]
    while folders:
        here = folders.pop()
        try:
            with os.scandir(os.path.join(top, here)) as entries:  # noqa: PTH118
                for entry in entries:
                    name = entry.name
                    if name.startswith("."):
                        continue
                    if name.endswith(layout.SUFFIX) and entry.is_file(follow_symlinks=False):
                        if name != layout.SUFFIX:
                            stat = entry.stat(follow_symlinks=False)
                            walked.stamps[f"{here}/{name}"] = Stamp(stat.st_mtime_ns, stat.st_size)
                    elif entry.is_dir(follow_symlinks=False):
                        folders.append(f"{here}/{name}")
        except FileNotFoundError:
            if here == layout.WIKI and not os.path.isdir(top):  # noqa: PTH112
                walked.closed.append("")  # the whole folder was moved away, or its disk is gone
        except NotADirectoryError:
            continue
        except OSError:
            walked.closed.append(here)
