"""What a command prints: text in the reader's language, or one JSON value in English; UTF-8 whatever the locale."""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass
from typing import Any, TextIO

from devflow.cli.streams import for_terminal, output_failed, write
from devflow.domain.errors import UserFacing
from devflow.domain.messages import Translator

SAID_MAX = 1_000
"""Characters of a sentence of an error: what was typed may stand in it, and may be long."""


@dataclass(frozen=True, slots=True)
class Output:
    """`json`: standard output carries one JSON value and nothing else."""

    json: bool
    t: Translator
    out: TextIO
    err: TextIO

    def value(self, value: Any) -> None:
        """Print one JSON value (with `json`)."""
        write(self.out, json.dumps(value, ensure_ascii=False, indent=2) + "\n")

    def line(self, text: str = "") -> None:
        """Print a line of text (without `json`)."""
        self.text(text + "\n")

    def text(self, text: str) -> None:
        """Print text without a line end of its own."""
        write(self.out, for_terminal(text, self.out))

    def flush(self) -> None:
        try:
            self.out.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            raise output_failed(error) from error

    def note(self, text: str) -> None:
        """Say something beside the result, on standard error; never with `json`."""
        if not self.json:
            self._aside(f"{for_terminal(text, self.err)}\n")

    def error(self, problem: UserFacing) -> None:
        """One line: what, why, what to do; or `{"error": {code, message, hint}}`."""
        if self.json:
            self._aside(json.dumps({"error": self.described(problem)}, ensure_ascii=False) + "\n")
        else:
            message, hint = problem.render(self.t), problem.render_hint(self.t)
            said = one_line(" ".join(filter(None, (message[:SAID_MAX], hint[:SAID_MAX]))))
            self._aside(f"devflow: {said}\n")

    def described(self, problem: UserFacing) -> dict[str, str]:
        """A problem as `--json` shows it."""
        return {"code": problem.code, "message": problem.render(self.t), "hint": problem.render_hint(self.t)}

    def _aside(self, text: str) -> None:
        """Standard error is the last place to say anything: that it fails can be told nowhere."""
        with contextlib.suppress(OSError):
            self.err.write(text)
            self.err.flush()


def one_line(text: str) -> str:
    """The text on one line, without control characters that could move a terminal's cursor."""
    return "".join(char if char.isprintable() else " " for char in " ".join(text.split()))
