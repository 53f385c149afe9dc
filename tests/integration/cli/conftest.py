import io
import os
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from devflow.cli import main
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


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    raw: bytes = stream.buffer.getvalue()  # type: ignore[attr-defined]
    return raw.decode("utf-8")


@pytest.fixture
def run(home: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    return Home(home, monkeypatch)
