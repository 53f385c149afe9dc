"""Writing the library: a zip, a folder or one JSON file, by the name that is given; whole, or not at all."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

from devflow.domain.errors import Refused
from devflow.domain.messages import N_
from devflow.sharing.writing import NotExported, write_whole
from devflow.store.library_copy import CopiedEntry, LibraryCopy
from devflow.transfer import as_files

Report = Callable[[int, int], None]
"""Hears how many of how many are done; may raise to stop."""
ZIP_AT = (1980, 1, 1, 0, 0, 0)
"""Of every file in a zip: when it was written says nothing, and the bytes must not depend on it."""


def write(copy: LibraryCopy, target: Path, report: Report = lambda _done, _total: None) -> None:
    """By its suffix: `.zip`, `.json`, else a folder. Blocks; raises NotExported, and Refused (`check_target`)."""
    check_target(target)
    match target.suffix.lower():
        case ".zip":
            write_whole(target, lambda new: _zip(copy, new, report))
        case ".json":
            write_whole(target, lambda new: _json(copy, new, report))
        case _:
            _folder(copy, target, report)


def check_target(target: Path) -> None:
    """Refuse what the export would destroy: a file or a folder that is no export of ours. Blocks."""
    try:
        if not os.path.lexists(target):
            if not target.parent.is_dir():
                raise Refused(
                    N_("There is no folder {path}."), N_("Make it first, or choose another one."), path=target.parent
                )
            return
        ours = _is_ours(target)
    except OSError as error:
        raise NotExported(
            N_("The file {path} cannot be written: {reason}."),
            N_("Choose another folder, or free some space."),
            path=target,
            reason=error.strerror or str(error),
        ) from error
    if not ours:
        raise Refused(
            N_("{path} is there already, and is no exported library."), N_("Choose another name."), path=target
        )


def _is_ours(target: Path) -> bool:
    match target.suffix.lower():
        case ".zip":
            with contextlib.suppress(zipfile.BadZipFile), zipfile.ZipFile(target) as archive:
                return as_files.MANIFEST in archive.namelist()
            return False
        case ".json":
            with target.open("rb") as file:
                return b'"devflow_library"' in file.read(400)
        case _:
            if target.is_symlink() or not target.is_dir():
                return False
            names = {child.name for child in target.iterdir()}
            return (
                not names
                or as_files.MANIFEST in names
                and names <= {as_files.MANIFEST, as_files.README, as_files.FOLDER}
            )


def _files(copy: LibraryCopy, report: Report) -> Iterator[tuple[str, bytes]]:
    names = as_files.Names()
    yield as_files.MANIFEST, as_files.pretty(as_files.manifest(len(copy.entries), copy.links, copy.dismissals))
    yield as_files.README, as_files.README_TEXT.encode()
    for done, entry in enumerate(copy.entries):
        report(done, len(copy.entries))
        yield from as_files.entry_files(entry, names.of(entry))
    report(len(copy.entries), len(copy.entries))


def _zip(copy: LibraryCopy, new: Path, report: Report) -> None:
    with zipfile.ZipFile(new, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for name, data in _files(copy, report):
            info = zipfile.ZipInfo(name, ZIP_AT)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.create_system = 3
            info.external_attr = 0o100644 << 16
            archive.writestr(info, data)


def _json(copy: LibraryCopy, new: Path, report: Report) -> None:
    """One entry at a time, so that the text of a large library does not stand in memory twice."""
    head = as_files.manifest(len(copy.entries), copy.links, copy.dismissals)
    with new.open("w", encoding="utf-8", newline="\n") as file:
        file.write('{\n"devflow_library": ' + str(as_files.FORMAT))
        for name in ("entry_count", "links", "not_contradicting"):
            file.write(f',\n"{name}": ' + json.dumps(head[name], ensure_ascii=False, indent=1, sort_keys=True))
        file.write(',\n"entries": [')
        for done, entry in enumerate(copy.entries):
            report(done, len(copy.entries))
            file.write(("," if done else "") + "\n" + _entry_text(entry))
        file.write("\n]\n}\n")


def _entry_text(entry: CopiedEntry) -> str:
    return json.dumps(as_files.entry_json(entry), ensure_ascii=False, indent=1, sort_keys=True)


def _folder(copy: LibraryCopy, target: Path, report: Report) -> None:
    """Beside it first; then the two change places, so that what was there is whole until the new one is."""
    mark = secrets.token_hex(6)
    new, old = (target.with_name(f".devflow-{mark}.{word}") for word in ("part", "old"))
    try:
        (new / as_files.FOLDER).mkdir(parents=True)
        for name, data in _files(copy, report):
            (new / name).write_bytes(data)
        if target.exists():
            target.rename(old)
        try:
            new.rename(target)
        except OSError:
            if old.exists():
                old.rename(target)
            raise
    except OSError as error:
        raise NotExported(
            N_("The folder {path} cannot be written: {reason}."),
            N_("Choose another folder, or free some space."),
            path=target,
            reason=error.strerror or str(error),
        ) from error
    finally:
        for left in (new, old):
            shutil.rmtree(left, ignore_errors=True)
