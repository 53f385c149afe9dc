"""The project folder as file tools see it: nothing above it, nothing beside it, nothing through a link.

`.git`, `.env*` and DevFlow's data directory are protected. Everything here blocks: call it on a thread.
"""

from __future__ import annotations

import contextlib
import hashlib
import sys
from dataclasses import dataclass
from pathlib import Path

from devflow.tools.confined import DirItem, FileState, Folder
from devflow.tools.paths import Parts, checked, joined, parts_of, visible
from devflow.tools.refusal import ToolRefused

if sys.platform == "win32":
    from devflow.tools import confined_windows as confined
else:
    from devflow.tools import confined_posix as confined

FILE_MAX = 10 * 1024 * 1024  # bytes of a file that is opened at all


@dataclass(frozen=True, slots=True)
class Workspace:
    """`root` is absolute; `home` is DevFlow's data directory."""

    root: Path
    home: Path

    def parts(self, path: str | Parts) -> Parts:
        """The checked names of a path that a model sent, or of one that a scan found; raises `ToolRefused`."""
        return parts_of(path, self.root) if isinstance(path, str) else checked(path, joined(path))

    def relative(self, path: str) -> str:
        """The path as rules and cards show it: relative to the workspace, with `/`."""
        return joined(self.parts(path))

    def scan(self, path: str | Parts) -> list[DirItem]:
        """What stands in a directory, folders first, by name."""
        items = confined.scan(self.root, (self.home,), self.parts(path))
        return sorted(items, key=lambda item: (item.kind != "folder", item.name.casefold(), item.name))

    def opened(self, path: str) -> contextlib.AbstractContextManager[Folder]:
        """A folder, held while something runs in it."""
        return confined.opened(self.root, (self.home,), self.parts(path))

    def read(self, path: str | Parts) -> FileState:
        return confined.read(self.root, (self.home,), self.parts(path), FILE_MAX)

    def read_for_writing(self, path: str) -> FileState | None:
        """The file that a write would replace, or None if it would make a new one."""
        parts = self.parts(path)
        found = confined.read_if_there(self.root, (self.home,), parts, FILE_MAX)
        if found is not None and found.links > 1:
            raise ToolRefused(
                f"{visible(joined(parts))} has several names (hard links), and another may lie outside the project: "
                "it is not written."
            )
        return found

    def replace(self, path: str, data: bytes, expected: FileState | None) -> bool:
        """Write at once, or not at all and return False if the file is not `expected` any more."""
        parts = self.parts(path)
        if not parts:
            raise ToolRefused("The project folder is a folder, not a file.")
        return confined.replace(self.root, (self.home,), parts, data, expected, FILE_MAX)


def content_hash(state: FileState | None) -> str:
    """What a diff was made from: the hash of the bytes, or an empty string for a file that does not exist."""
    return "" if state is None else hashlib.sha256(state.data).hexdigest()
