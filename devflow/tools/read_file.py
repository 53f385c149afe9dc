"""`read_file`: a text file of the workspace, whole or by lines."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from devflow.domain.request import ToolSpec
from devflow.domain.run import Risk
from devflow.tools.encodings import decode, lines_of
from devflow.tools.file_tool import FileTool
from devflow.tools.paths import visible
from devflow.tools.policy import Effect
from devflow.tools.refusal import ToolRefused
from devflow.tools.tool import ToolContext, ToolOutcome, Voided
from devflow.tools.workspace import content_hash

OUTPUT_MAX = 40_000  # characters
LINES_MAX = 2_000


class ReadFile(FileTool):
    risk = Risk.READS
    default = Effect.ALLOW
    spec = ToolSpec(
        "read_file",
        "Read a text file of the project. A long file comes in parts: the note at the end says how to go on.",
        {
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "File relative to the project folder.", "minLength": 1},
                "start_line": {
                    "type": "integer",
                    "description": "First line, counted from 1.",
                    "minimum": 1,
                    "default": 1,
                },
                "end_line": {"type": "integer", "description": "Last line, itself included.", "minimum": 1},
            },
            "required": ["path"],
            "additionalProperties": False,
        },
    )

    async def run(
        self, arguments: Mapping[str, Any], ctx: ToolContext, preview: Mapping[str, Any] | None = None
    ) -> ToolOutcome | Voided:
        """The text. A file with several names (hard links) may be one outside: `Voided` until a human has allowed it.

        Its preview has `path`, `names` (how many) and `base_hash`: the yes covers this content only (decision 21).
        """
        return await asyncio.to_thread(self._read, arguments, preview)

    def _read(self, arguments: Mapping[str, Any], preview: Mapping[str, Any] | None) -> ToolOutcome | Voided:
        path = arguments["path"]
        state = self._workspace.read(path)
        if state.links > 1 and (preview is None or preview.get("base_hash") != content_hash(state)):
            now = {"path": self._workspace.relative(path), "names": state.links, "base_hash": content_hash(state)}
            return Voided(now, "The file has several names (hard links), and another may lie outside the project.")
        return ToolOutcome(self._text(visible(path), state.data, arguments["start_line"], arguments.get("end_line")))

    def _text(self, shown: str, data: bytes, start: int, end: int | None) -> str:
        text, form = decode(data, shown)
        lines = lines_of(text)
        if not lines:
            return "[the file is empty]"
        if start > len(lines):
            raise ToolRefused(f"{shown} has {len(lines):,} lines; line {start:,} is after its end.")
        if end is not None and end < start:
            raise ToolRefused(f"end_line {end:,} comes before start_line {start:,}.")
        wanted = lines[start - 1 : min(end or len(lines), start - 1 + LINES_MAX)]
        taken, cut_line = _fitting(wanted)
        body = "".join(taken)
        notes = []
        if form.encoding != "utf-8":
            notes.append(f"read as {form.encoding}")
        last = start - 1 + len(taken)
        if cut_line:
            notes.append(f"line {last:,} is longer than what is shown of it")
        if start > 1 or last < len(lines):
            notes.append(f"lines {start:,}–{last:,} of {len(lines):,}")
        if last < (min(end, len(lines)) if end else len(lines)):
            notes.append(f"the rest was left out; go on with start_line={last + 1}")
        return f"{body.rstrip(chr(10))}\n[{'; '.join(notes)}]" if notes else body


def _fitting(lines: list[str]) -> tuple[list[str], bool]:
    """As many whole lines as fit, at least a part of one; says whether that one was cut."""
    taken: list[str] = []
    size = 0
    for line in lines:
        if size + len(line) > OUTPUT_MAX:
            return (taken, False) if taken else ([line[:OUTPUT_MAX]], True)
        taken.append(line)
        size += len(line)
    return taken, False
