"""What a command prints: text in the reader's language, or one JSON value in English; UTF-8 whatever the locale."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from typing import Any, TextIO

from devflow.domain.errors import UserFacing
from devflow.domain.messages import Translator


@dataclass(frozen=True, slots=True)
class Output:
    """`json`: standard output carries one JSON value and nothing else."""

    json: bool
    t: Translator
    out: TextIO
    err: TextIO

    def value(self, value: Any) -> None:
        """Print one JSON value (with `json`)."""
        self.out.write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")

    def line(self, text: str = "") -> None:
        """Print a line of text (without `json`)."""
        self.out.write(text + "\n")

    def note(self, text: str) -> None:
        """Say something beside the result, on standard error; never with `json`."""
        if not self.json:
            self.err.write(text + "\n")

    def error(self, problem: UserFacing) -> None:
        """One line: what, why, what to do; or `{"error": {code, message, hint}}`."""
        message, hint = problem.render(self.t), problem.render_hint(self.t)
        if self.json:
            shown = {"error": {"code": problem.code, "message": message, "hint": hint}}
            self.err.write(json.dumps(shown, ensure_ascii=False) + "\n")
        else:
            self.err.write(f"devflow: {one_line(' '.join(filter(None, (message, hint))))}\n")


def one_line(text: str) -> str:
    """The text on one line, without control characters that could move a terminal's cursor."""
    return "".join(char if char.isprintable() else " " for char in " ".join(text.split()))


def speak_utf8(*streams: TextIO) -> None:
    """Whatever the locale says; a path that is not UTF-8 goes out as the bytes it is."""
    for stream in streams:
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="surrogateescape")


def read_stdin() -> bytes:
    return sys.stdin.buffer.read()
