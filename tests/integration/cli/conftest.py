import io
import os
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from devflow.cli import main
from devflow.cli.parser import COMMANDS, Parser, build
from tests.support.commands import Result


class Home:
    """A home, and commands run in it: the very `main` of the `devflow` command, with its streams caught.

    What only a process of its own can show is started with `tests.support.commands`.
    """

    def __init__(self, path: Path, patch: pytest.MonkeyPatch) -> None:
        self.path = path
        self._patch = patch

    def __call__(self, *words: str, stdin: bytes = b"", **env: str) -> Result:
        out, err = (io.TextIOWrapper(io.BytesIO(), encoding="ascii", newline="") for _ in range(2))
        with self._patch.context() as patch, redirect_stdout(out), redirect_stderr(err):
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
            for name, value in env.items():
                patch.setitem(os.environ, name, value)
            code = main(["--home", str(self.path), *words])
        return Result(code, _text(out), _text(err))

    def add(self, title: str = "Take the lock first", content: str = "Use BEGIN IMMEDIATE.") -> str:
        return self("knowledge", "add", "--kind", "pitfall", "--title", title, "--content", content).out.strip()


def acts() -> dict[str, Parser]:
    """The parser of every command that does something, by its name: `knowledge list`, `backup`."""
    return {
        f"{command} {act}".strip(): parser
        for command, whole in _below(build(list(COMMANDS))).items()
        for act, parser in (_below(whole) or {"": whole}).items()
    }


def _below(parser: Parser) -> dict[str, Parser]:
    return {
        name: each
        for action in parser._actions
        if isinstance(action.choices, dict)
        for name, each in action.choices.items()
    }


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    raw: bytes = stream.buffer.getvalue()  # type: ignore[attr-defined]
    return raw.decode("utf-8")


@pytest.fixture
def run(home: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    return Home(home, monkeypatch)
