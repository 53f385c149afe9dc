"""The sub-agent's one tool: it reads the one file, whose text is in memory already, and can reach nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field

from devflow.domain.fences import fenced
from devflow.domain.request import ToolSpec
from devflow.domain.text.graphemes import is_boundary
from devflow.domain.text.hidden import with_hidden_shown
from devflow.domain.tokens import estimate_tokens
from devflow.tools.arguments import parse_arguments
from devflow.tools.refusal import ToolRefused

READ = "read_file"
PIECE_LEAST = 200
"""Characters; a piece is never smaller, however small the window."""


@dataclass(slots=True)
class Reading:
    """A file's text as it is shown piece by piece; `tokens` bounds a piece. Keeps what was shown."""

    name: str
    text: str
    nonce: str
    tokens: int
    _shown: list[tuple[int, int]] = field(default_factory=list)

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(
            READ,
            f"Read on in {self.name}, the only file there is. The note at the end of each part says how to go on.",
            {
                "type": "object",
                "properties": {
                    "path": {"type": "string", "description": f"Always {self.name}."},
                    "start": {
                        "type": "integer",
                        "description": "The first character, counted from 0.",
                        "minimum": 0,
                        "default": 0,
                    },
                },
                "additionalProperties": False,
            },
        )

    @property
    def percent(self) -> int:
        """How much of the text was shown."""
        end = covered = 0
        for first, last in sorted(self._shown):
            covered += max(0, last - max(first, end))
            end = max(end, last)
        return covered * 100 // len(self.text) if self.text else 100

    def piece(self, start: int, tokens: int | None = None) -> tuple[str, int]:
        """The text from `start` on, as much as `tokens` hold, fenced; and where it ends."""
        end = self._end(start, self.tokens if tokens is None else tokens)
        self._shown.append((start, end))
        return fenced("file", self.nonce, with_hidden_shown(self.text[start:end])), end

    def answer(self, tool: str, arguments: str) -> str:
        """What a call is answered with; a refusal is a sentence for the model, too."""
        if tool != READ:
            return f"There is no tool {tool}; there is only {READ}."
        try:
            given = parse_arguments(self.spec.parameters, arguments or "{}", READ)
        except ToolRefused as refused:
            return str(refused)
        if given.get("path", self.name).removeprefix("./") != self.name:
            return f"Only {self.name} can be read."
        start = given["start"]
        if start >= len(self.text):
            return f"The text has {len(self.text)} characters: there is nothing at {start}. Write the page now."
        shown, end = self.piece(start)
        if end >= len(self.text):
            return f"{shown}\n[characters {start} to {end}: this was the end]"
        return f"{shown}\n[characters {start} to {end} of {len(self.text)}; go on with start={end}]"

    def _end(self, start: int, tokens: int) -> int:
        length = len(self.text)
        low, high = min(start + PIECE_LEAST, length), min(start + 3 * tokens + PIECE_LEAST, length)
        while low < high:  # the most characters that still fit
            middle = (low + high + 1) // 2
            if estimate_tokens(self.text[start:middle]) <= tokens:
                low = middle
            else:
                high = middle - 1
        line = self.text.rfind("\n", start + (low - start) // 2, low) + 1
        end = line if line > start and low < length else low
        while end < length and not is_boundary(self.text, end):
            end += 1
        return end
