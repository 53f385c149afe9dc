"""Names inside a workspace, checked before any of them reaches the system."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

from devflow.tools.refusal import ToolRefused

Parts = tuple[str, ...]

_NAME_MAX = 255
_DEPTH_MAX = 64


def parts_of(path: str, root: Path) -> Parts:
    """The names from the workspace down; the empty tuple is the workspace itself. Raises `ToolRefused`.

    An absolute path inside the workspace is taken too: models often send one.
    """
    shown = visible(path)
    if "\x00" in path:
        raise ToolRefused("The path holds a NUL character.")
    if any("\ud800" <= char <= "\udfff" for char in path):
        raise ToolRefused("The path holds a character that no file name has (half of a surrogate pair).")
    text = path.strip().replace("\\", "/") if _is_windows_like(root) else path.strip()
    for prefix in (str(root), root.as_posix()):
        if text == prefix or text.startswith(prefix.rstrip("/") + "/"):
            text = text[len(prefix) :].lstrip("/")
            break
    else:
        if text.startswith(("/", "~")) or re.match(r"^[A-Za-z]:", text):
            raise ToolRefused(f"{shown} is outside the project folder. Use a path relative to it.")
    parts = tuple(part for part in text.split("/") if part not in ("", "."))
    if ".." in parts:
        raise ToolRefused(f"{shown} goes up with '..'. Use a path inside the project folder.")
    return checked(parts, path)


def checked(parts: Parts, path: str) -> Parts:
    """Names that can be opened one below the other; raises `ToolRefused`, naming `path`."""
    shown = visible(path)
    if any("\ud800" <= char <= "\udfff" for part in parts for char in part):
        raise ToolRefused(f"{shown} is no name in this system's encoding.")
    if len(parts) > _DEPTH_MAX or any(len(part.encode()) > _NAME_MAX for part in parts):
        raise ToolRefused(f"{shown[:200]} is too long for a path.")
    for part in parts:
        if is_protected(part):
            raise ToolRefused(f"{shown} is protected: tools do not open .git, .env* or DevFlow's own data.")
    return parts


def is_protected(name: str) -> bool:
    """Names that no file tool opens, read or write, whatever their letter case (some file systems ignore it)."""
    # Some file systems also ignore invisible characters, and NTFS knows `.git` by its short name too.
    folded = "".join(c for c in name if unicodedata.category(c) != "Cf").casefold().rstrip(". ")
    return folded == ".git" or folded.startswith((".env", "git~"))


def visible(text: str) -> str:
    """Control and bidirectional characters shown, not rendered."""
    return "".join(char if char.isprintable() else f"\\x{ord(char):02x}" for char in text) or "(empty)"


def joined(parts: Parts) -> str:
    return "/".join(parts) or "."


def _is_windows_like(root: Path) -> bool:
    return "\\" in str(root)
