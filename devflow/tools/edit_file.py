"""`edit_file`: replace an exact passage of a text file of the workspace, after a human has seen the diff."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

from devflow.domain.request import ToolSpec
from devflow.tools.encodings import TextForm
from devflow.tools.paths import visible
from devflow.tools.refusal import ToolRefused
from devflow.tools.writing import WritingTool

TEXT_MAX = 200_000  # characters of either text
_NAMED_LINES = 10
_COMPARED_LINES = 2_000
_COMPARED_CHARS = 120  # of a line, where lines are compared
_COMPARED_CLOSELY = 500  # lines: a hostile one takes some milliseconds


class EditFile(WritingTool):
    spec = ToolSpec(
        "edit_file",
        "Replace an exact passage of a text file of the project. The passage must occur exactly once, white space "
        "included, unless replace_all is set. The user sees the diff and must approve it.",
        {
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "File relative to the project folder.", "minLength": 1},
                "old_text": {
                    "type": "string",
                    "description": "The passage as it stands in the file, with enough around it to be the only one.",
                    "minLength": 1,
                    "maxLength": TEXT_MAX,
                },
                "new_text": {
                    "type": "string",
                    "description": "What takes its place; empty to remove it.",
                    "maxLength": TEXT_MAX,
                },
                "replace_all": {
                    "type": "boolean",
                    "description": "Replace every occurrence.",
                    "default": False,
                },
            },
            "required": ["path", "old_text", "new_text"],
            "additionalProperties": False,
        },
    )

    def new_text(self, arguments: Mapping[str, Any], old: str | None, form: TextForm) -> str:
        shown = visible(self._workspace.relative(arguments["path"]))
        if old is None:
            raise ToolRefused(f"There is no file {shown}. write_file makes one.")
        wanted, new = str(arguments["old_text"]), str(arguments["new_text"])
        if form.newline == "\r\n":  # the text was read with `\n` for its line ends
            wanted, new = wanted.replace("\r\n", "\n"), new.replace("\r\n", "\n")
        if wanted == new:
            raise ToolRefused("old_text and new_text are the same; there is nothing to change.")
        count = old.count(wanted)
        if count == 0:
            raise ToolRefused(f"old_text does not occur in {shown}. {_hint(old, wanted)}")
        if count > 1 and not arguments["replace_all"]:
            raise ToolRefused(
                f"old_text occurs {count:,} times in {shown}, {_lines_of_all(old, wanted)}. Send more of the text "
                "around the one that is meant, or set replace_all."
            )
        return old.replace(wanted, new)


def _hint(text: str, wanted: str) -> str:
    """Where the passage may have been meant. Lines are named by number alone: their words are data from outside."""
    again = "Read the file again and send the passage exactly as it stands there."
    if "\r\n" in text and wanted in text.replace("\r\n", "\n"):
        return "Its line ends are mixed, and differ inside the passage. Send a passage within one line."
    lines = text.split("\n")
    words = [line.split() for line in wanted.split("\n") if line.strip()]
    if not words:
        return again
    if at := _with_other_white_space(lines, words):
        return f"It occurs at line {at:,} with other white space. {again}"
    nearest = _nearest(lines, " ".join(words[0]))
    return f"The line most like its first one is line {nearest:,}. {again}" if nearest else again


def _with_other_white_space(lines: list[str], words: list[list[str]]) -> int:
    """The line, from 1, at which the passage's words stand in these lines; blank lines do not count. 0: nowhere."""
    there = [(number, " ".join(line.split())) for number, line in enumerate(lines, 1) if line.strip()]
    text, passage = ("\n".join(("", *part, "")) for part in ((line for _, line in there), map(" ".join, words)))
    at = text.find(passage)  # line by line would be quadratic where lines are alike
    return there[text.count("\n", 0, at)][0] if at >= 0 else 0


def _nearest(lines: list[str], first: str) -> int:
    """The number, from 1, of the line most like `first`; 0 where none is like it."""
    matcher = difflib.SequenceMatcher(autojunk=False)
    matcher.set_seq2(first[:_COMPARED_CHARS])
    best, found, closely = 0.6, 0, 0
    for number, line in enumerate(lines[:_COMPARED_LINES], 1):
        matcher.set_seq1(" ".join(line.split())[:_COMPARED_CHARS])
        if matcher.real_quick_ratio() <= best or matcher.quick_ratio() <= best:
            continue
        closely += 1
        if closely > _COMPARED_CLOSELY:
            break
        if (ratio := matcher.ratio()) > best:
            best, found = ratio, number
    return found


def _lines_of_all(text: str, wanted: str) -> str:
    """`at lines 3, 9, 12`, or the first ten of them."""
    numbers: list[int] = []
    at, line = text.find(wanted), 1
    seen = 0
    while at >= 0 and len(numbers) < _NAMED_LINES:
        line += text.count("\n", seen, at)
        seen = at
        numbers.append(line)
        at = text.find(wanted, at + len(wanted))
    named = ", ".join(f"{number:,}" for number in dict.fromkeys(numbers))
    return f"at lines {named} and further down" if at >= 0 else f"at lines {named}"
