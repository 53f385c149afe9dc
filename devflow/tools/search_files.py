"""`search_files`: lines of the workspace's files that hold a text or match an expression."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from devflow.domain.request import ToolSpec
from devflow.domain.run import Risk
from devflow.tools.encodings import decode
from devflow.tools.file_tool import FileTool
from devflow.tools.ignore_rules import glob_rules
from devflow.tools.line_matching import LineMatcher, MatchedLine, TookTooLong
from devflow.tools.paths import Parts, joined, visible
from devflow.tools.policy import Effect
from devflow.tools.refusal import ToolRefused
from devflow.tools.ripgrep import find_ripgrep, worth_reading
from devflow.tools.search_budget import SearchBudget
from devflow.tools.search_walk import FILES_MAX, Found, files_below
from devflow.tools.tool import ToolContext, ToolOutcome
from devflow.tools.wider_pattern import wider_pattern
from devflow.tools.workspace import FILE_MAX, Workspace

LINES_MAX = 200
OF_A_FILE_MAX = 50
LINE_CHARS = 300
OUTPUT_MAX = 40_000  # characters
PATTERN_MAX = 1_000


class SearchFiles(FileTool):
    """With `use_ripgrep` it is faster where ripgrep is installed; the answer is the same without it."""

    risk = Risk.READS
    default = Effect.ALLOW
    spec = ToolSpec(
        "search_files",
        "Search the text files of the project, line by line, for a text or a regular expression (Python's). Files "
        "that .gitignore names are left out.",
        {
            "type": "object",
            "properties": {
                "pattern": {
                    "type": "string",
                    "description": "What a line must hold: a text, or an expression if regex is true.",
                    "minLength": 1,
                    "maxLength": PATTERN_MAX,
                },
                "regex": {"type": "boolean", "description": "The pattern is an expression.", "default": False},
                "ignore_case": {"type": "boolean", "description": "Upper and lower case are one.", "default": False},
                "path": {
                    "type": "string",
                    "description": "Folder or file to search, relative to the project folder.",
                    "default": ".",
                },
                "glob": {
                    "type": "string",
                    "description": "Only files whose path matches: *.py, src/**/*.{ts,tsx}",
                    "minLength": 1,
                    "maxLength": PATTERN_MAX,
                },
            },
            "required": ["pattern"],
            "additionalProperties": False,
        },
    )

    def __init__(self, workspace: Workspace, *, use_ripgrep: bool = True) -> None:
        super().__init__(workspace)
        self._use_ripgrep = use_ripgrep

    async def run(
        self, arguments: Mapping[str, Any], ctx: ToolContext, preview: Mapping[str, Any] | None = None
    ) -> ToolOutcome:
        budget = SearchBudget()
        search = _Search(self._workspace, arguments, self._use_ripgrep, budget)
        try:
            return ToolOutcome(await asyncio.to_thread(search.run))
        finally:
            budget.stop()  # where the run was cancelled, the thread is told so


@dataclass(slots=True)
class _Search:
    workspace: Workspace
    arguments: Mapping[str, Any]
    use_ripgrep: bool
    budget: SearchBudget
    lines: list[str] = field(default_factory=list)
    size: int = 0
    files: int = 0
    no_text: int = 0
    crowded: int = 0
    cut: str = ""

    def run(self) -> str:
        pattern, ignore_case = str(self.arguments["pattern"]), bool(self.arguments["ignore_case"])
        if not self.arguments["regex"]:
            if "\n" in pattern:
                raise ToolRefused("The search is line by line; no line holds a line end. Search for one of the lines.")
            pattern = re.escape(pattern)
        globs = glob_rules(self.arguments["glob"]) if "glob" in self.arguments else ()
        if "glob" in self.arguments and not globs:
            raise ToolRefused(f"{visible(self.arguments['glob'])} is no glob. Examples: *.py, src/**/*.ts")
        with LineMatcher(pattern, ignore_case=ignore_case, most=OF_A_FILE_MAX, budget=self.budget) as matcher:
            found = files_below(self.workspace, self.arguments["path"], globs, self.budget)
            for parts in self._worth_reading(found.files, pattern, ignore_case=ignore_case):
                if not self._search_one(matcher, parts, found):
                    break
        return "\n".join((*self.lines, self._note(found)))

    def _worth_reading(self, files: Sequence[Parts], pattern: str, *, ignore_case: bool) -> Iterator[Parts]:
        program = find_ripgrep(self.workspace.root) if self.use_ripgrep and files else None
        wider = wider_pattern(pattern, ignore_case=ignore_case) if program is not None else None
        if program is None or wider is None:
            return iter(files)
        return worth_reading(program, self.workspace.root, files, wider, self.budget)

    def _search_one(self, matcher: LineMatcher, parts: Parts, found: Found) -> bool:
        """Add a file's lines; False where the search ends here."""
        shown = visible(joined(parts))
        if self.budget.spent:
            self.cut = f"time was up before {shown}; it and what follows was not searched"
            return False
        try:
            state = self.workspace.read(parts)
        except ToolRefused:
            found.closed += 1
            return True
        if state.links > 1:
            found.several_names += 1
            return True
        try:
            text, _ = decode(state.data, shown)
        except ToolRefused:
            self.no_text += 1
            return True
        try:
            matched, more = matcher.lines(text)
        except TookTooLong:
            self.cut = f"the expression takes too long on {shown}; it and what follows was not searched"
            return False
        return self._add(shown, text.split("\n"), matched, more=more)

    def _add(self, shown: str, texts: list[str], matched: Sequence[MatchedLine], *, more: bool) -> bool:
        self.files += bool(matched)
        self.crowded += more
        for match in matched:
            line = f"{shown}:{match.number}: {_around(texts[match.number - 1].removesuffix(chr(13)), match)}"
            if len(self.lines) == LINES_MAX or self.size + len(line) > OUTPUT_MAX:
                self.cut = "there are more; narrow the search with path, glob or a longer pattern"
                return False
            self.lines.append(line)
            self.size += len(line) + 1
        return True

    def _note(self, found: Found) -> str:
        """What was done and what was not, in one line."""
        lines, files, all_files = len(self.lines), self.files, len(found.files)
        if lines:
            notes = [f"{_count(lines, 'line')} of {_count(files, 'file')}"]
        else:
            notes = ["no line matches"]
        if self.cut:
            notes.append(self.cut)
        else:
            notes[0] += f"; {_count(all_files, 'file')} searched"
        if self.crowded:
            notes.append(f"of a file at most {OF_A_FILE_MAX} lines are shown; {_count(self.crowded, 'file')} had more")
        if found.full:
            notes.append(f"only the first {FILES_MAX:,} files were searched")
        if found.late:
            notes.append("time was up before all folders were looked into")
        left = (
            (found.too_large, f"larger than {FILE_MAX // 1024 // 1024} MiB"),
            (self.no_text, "no text"),
            (found.several_names, "with several names (hard links)"),
            (found.closed, "that cannot be opened"),
        )
        if passed := [f"{count:,} {what}" for count, what in left if count]:
            notes.append(f"passed over: {', '.join(passed)}")
        return f"[{'; '.join(notes)}]"


def _around(line: str, match: MatchedLine) -> str:
    """The line, or of a long one the part with the match."""
    if len(line) <= LINE_CHARS:
        return line
    start = max(0, min(match.start - LINE_CHARS // 3, len(line) - LINE_CHARS))
    part = line[start : start + LINE_CHARS]
    return f"{'…' if start else ''}{part}{'…' if start + LINE_CHARS < len(line) else ''}"


def _count(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
