"""Reading an export of ours: a folder, a zip, or one JSON file. A bad entry is left out by name, the rest goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, TypeVar

from devflow.domain.errors import UserFacing
from devflow.domain.foreign_json import loads
from devflow.domain.knowledge import EntryDraft, Kind
from devflow.domain.messages import N_
from devflow.store.library_copy import CopiedDismissal, CopiedEntry, CopiedLink, LibraryCopy
from devflow.transfer import as_files, front_matter
from devflow.transfer.files import DATA_MAX, Files, SourceFile
from devflow.transfer.pieces import Bad, BadFile, Format, Piece, Read, key_of

Report = Callable[[int, int], None]
T = TypeVar("T")


@dataclass(slots=True)
class _Library:
    entries: dict[str, CopiedEntry] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    bad: list[Bad] = field(default_factory=list)

    def take(self, entry: CopiedEntry, file: str) -> None:
        if entry.id in self.entries:
            raise BadFile(N_("another file has the same id: {file}"), "", file=self.files[entry.id])
        self.entries[entry.id] = entry
        self.files[entry.id] = file


def manifest_of(files: Files) -> SourceFile | None:
    """The file that says that this is a library of ours, at its root or in its one folder."""
    found = [file for file in files.files if file.base == as_files.MANIFEST and file.name.count("/") <= 1]
    return min(found, key=lambda file: file.name.count("/"), default=None)


def read_files(files: Files, manifest: SourceFile, report: Report) -> Read:
    """Raises BadFile where the manifest itself cannot be used."""
    head = to_json(files.exact(manifest, DATA_MAX))
    _check_head(head)
    root = PurePosixPath(manifest.name).parent
    folder = (root / as_files.FOLDER).as_posix()
    there = {file.name: file for file in files.files}
    entries = [file for file in files.files if file.name.startswith(f"{folder}/") and file.suffix == as_files.MARKDOWN]
    library = _Library()
    for done, file in enumerate(entries):
        report(done, len(entries))
        beside = there.get(file.name.removesuffix(as_files.MARKDOWN) + as_files.TIMELINE)
        at = file.name
        try:
            if beside is None:
                raise BadFile(N_("the timeline beside it is missing"), N_("Export the library again."))
            text = files.exact(file)
            parts = front_matter.read(text)
            at = beside.name
            timeline = to_json(files.exact(beside))
            at = file.name
            library.take(_entry(parts.fields, front_matter.own_body(text), timeline), file.name)
        except UserFacing as problem:
            library.bad.append(Bad(at, getattr(problem, "line", 0), problem))
    return _read(library, head)


def read_json(value: Mapping[str, Any], file: str, report: Report) -> Read:
    """One JSON file, parsed already."""
    _check_head(value)
    listed = value.get("entries")
    if not isinstance(listed, list):
        raise _not_ours("entries")
    library = _Library()
    for done, each in enumerate(listed):
        report(done, len(listed))
        try:
            if not isinstance(each, dict) or not isinstance(each.get("content"), str):
                raise _not_ours("content")
            library.take(_entry(each, each["content"], each.get("timeline")), file)
        except UserFacing as problem:
            name = each.get("title") if isinstance(each, dict) else None
            library.bad.append(Bad(f"{file} › {name if isinstance(name, str) and name else done + 1}", 0, problem))
    return _read(library, value)


def to_json(text: str) -> Any:
    """Raises BadFile, which names the line."""
    try:
        return loads(text)
    except ValueError as error:
        raise BadFile(
            N_("it is no JSON: {problem}"),
            N_("Export it again."),
            line=getattr(error, "lineno", 0),
            problem=getattr(error, "msg", str(error)),
        ) from error


def _entry(fields: Mapping[str, Any], content: str, timeline: Any) -> CopiedEntry:
    try:
        return as_files.to_entry(fields, content, timeline)
    except as_files.NotOurs as error:
        raise _not_ours(str(error)) from error


def _read(library: _Library, head: Mapping[str, Any]) -> Read:
    entries = tuple(sorted(library.entries.values(), key=lambda entry: (entry.created_at, entry.id)))
    copy = LibraryCopy(entries, tuple(_links(head, library.bad)), tuple(_dismissals(head, library.bad)))
    pieces = tuple(_piece(entry, library.files[entry.id]) for entry in entries)
    return Read(pieces, bad=tuple(library.bad), library=copy)


def _piece(entry: CopiedEntry, file: str) -> Piece:
    """The entry as a candidate, for a library that has entries already. It keeps neither status nor timeline."""
    made = EntryDraft(
        kind=Kind(entry.kind),
        title=entry.title,
        content=entry.content,
        tags=entry.tags,
        confidence=entry.confidence,
        source_ref=f"import:{Format.DEVFLOW}",
        evidence=entry.evidence,
    )
    return Piece(
        key_of(Format.DEVFLOW, entry.id), Format.DEVFLOW, file, 1, made, entry.project or "", entry_id=entry.id
    )


def _links(head: Mapping[str, Any], bad: list[Bad]) -> Iterator[CopiedLink]:
    yield from _each(head, "links", as_files.to_link, bad)


def _dismissals(head: Mapping[str, Any], bad: list[Bad]) -> Iterator[CopiedDismissal]:
    yield from _each(head, "not_contradicting", as_files.to_dismissal, bad)


def _each(head: Mapping[str, Any], name: str, to: Callable[[Any], T], bad: list[Bad]) -> Iterator[T]:
    try:
        listed = head.get(name)
        if not isinstance(listed, list):
            raise as_files.NotOurs(name)
        yield from [to(each) for each in listed]
    except as_files.NotOurs as error:
        bad.append(Bad(as_files.MANIFEST, 0, _not_ours(str(error))))


def _check_head(value: Any) -> None:
    version = value.get("devflow_library") if isinstance(value, dict) else None
    if not isinstance(version, int):
        raise _not_ours("devflow_library")
    if version > as_files.FORMAT:
        raise BadFile(N_("a newer DevFlow wrote it"), N_("Update DevFlow."))


def _not_ours(field: str) -> BadFile:
    return BadFile(
        N_("its {field} is missing, or not as DevFlow writes it"), N_("Export the library again."), field=field
    )
