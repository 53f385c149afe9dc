"""DevFlow processes of their own, for tests that let two of them work at once, or kill one."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]


class Child:
    """A DevFlow process. `read` waits for its next line; `kill` gives it no chance to say goodbye."""

    def __init__(self, home: Path, effects: Path, *arguments: str, hang: bool = False) -> None:
        environ = {**os.environ, "EFFECTS": str(effects), **({"HANG_AFTER_EFFECT": "1"} if hang else {})}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.integration.agent.driver", str(home), *arguments],
            cwd=ROOT,
            env=environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the child ended without a word"
        return dict(json.loads(line))

    def kill(self) -> None:
        self._process.kill()
        self._process.communicate()

    def finish(self) -> None:
        """Let it end by itself."""
        self._process.communicate("")
        assert self._process.returncode == 0


class Children:
    def __init__(self, home: Path, effects: Path) -> None:
        self._home, self.effects = home, effects
        self._started: list[Child] = []

    def start(self, *arguments: str, hang: bool = False) -> Child:
        self._started.append(Child(self._home, self.effects, *arguments, hang=hang))
        return self._started[-1]

    def count(self) -> int:
        """How often write_file had its effect, as the file system tells."""
        return len(self.effects.read_text().splitlines()) if self.effects.exists() else 0

    def kill_all(self) -> None:
        for child in self._started:
            child.kill()
