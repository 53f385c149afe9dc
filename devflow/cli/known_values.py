"""Values that arguments can take, by the arguments' names: words of the domain, and what a home's database has."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence

from devflow.cli.completing import Choice, Completion
from devflow.domain.knowledge import Kind, Status

ENTRIES = {"approve": "waiting", "status": "waiting", "reuse": "published", "restore": "archived"}
"""Which entries an act of `knowledge` is about; every other is about those that are not archived."""

STORED = {
    **{name: name for name in ("template", "conversation", "provider", "project")},
    "server": "mcp_server",
}
"""The argument's name → what is stored under it."""
SORTS = ("updated", "created", "reuse", "confidence", "title")
FOLDERS_TOO = frozenset({"base", "kb", "project", "workspace"})


def of(act: Sequence[str], action: argparse.Action, typed: str, home: str | None) -> Completion:
    """Of the argument of an act (`["knowledge", "get"]`), as far as they are known; `typed`: the beginning."""
    files = "folders" if action.dest in FOLDERS_TOO else ""
    match action.dest:
        case "kind":
            return _words(Kind)
        case "status":
            return _words(Status)
        case "sort":
            return _words(SORTS)
        case "key":
            return _keys(act)
        case "preset":
            return _presets()
        case "id" | "ids":
            return Completion(_stored(ENTRIES.get(act[-1], "entry"), typed, home))
        case "base" | "kb":
            return Completion(_stored("base", typed, home), "folders")
        case dest if dest in STORED:
            return Completion(_stored(STORED[dest], typed, home), "folders" if files else "")
        case _:
            return Completion(files="folders" if files else "")


def _words(words: Iterable[str]) -> Completion:
    return Completion(tuple(Choice(str(word)) for word in words))


def _keys(act: Sequence[str]) -> Completion:
    from devflow.cli import config, more_settings
    from devflow.domain.config import KEY

    groups = (KEY, "appearance", *more_settings.GROUPS) if act[-1] == "get" else ()
    return _words((*config.KEYS, *groups))


def _presets() -> Completion:
    from devflow.app.paths import named_paths
    from devflow.providers.presets import presets

    return Completion(tuple(Choice(one.id, one.name) for one in presets(named_paths().resources)))


def _stored(what: str, typed: str, home: str | None) -> tuple[Choice, ...]:
    from pathlib import Path

    from devflow.app.paths import NoDataDirectory, named_paths
    from devflow.store.names import names

    try:
        database = named_paths(Path(home) if home else None).database
    except NoDataDirectory:
        return ()
    return tuple(Choice(name, about) for name, about in names(database, what, typed))
