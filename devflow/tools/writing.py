"""What the tools that write files share: a diff before, the same bytes after, or a new diff instead.

The file keeps its encoding, byte order mark, line ends and permissions. It is replaced at once or not at all.
"""

from __future__ import annotations

import asyncio
import difflib
import re
from collections.abc import Mapping
from typing import Any

from devflow.domain.run import Risk
from devflow.tools.confined import FileState
from devflow.tools.encodings import TextForm, decode, encode, lines_of
from devflow.tools.file_tool import FileTool
from devflow.tools.paths import visible
from devflow.tools.policy import Effect
from devflow.tools.refusal import ToolRefused
from devflow.tools.tool import ToolContext, ToolOutcome, Voided
from devflow.tools.workspace import content_hash

DIFF_MAX = 200_000  # characters of a diff that are kept for the card
_EXACT_DIFF_LINES = 20_000
_CONTEXT = 3  # lines around a change
_HUNK = re.compile(r"^@@ -(\d+)((?:,\d+)?) \+(\d+)((?:,\d+)?) @@")
_CHANGED = "The file changed after its diff was shown."


class WritingTool(FileTool):
    """The beginning of a `Tool` that replaces a text file; `new_text` is what a tool of this kind adds."""

    risk = Risk.WRITES
    default = Effect.ASK

    def new_text(self, arguments: Mapping[str, Any], old: str | None, form: TextForm) -> str:
        """The file's whole new text; `old` has `\\n` for its line ends and is None for a file that does not exist."""
        raise NotImplementedError

    async def preview(self, arguments: Mapping[str, Any], ctx: ToolContext) -> Mapping[str, Any] | None:
        """`path`, `diff` (unified), `base_hash` (of the file the diff was made from), `exists`, `added`, `removed`."""
        return await asyncio.to_thread(self._preview, arguments)

    async def run(
        self, arguments: Mapping[str, Any], ctx: ToolContext, preview: Mapping[str, Any] | None = None
    ) -> ToolOutcome | Voided:
        """Write what was approved; `Voided` with a new diff if the file is no longer the one the diff was made from."""
        return await asyncio.to_thread(self._write, arguments, preview)

    def _preview(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        path = arguments["path"]
        before = self._workspace.read_for_writing(path)
        old, form = _text_of(before, path)
        new = self.new_text(arguments, None if before is None else old, form)
        encode(new, form)  # refused now rather than after the approval
        shown = self._workspace.relative(path)
        new = new.replace("\r\n", "\n") if form.newline == "\r\n" else new
        diff, added, removed = _diff(old, new, visible(shown), exists=before is not None)
        return {
            "path": shown,
            "exists": before is not None,
            "base_hash": content_hash(before),
            "diff": diff,
            "added": added,
            "removed": removed,
        }

    def _write(self, arguments: Mapping[str, Any], preview: Mapping[str, Any] | None) -> ToolOutcome | Voided:
        path = arguments["path"]
        before = self._workspace.read_for_writing(path)
        if preview is not None and preview.get("base_hash") != content_hash(before):
            return Voided(self._preview(arguments), _CHANGED)
        old, form = _text_of(before, path)
        data = encode(self.new_text(arguments, None if before is None else old, form), form)
        shown = visible(self._workspace.relative(path))
        if before is not None and before.data == data:
            return ToolOutcome(f"{shown} already has exactly this content; nothing was written.")
        if not self._workspace.replace(path, data, before):
            return Voided(self._preview(arguments), _CHANGED)
        done = "replaced" if before is not None else "created"
        kept = "" if form.encoding == "utf-8" else f" Its encoding, {form.encoding}, was kept."
        return ToolOutcome(f"{shown} was {done}: {len(data):,} bytes.{kept}")


def _text_of(before: FileState | None, path: str) -> tuple[str, TextForm]:
    if before is None:
        return "", TextForm()
    try:
        return decode(before.data, visible(path))
    except ToolRefused as refusal:
        raise ToolRefused(f"{refusal} A text does not replace it.") from None


def _diff(old: str, new: str, path: str, *, exists: bool) -> tuple[str, int, int]:
    """The unified diff, and how many lines it adds and removes. Only what lies between the equal ends is compared."""
    before, after = lines_of(old), lines_of(new)
    first, last = _equal_ends(before, after)
    low = max(0, first - _CONTEXT)
    here = before[low : len(before) - max(0, last - _CONTEXT)]
    there = after[low : len(after) - max(0, last - _CONTEXT)]
    if len(here) + len(there) <= _EXACT_DIFF_LINES:  # difflib is quadratic
        changes = list(difflib.unified_diff(here, there, n=_CONTEXT))[2:]
    else:
        changes = _whole(here, there)
    lines = [f"--- {f'a/{path}' if exists else '/dev/null'}", f"+++ b/{path}"] if changes else []
    for line in changes:
        text = line.removesuffix("\n")
        lines.append(_HUNK.sub(lambda found: _moved(found, low), text, 1) if text.startswith("@@") else text)
        if not line.endswith("\n"):
            lines.append("\\ No newline at end of file")
    added = sum(line.startswith("+") for line in lines[2:])
    removed = sum(line.startswith("-") for line in lines[2:])
    whole = "\n".join(lines)
    if len(whole) > DIFF_MAX:
        whole = f"{whole[:DIFF_MAX]}\n[the diff goes on; only its beginning is shown]"
    return whole, added, removed


def _equal_ends(before: list[str], after: list[str]) -> tuple[int, int]:
    """How many lines are the same at the beginning and, of the others, at the end."""
    shorter = min(len(before), len(after))
    first = next((at for at in range(shorter) if before[at] != after[at]), shorter)
    room = shorter - first
    last = next((at for at in range(room) if before[-1 - at] != after[-1 - at]), room)
    return first, last


def _whole(before: list[str], after: list[str]) -> list[str]:
    """All old lines gone and all new ones there: right, if not the shortest."""
    hunk = f"@@ -{1 if before else 0},{len(before)} +{1 if after else 0},{len(after)} @@\n"
    return [hunk, *(f"-{line}" for line in before), *(f"+{line}" for line in after)]


def _moved(hunk: re.Match[str], by: int) -> str:
    return f"@@ -{int(hunk[1]) + by}{hunk[2]} +{int(hunk[3]) + by}{hunk[4]} @@"
