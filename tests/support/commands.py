"""The `devflow` command as a real process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str

    @property
    def value(self) -> Any:
        """Standard output as JSON."""
        return json.loads(self.out)

    @property
    def error(self) -> dict[str, str]:
        """The error object of `--json`."""
        found: dict[str, str] = json.loads(self.err)["error"]
        return found


def devflow(home: Path, *words: str, stdin: bytes = b"", env: Mapping[str, str] | None = None) -> Result:
    """Run a command to its end."""
    return finished(start(home, *words, env=env), stdin)


def start(home: Path, *words: str, env: Mapping[str, str] | None = None) -> subprocess.Popen[bytes]:
    """Start a command; `finished` waits for it."""
    command = [sys.executable, "-m", "devflow", "--home", str(home), *words]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=ROOT, env=environment(env), stdin=pipe, stdout=pipe, stderr=pipe)


def finished(process: subprocess.Popen[bytes], stdin: bytes = b"") -> Result:
    out, err = process.communicate(stdin, timeout=60)
    return Result(process.returncode, out.decode("utf-8"), err.decode("utf-8"))


def environment(more: Mapping[str, str] | None = None) -> dict[str, str]:
    """This process's environment with every warning an error, so that none hides in a child."""
    return {**os.environ, "PYTHONWARNINGS": "error", **(more or {})}
