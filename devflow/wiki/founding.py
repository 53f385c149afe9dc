"""Making a folder a knowledge base (spec 02): nothing is overwritten unasked, and a failure leaves nothing behind."""

from __future__ import annotations

import contextlib
import os
import shutil
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from devflow.domain.errors import InvalidInput, Refused
from devflow.domain.messages import N_
from devflow.domain.text.storable import is_storable
from devflow.wiki import layout
from devflow.wiki.page import fingerprint, without_comments

PURPOSE_MAX = 2_000
SOURCES = (".md", ".txt", ".pdf", ".docx", ".html")
"""What a digest can read."""
SAMPLES = 5
SURVEY_MAX = 20_000
"""So many files are counted at most."""
BACKUP = ".devflow-backup"


class WouldOverwrite(Refused):
    """Files that initialising would write are there already; `files` are relative to the folder."""

    code = "would_overwrite"

    def __init__(self, folder: Path, files: Sequence[str]) -> None:
        self.files = tuple(files)
        super().__init__(
            N_("{folder} already has {files}."),
            N_("Allow them to be replaced; they are copied into a backup folder first."),
            folder=folder.name,
            files=", ".join(files),
        )


class Sites:
    """The folders that are being initialised right now, so that none is twice at once."""

    def __init__(self) -> None:
        self._busy: set[str] = set()
        self._guard = threading.Lock()

    @contextlib.contextmanager
    def alone(self, root: Path) -> Iterator[None]:
        """Raises `Refused` while somebody else is at the same folder, by whatever name it is called."""
        key = os.path.realpath(root).casefold()
        with self._guard:
            if key in self._busy:
                raise Refused(N_("{name} is being initialised already."), N_("Wait until it is done."), name=root.name)
            self._busy.add(key)
        try:
            yield
        finally:
            with self._guard:
                self._busy.discard(key)


@dataclass(frozen=True, slots=True)
class Survey:
    """What a folder holds that can be digested: how many by suffix, and the first names. `more`: and still more."""

    counts: Mapping[str, int]
    samples: tuple[str, ...]
    more: bool = False


def is_base(folder: Path) -> bool:
    """Whether the folder is a knowledge base already."""
    return (folder / layout.MARKER).is_file() or (folder / layout.WIKI).is_dir()


def survey(folder: Path) -> Survey:
    """Count what is there, hidden folders and `wiki/` left out."""
    counts: dict[str, int] = {}
    names: list[str] = []
    seen = 0
    for here, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name != layout.WIKI)
        for name in sorted(files):
            suffix = os.path.splitext(name)[1].lower()  # noqa: PTH122 - a whole Path for each file costs too much
            if suffix not in SOURCES or name.startswith("."):
                continue
            seen += 1
            if seen > SURVEY_MAX:
                return Survey(counts, tuple(names), more=True)
            counts[suffix] = counts.get(suffix, 0) + 1
            if len(names) < SAMPLES:
                names.append(Path(here, name).relative_to(folder).as_posix())
    return Survey(counts, tuple(names))


def initialise(folder: Path, purpose: str, *, at: datetime, sites: Sites, overwrite: bool = False) -> tuple[str, ...]:
    """Make an existing folder a knowledge base; returns the files that were replaced, after copying them to a backup.

    Raises `InvalidInput` for a folder that is not there or a purpose that is empty, `WouldOverwrite` where files are in
    the way, and `Refused` while the same folder is being initialised.
    """
    text = _checked(purpose)
    root = folder.resolve()
    with sites.alone(root):
        if not root.is_dir():
            raise InvalidInput(
                "folder", N_("There is no folder {path}."), N_("Choose an existing folder."), path=str(folder)
            )
        files = _files(root.name, text, at)
        there = tuple(name for name in files if (root / name).exists() or (root / name).is_symlink())
        if there and not overwrite:
            raise WouldOverwrite(root, there)
        with _undone_on_failure() as undo:
            if there:
                _back_up(root, there, at, undo)
            _found(root, files, there, undo)
    return there


def create(parent: Path, name: str, purpose: str, *, at: datetime, sites: Sites) -> Path:
    """A new folder that is a knowledge base; one of that name, whatever it is, is left as it is (`InvalidInput`)."""
    text = _checked(purpose)
    target = parent.resolve() / name.strip()
    if not name.strip() or target.parent != parent.resolve():
        raise InvalidInput("name", N_("{name} is no name for a folder."), N_("Choose another name."), name=repr(name))
    with sites.alone(target):
        try:
            target.mkdir()
        except FileExistsError:
            raise InvalidInput(
                "name", N_("There is already something named {name} there."), N_("Choose another name."), name=name
            ) from None
        with _undone_on_failure() as undo:
            undo.append(target.rmdir)
            _found(target, _files(target.name, text, at), (), undo)
    return target


Undo = list[Callable[[], object]]


