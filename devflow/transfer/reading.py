"""From the paths that a human named to pieces, conversations and refusals: what each file is, is seen here. Blocks."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from devflow.domain.errors import UserFacing
from devflow.domain.messages import N_
from devflow.transfer import own
from devflow.transfer.files import DATA_MAX, Files, SourceFile
from devflow.transfer.pieces import Bad, BadFile, Read
from devflow.transfer.sources import chats, memory_graph, notes, rules

Report = Callable[[int, int], None]
"""Hears how many of how many files are read; may raise to stop."""
NOTES = (".md", ".markdown")
DATA = (".json", ".jsonl")
PLAIN = (".txt",)
"""Taken when it is named itself, not when it lies in a folder."""


def read(paths: Iterable[Path], report: Report = lambda _done, _total: None) -> Read:
    """Everything that the paths hold; two exports of ours at once are both read as candidates."""
    found = [_read_one(path, report) for path in paths]
    libraries = [each.library for each in found if each.library is not None]
    only = len(found) == 1 or (len(libraries) == 1 and all(each.library or not each.pieces for each in found))
    return Read(
        pieces=tuple(piece for each in found for piece in each.pieces),
        chats=tuple(chat for each in found for chat in each.chats),
        bad=tuple(bad for each in found for bad in each.bad),
        library=libraries[0] if libraries and only else None,
        ignored=sum(each.ignored for each in found),
    )


def _read_one(path: Path, report: Report) -> Read:
    shown = path.name or str(path)
    try:
        files = Files(path)
    except BadFile as problem:
        return Read(bad=(Bad(shown, problem.line, problem),))
    try:
        manifest = own.manifest_of(files)
        if manifest is not None:
            try:
                read = own.read_files(files, manifest, report)
            except UserFacing as problem:
                read = Read(bad=(Bad(manifest.name, getattr(problem, "line", 0), problem),))
        else:
            read = _others(files, report)
        return Read(read.pieces, read.chats, (*files.bad, *read.bad), read.library, read.ignored)
    finally:
        files.close()


def _others(files: Files, report: Report) -> Read:
    """Each file by itself: one that is bad is named, and the rest goes on."""
    vault = any(name.rpartition("/")[2] == ".obsidian" for name in files.hidden)
    single = len(files.files) == 1 and not files.path.is_dir()
    found: list[Read] = []
    ignored = 0
    for done, file in enumerate(files.files):
        report(done, len(files.files))
        try:
            one = _file(files, file, vault=vault, single=single, report=report)
        except UserFacing as problem:
            one = Read(bad=(Bad(file.name, getattr(problem, "line", 0), problem),))
        if one is None:
            ignored += 1
        else:
            found.append(one)
    report(len(files.files), len(files.files))
    return Read(
        pieces=tuple(piece for each in found for piece in each.pieces),
        chats=tuple(chat for each in found for chat in each.chats),
        bad=tuple(bad for each in found for bad in each.bad),
        library=next((each.library for each in found if each.library is not None), None) if len(found) == 1 else None,
        ignored=ignored,
    )


def _file(files: Files, file: SourceFile, *, vault: bool, single: bool, report: Report) -> Read | None:
    """None for a file of another kind. Raises what is wrong with it."""
    place = _place(files, file)
    if rules.is_rule_file(file.name):
        folder = str(Path(place).parent) if not files.is_archive else ""
        return Read(tuple(replace(piece, folder=folder) for piece in rules.read(files.text(file), file, place)))
    if any(part.startswith(".") for part in file.name.split("/")):
        return None
    if file.suffix in NOTES or (single and file.suffix in PLAIN):
        return Read(notes.read(files.text(file), file, place, vault=vault))
    if file.suffix in DATA and (single or _is_data(file)):
        return _data(files, file, place, report)
    if single:
        raise BadFile(N_("it is none of the formats that can be imported"), N_("`devflow import --help` names them."))
    return None


def _is_data(file: SourceFile) -> bool:
    """Of the JSON files in a folder, those that are named as an export names them."""
    return file.base.startswith("conversations") or (file.suffix == ".jsonl" and file.stem.startswith("memory"))


def _data(files: Files, file: SourceFile, place: str, report: Report) -> Read:
    text = files.text(file, DATA_MAX)
    if memory_graph.looks_like(text) or file.suffix == ".jsonl":
        return Read(memory_graph.read(text, file, place))
    value = own.to_json(text)
    del text
    if isinstance(value, dict) and "devflow_library" in value:
        return own.read_json(value, file.name, report)
    if isinstance(value, dict) and "entities" in value:
        return Read(memory_graph.read_graph(value, file, place))
    if isinstance(value, dict) and isinstance(value.get("conversations"), list):
        value = value["conversations"]
    if isinstance(value, dict) and chats.format_of([value]) is not None:
        value = [value]
    format = chats.format_of(value)
    if format is None:
        if value == []:
            return Read()
        raise BadFile(N_("it is none of the formats that can be imported"), N_("`devflow import --help` names them."))
    found, bad = chats.read(value, format, file.name)
    return Read(chats=found, bad=bad)


def _place(files: Files, file: SourceFile) -> str:
    """The file's place on this machine; only its hash is kept."""
    root = Path(os.path.realpath(files.path))
    return str(root / file.name if files.path.is_dir() or root.name != file.name else root)
