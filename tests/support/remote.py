"""A person at the window of another process, which can be killed."""

from __future__ import annotations

import contextlib
import json
import select
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from tests.support.commands import ROOT, environment

PATIENCE = 30.0
"""Seconds; a process of its own needs a while to start on a busy machine."""


class RemoteWindow:
    """`with RemoteWindow(home) as window:` starts the program and waits for its window; `kill` gives it no warning."""

    def __init__(
        self,
        home: Path,
        *,
        environ: Mapping[str, str] | None = None,
        program: Sequence[str] = ("-m", "tests.e2e.driver"),
        cwd: Path = ROOT,
    ) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-W", "error::RuntimeWarning", *program, "--home", str(home)],
            cwd=cwd,
            env={**environment(), "QT_QPA_PLATFORM": "offscreen", "PYTHONPATH": str(ROOT), **(environ or {})},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self._complaints: list[bytes] = []
        self._listening = threading.Thread(target=self._listen, daemon=True)
        self._listening.start()

    def __enter__(self) -> Self:
        self.until(lambda: self.do("reach", "mainWindow"), "the window in front")
        return self

    def __exit__(self, *_failure: object) -> None:
        self.kill()

    @property
    def complaints(self) -> str:
        """What the program wrote to standard error, but for the offscreen platform's own remarks."""
        lines = b"".join(self._complaints).decode(errors="replace").splitlines()
        return "\n".join(line for line in lines if not line.startswith("This plugin does not support"))

    # acts and looks

    def do(self, *act: Any) -> Any:
        """One act of `tests/e2e/driver.py` and what came of it. Raises AssertionError with the driver's words."""
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(json.dumps(act).encode() + b"\n")
        stdin.flush()
        ready, _, _ = select.select([stdout], [], [], PATIENCE)
        line = stdout.readline() if ready else b""
        if not line:
            raise RuntimeError(f"the window's process said nothing to {act}: {self.complaints}")
        said: dict[str, Any] = json.loads(line)
        if "error" in said:
            raise AssertionError(said["error"])
        return said.get("value")

    def until(self, condition: Callable[[], object], what: str, *, within: float = PATIENCE) -> None:
        """Look again and again until it holds."""
        end = time.monotonic() + within
        while not condition():
            if time.monotonic() > end:
                raise AssertionError(f"waited {within} s for: {what}\n{self.do('everything')}")
            time.sleep(0.02)

    def words(self, name: str) -> str:
        return str(self.do("words", name))

    def sees(self, text: str, *, on: str = "mainWindow") -> None:
        self.until(lambda: text in self.words(on), f"{text!r} on {on}")

    def finds(self, name: str) -> None:
        self.until(lambda: self.do("sees", name), f"a visible {name}")

    def misses(self, name: str) -> None:
        self.until(lambda: not self.do("sees", name), f"no visible {name}")

    def clicks(self, name: str) -> None:
        self.until(lambda: self.do("enabled", name), f"an enabled {name}")
        self.until(lambda: self.do("reach", name), "its window in front")
        self.do("click", name)

    def asks(self, text: str) -> None:
        self.clicks("composer")
        self.do("type", text)
        self.do("press", "Key_Return")
        self.until(lambda: self.words("composer") == "", "the composer gives the text away")

    def is_answered(self, text: str) -> None:
        self.until(
            lambda: any(text in answer for answer in self.do("answers")) and not self.do("sees", "stopButton"),
            f"an answer with {text!r}",
        )

    # ends

    def kill(self) -> None:
        """SIGKILL: nothing can be tidied up any more."""
        if self.process.poll() is None:
            self.process.kill()
        self._forget()

    def close(self) -> int:
        """Close the window as its button does; returns the exit code."""
        self.do("close")
        code = self.process.wait(10)
        self._forget()
        return code

    def _forget(self) -> None:
        self.process.wait(10)
        self._listening.join(10)
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe is not None and not pipe.closed:
                with contextlib.suppress(BrokenPipeError):  # an act that nobody heard any more
                    pipe.close()

    def _listen(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self._complaints.append(line)
