"""Which files of the workspace a search reads: not those that `.gitignore` names, not protected ones, no links.

Nor files with several names (hard links), one of which may lie outside: a search asks nobody (decision 21).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from devflow.tools.confined import DirItem
from devflow.tools.encodings import decode
from devflow.tools.ignore_rules import IgnoreRule, ignore_rules, verdict
from devflow.tools.paths import Parts
from devflow.tools.refusal import ToolRefused
from devflow.tools.search_budget import SearchBudget
from devflow.tools.workspace import FILE_MAX, Workspace

FILES_MAX = 20_000
_IGNORE_FILE = ".gitignore"
_IGNORE_MAX = 1_000_000  # bytes


@dataclass(slots=True)
class Found:
    """The files to search, in order, and what is not among them for a reason that the model should know."""

    files: list[Parts] = field(default_factory=list)
    too_large: int = 0
    several_names: int = 0
    closed: int = 0
    full: bool = False
    late: bool = False


Layers = tuple[tuple[int, tuple[IgnoreRule, ...]], ...]
"""Rules by the depth of the folder that they stand in, from the workspace down."""


def files_below(workspace: Workspace, path: str, globs: Sequence[IgnoreRule], budget: SearchBudget) -> Found:
    """The files in a folder and below, or the one file that `path` names; raises `ToolRefused` if it is neither.

    A folder that is asked for by name is searched though a rule ignores it.
    """
    parts = workspace.parts(path)
    found = Found()
    try:
        items = workspace.scan(parts)
    except ToolRefused:
        workspace.read(parts)  # or say what it is
        found.files.append(parts)
        return found
    layers: Layers = ()
    for depth in range(len(parts)):
        layers += _rules_in(workspace, parts[:depth])
    _walk(workspace, parts, items, layers, globs, budget, found)
    return found


def _walk(
    workspace: Workspace,
    parts: Parts,
    items: list[DirItem],
    layers: Layers,
    globs: Sequence[IgnoreRule],
    budget: SearchBudget,
    found: Found,
) -> None:
    if any(item.name == _IGNORE_FILE for item in items):
        layers += _rules_in(workspace, parts)
    for item in items:
        found.full = found.full or len(found.files) >= FILES_MAX
        found.late = found.late or budget.spent
        if found.full or found.late:
            return
        below = (*parts, item.name)
        folder = item.kind == "folder"
        if item.protected or not (folder or item.kind == "file") or _ignored(layers, below, folder=folder):
            continue
        if folder:
            try:
                inner = workspace.scan(below)
            except ToolRefused:
                found.closed += 1
                continue
            _walk(workspace, below, inner, layers, globs, budget, found)
        elif not globs or any(rule.matches(below, folder=False) != rule.negated for rule in globs):
            if item.size > FILE_MAX:
                found.too_large += 1
            elif item.links > 1:
                found.several_names += 1
            else:
                found.files.append(below)


def _ignored(layers: Layers, parts: Parts, *, folder: bool) -> bool:
    """The rules nearest to the file come first; of one file of rules the last that matches counts."""
    for depth, rules in reversed(layers):
        said = verdict(rules, parts[depth:], folder=folder)
        if said is not None:
            return said
    return False


def _rules_in(workspace: Workspace, parts: Parts) -> Layers:
    """What the folder's `.gitignore` says; one that is a link, huge or no text says nothing."""
    try:
        data = workspace.read((*parts, _IGNORE_FILE)).data
        if len(data) > _IGNORE_MAX:
            return ()
        rules = ignore_rules(decode(data, _IGNORE_FILE)[0])
    except ToolRefused:
        return ()
    return ((len(parts), rules),) if rules else ()