@contextlib.contextmanager
def _undone_on_failure() -> Iterator[Undo]:
    undo: Undo = []
    try:
        yield undo
    except BaseException:
        for act in reversed(undo):
            with contextlib.suppress(OSError):  # what somebody else has put there meanwhile stays
                act()
        raise


def _back_up(root: Path, files: Sequence[str], at: datetime, undo: Undo) -> None:
    backup = root / f"{BACKUP}-{at:%Y%m%d-%H%M%S}"
    backup.mkdir()
    undo.append(backup.rmdir)
    for name in files:
        copy = backup / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(root / name, copy, follow_symlinks=False)
        undo.append(lambda name=name, copy=copy: _put_back(copy, root / name))  # type: ignore[misc]


def _put_back(copy: Path, file: Path) -> None:
    file.unlink(missing_ok=True)
    shutil.move(copy, file)
    for folder in copy.parents:
        if folder.name.startswith(BACKUP):
            break
        folder.rmdir()


def _found(root: Path, files: Mapping[str, str], replaced: Sequence[str], undo: Undo) -> None:
    """Write the files; only those of `replaced` may be there already. Raises `WouldOverwrite` for another."""
    for folder in layout.FOLDERS:
        _make(root, folder, undo)
    for name, text in files.items():
        target = root / name
        written = target.with_name(f".{target.name}.devflow-new")
        undo.append(lambda written=written: written.unlink(missing_ok=True))  # type: ignore[misc]
        written.write_text(text, encoding="utf-8", newline="\n")
        if name not in replaced:
            if os.path.lexists(target):  # somebody else was quicker
                raise WouldOverwrite(root, (name,))
            undo.append(target.unlink)
        written.replace(target)


def _make(root: Path, folder: str, undo: Undo) -> None:
    here = root
    for part in folder.strip("/").split("/"):
        here = here / part
        with contextlib.suppress(FileExistsError):
            here.mkdir()
            undo.append(here.rmdir)
        if not here.is_dir():
            raise InvalidInput(
                "folder", N_("{path} is a file, and a folder is needed there."), N_("Rename it first."), path=str(here)
            )


def _checked(purpose: str) -> str:
    text = " ".join(purpose.split())
    if not text:
        raise InvalidInput(
            "purpose", N_("The purpose is empty."), N_("Say in a sentence what the knowledge base is for.")
        )
    if not is_storable(text):
        raise InvalidInput("purpose", N_("The purpose holds characters that are no text."), N_("Write it anew."))
    return text[:PURPOSE_MAX]


def _files(name: str, purpose: str, at: datetime) -> dict[str, str]:
    """What is written. Only the marker, the purpose and empty frames: none of it says what the base will hold."""
    words = _ZH if any(map(_is_han, purpose)) else _EN
    marker = f"---\nschema: 1\nname: {name}\ncreated: {at:%Y-%m-%d}\n---\n\n# {name}\n\n{words['schema']}\n"
    return {
        layout.MARKER: marker,
        "purpose.md": _untouched(f"# {words['purpose']}\n\n{purpose}"),
        "index.md": _untouched(f"# {words['index']}\n\n<!-- {words['index_hint']} -->"),
        layout.LOG: f"# {words['log']}\n",
        layout.OVERVIEW: _untouched(f"# {words['overview']}\n\n<!-- {words['overview_hint']} -->"),
    }


def _untouched(body: str) -> str:
    mark = fingerprint(without_comments(body).strip("\n"))
    return f"---\nmade_by: init\nuntouched: {mark}\n---\n\n{body}\n"


def _is_han(char: str) -> bool:
    return "\u3400" <= char <= "\u9fff" or "\U00020000" <= char <= "\U0003ffff"


_EN = {
    "purpose": "Purpose",
    "index": "Index",
    "log": "Log",
    "overview": "Overview",
    "index_hint": "Digested pages are listed here.",
    "overview_hint": "What this knowledge base is about, once there is something in it.",
    "schema": (
        "A knowledge base of Markdown pages. `raw/` has originals and is never changed; everything below `wiki/` is"
        " searched: `entities/`, `topics/`, `sources/`, `comparisons/`, `queries/`, and digests in"
        " `synthesis/sessions/`. `purpose.md` says what it is for."
    ),
}
_ZH = {
    "purpose": "目的",
    "index": "索引",
    "log": "日志",
    "overview": "总览",
    "index_hint": "消化好的页面会列在这里。",
    "overview_hint": "有了内容之后，在这里写这个知识库讲什么。",
    "schema": (
        "由 Markdown 页面组成的知识库。`raw/` 存放原文，从不改动；`wiki/` 下的页面都会被检索：`entities/`、`topics/`、"
        "`sources/`、`comparisons/`、`queries/`，消化结果在 `synthesis/sessions/`。`purpose.md` 写明它的用途。"
    ),
}
