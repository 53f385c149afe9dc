"""Which file a reference means, and that it lies inside `wiki/` (spec 02, Safety)."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath, PureWindowsPath

from devflow.wiki import layout

PATH_MAX = 1_000


class OutsideWiki(ValueError):
    """The reference leads out of `wiki/`, or is no relative path; the message says which."""


def resolve_wiki_page_path(root: Path, reference: str) -> Path:
    """The real path of a page below `root/wiki/`, links followed; it need not exist. Raises `OutsideWiki`."""
    if PurePosixPath(reference).is_absolute() or PureWindowsPath(reference).anchor:
        raise OutsideWiki("a page's path must be relative to the knowledge base")
    if "\x00" in reference or "\\" in reference or len(reference) > PATH_MAX:
        raise OutsideWiki("a page's path must be inside wiki/")
    try:
        inside = Path(os.path.realpath(root / layout.WIKI))
        found = Path(os.path.realpath(root / os.path.normpath(reference)))
    except (OSError, ValueError) as error:
        raise OutsideWiki("a page's path must be inside wiki/") from error
    if found != inside and inside in found.parents:
        return found
    raise OutsideWiki("a page's path must be inside wiki/")


def page_path(root: Path, reference: str) -> str | None:
    """A reference as the index names the page (`wiki/a.md`), links followed; None where it leads out."""
    try:
        found = resolve_wiki_page_path(root, reference)
    except OutsideWiki:
        return None
    inside = Path(os.path.realpath(root / layout.WIKI))
    return f"{layout.WIKI}/{found.relative_to(inside).as_posix()}" if found.name.endswith(layout.SUFFIX) else None
