"""The files of a source, be it a file, a folder or a zip: read without trust. Blocks; run it on a thread.

Nothing is ever unpacked to the disk. A link that leads out of the folder is refused, and so is an archive that unfolds
to more than it may.
"""

from __future__ import annotations

import os
import stat
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

from devflow.domain.messages import N_
from devflow.domain.text.storable import is_storable
from devflow.transfer.pieces import Bad, BadFile
from devflow.wiki.decoding import decode

TEXT_MAX = 5 * 1024**2
"""Bytes of a note, a rule file or a timeline."""
DATA_MAX = 400 * 1024**2
"""Bytes of a JSON file: exported chats of years are large, and parsing takes some five times as much memory."""
TOTAL_MAX = 2 * 1024**3
FILES_MAX = 250_000
RATIO_MAX = 400
"""An archive's member that unfolds to more than this many times its size, and is not small, is made to do harm."""
RATIO_FROM = 16 * 1024**2

SKIPPED = frozenset({"node_modules", "__pycache__", "site-packages", "venv", "target"})
HIDDEN_TAKEN = frozenset({".cursor", ".windsurf", ".claude"})
"""Hidden folders that rules are kept in; all others are their program's own."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """`name` is relative to the source, with forward slashes; `size` in bytes, as far as is known."""

    name: str
    size: int

    @property
    def base(self) -> str:
        return PurePosixPath(self.name).name

    @property
    def suffix(self) -> str:
        return PurePosixPath(self.name).suffix.lower()

    @property
    def stem(self) -> str:
        return PurePosixPath(self.name).stem


class Files:
    """A source that is open. `label` is what it is called, `files` are sorted by name, `bad` could not be taken in."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.label = path.name or str(path)
        self.bad: list[Bad] = []
        self.hidden: set[str] = set()
        self._archive: zipfile.ZipFile | None = None
        self._total = 0
        try:
            if path.is_dir():
                found = list(self._walk(path))
            elif not path.exists():
                raise BadFile(N_("there is no such file"), N_("Check its name."))
            elif zipfile.is_zipfile(path):
                found = list(self._members(path))
            else:
                found = [SourceFile(path.name, path.stat().st_size)]
        except OSError as error:
            raise _unreadable(error) from error
        self.files = tuple(sorted(found, key=lambda file: file.name))

    @property
    def is_archive(self) -> bool:
        return self._archive is not None

    def close(self) -> None:
        if self._archive is not None:
            self._archive.close()

    def data(self, file: SourceFile, limit: int) -> bytes:
        """Raises BadFile for what cannot be read, or is larger than `limit` bytes."""
        try:
            with self._open(file) as opened:
                data = opened.read(limit + 1)
        except (OSError, zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, ValueError) as error:
            # RuntimeError: encrypted; NotImplementedError: a compression that Python lacks; ValueError: zlib's
            raise _unreadable(error) from error
        except Exception as error:  # zlib.error, lzma.LZMAError: no common class
            raise _unreadable(error) from error
        if len(data) > limit:
            raise BadFile(N_("it is larger than {limit} MB"), N_("Split it."), limit=limit // 1024**2)
        self._total += len(data)
        if self._total > TOTAL_MAX:
            raise BadFile(N_("all in all there is more than {limit} GB"), N_("Import it in parts."), limit=2)
        return data

    def text(self, file: SourceFile, limit: int = TEXT_MAX) -> str:
        """UTF-8, UTF-16 or GB18030, its line ends as `\\n`."""
        text = decode(self.data(file, limit))
        if text is None or not is_storable(text):
            raise BadFile(N_("it is no text in UTF-8, UTF-16 or GB18030"), N_("Save it as UTF-8."))
        return text

    def exact(self, file: SourceFile, limit: int = TEXT_MAX) -> str:
        """UTF-8, byte for byte; for what we wrote ourselves."""
        try:
            text = self.data(file, limit).decode()
        except UnicodeDecodeError as error:
            raise BadFile(N_("it is not UTF-8 any more"), N_("Save it as UTF-8."), line=0) from error
        return text

    def _open(self, file: SourceFile) -> IO[bytes]:
        if self._archive is not None:
            return self._archive.open(file.name)
        return (self.path / file.name if self.path.is_dir() else self.path).open("rb")

    # what there is --------------------------------------------------------------------------------------------------

    def _walk(self, root: Path) -> Iterator[SourceFile]:
        real_root = Path(os.path.realpath(root))
        count = 0
        for folder, folders, names in os.walk(root, followlinks=False):
            here = Path(folder)
            for name in list(folders):
                if name.startswith("."):
                    self.hidden.add((here / name).relative_to(root).as_posix())
                linked = (here / name).is_symlink()
                if linked and name not in SKIPPED and not name.startswith("."):
                    self._refuse_link((here / name).relative_to(root).as_posix())
                if linked or name in SKIPPED or (name.startswith(".") and name not in HIDDEN_TAKEN):
                    folders.remove(name)
            folders.sort()
            for name in sorted(names):
                path = here / name
                shown = path.relative_to(root).as_posix()
                if not is_storable(shown):  # bytes that are no UTF-8
                    continue
                try:
                    if path.is_symlink() and real_root not in Path(os.path.realpath(path)).parents:
                        self._refuse_link(shown)
                        continue
                    status = path.stat()
                except OSError as error:
                    self.bad.append(Bad(shown, 0, _unreadable(error)))
                    continue
                if not stat.S_ISREG(status.st_mode):
                    continue
                count += 1
                if count > FILES_MAX:
                    raise _too_many()
                yield SourceFile(shown, status.st_size)

    def _members(self, path: Path) -> Iterator[SourceFile]:
        try:
            self._archive = zipfile.ZipFile(path)
            infos = self._archive.infolist()
        except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
            raise BadFile(N_("it is no whole zip archive"), N_("Download it again.")) from error
        if len(infos) > FILES_MAX:
            raise _too_many()
        seen: set[str] = set()
        for info in infos:
            name = info.filename
            parts = PurePosixPath(name).parts
            if not parts or name.endswith("/") or name.startswith("__MACOSX/") or not is_storable(name):
                continue
            if name.startswith("/") or ".." in parts or "\\" in name or ":" in parts[0]:
                self.bad.append(Bad(name, 0, BadFile(N_("its name leads out of the archive"))))
            elif stat.S_ISLNK(info.external_attr >> 16):
                self._refuse_link(name)
            elif info.file_size > RATIO_FROM and info.file_size > RATIO_MAX * max(1, info.compress_size):
                self.bad.append(Bad(name, 0, BadFile(N_("it unfolds to far more than its size"))))
            elif name in seen:
                self.bad.append(Bad(name, 0, BadFile(N_("the archive holds two files of this name"))))
            elif any(part in SKIPPED or (part.startswith(".") and part not in HIDDEN_TAKEN) for part in parts[:-1]):
                self.hidden.add(next(part for part in parts if part in SKIPPED or part.startswith(".")))
            else:
                seen.add(name)
                yield SourceFile(name, info.file_size)

    def _refuse_link(self, name: str) -> None:
        self.bad.append(Bad(name, 0, BadFile(N_("it is a link that leads out of the source"))))


def _unreadable(error: Exception) -> BadFile:
    reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return BadFile(
        N_("it cannot be read: {reason}"), N_("Check that it is whole, and that you may read it."), reason=reason
    )


def _too_many() -> BadFile:
    return BadFile(N_("there are more than {limit} files"), N_("Choose a smaller folder."), limit=f"{FILES_MAX:,}")
