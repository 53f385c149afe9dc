"""The scripted model of the killed runs: what it does next is read from each request, and all that it said is kept.

It can be asked again after any kill, for it has no place in a script to lose: a request with so many answered tool
calls gets the plan's next step. Every call it makes carries a mark `effect-N`, with a number that no other call has,
so that effects can be counted; every answer begins with a mark of its own.
"""

from __future__ import annotations

import json
import random
import re
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.fakes.openai_server import Call, Request, Turn

QUESTION = "How should a sqlite transaction take the write lock?"
SECOND = "And which pragma belongs to the sqlite write lock?"
SHARED = "shared.txt"
"""The file that several calls change: whoever comes second finds it changed since its diff was shown."""

EDITED, LAST_LINE = "edited.txt", "the last line\n"
"""Each edit puts a line before the last one: an edit done twice shows."""

FAULTS = 2
WORDS = "A sqlite transaction takes the write lock first, so that it never has to upgrade. 先取写锁，再读再写。"
_MARK = re.compile(r"effect-(\d+)-")


def marks_in(text: str) -> list[int]:
    """The numbers of the calls that a text is about."""
    return [int(found) for found in _MARK.findall(text)]


def mark_of(arguments: Any) -> int | None:
    """The number in a call's arguments; None for a call without an effect."""
    found = marks_in(arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False))
    return found[0] if found else None


@dataclass
class Model:
    """Give it to `OpenAIServer.script` as often as there may be requests. `commands` is where run_command's effects go.

    `texts` maps an answer's number to its whole text; `asked` a call's number to tool and arguments.
    """

    seed: int
    commands: Path
    texts: dict[int, str] = field(default_factory=dict)
    asked: dict[int, tuple[str, dict[str, Any]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._random = random.Random(f"model {self.seed}")
        self._steps = self._random.randint(2, 5)
        self._faults = 0
        self._lock = threading.Lock()

    def __call__(self, request: Request) -> Turn:
        with self._lock:
            done = sum(bool(message.get("tool_calls")) for message in request.messages)
            calls = self._calls(request.tools) if done < self._steps else ()
            return self._turn(calls)

    def _turn(self, calls: Sequence[Call]) -> Turn:
        pause = self._random.choice((0.0, 0.0, 0.001, 0.004))
        reasoning = "Let me think." if self._random.random() < 0.3 else ""
        text = self._text() if not calls or self._random.random() < 0.7 else ""
        if self._faults < FAULTS and self._random.random() < 0.12:
            self._faults += 1
            if self._random.random() < 0.5:
                return Turn(text, calls, reasoning, cut=True, pause=pause)
            return Turn(text, calls, reasoning, break_with="overloaded", pause=pause)
        return Turn(text, calls, reasoning, pause=pause)

    def _text(self) -> str:
        number = len(self.texts) + 1
        text = f"answer-{number}- " + " ".join([WORDS] * self._random.randint(1, 3)) + f" answer-{number}-ends [K1]"
        self.texts[number] = text
        return text

    def _calls(self, tools: Sequence[str]) -> tuple[Call, ...]:
        kinds = [kind for kind in _KINDS if kind in tools]
        weights = [_KINDS[kind] for kind in kinds]
        chosen = self._random.choices(kinds, weights, k=self._random.choice((1, 1, 2, 3)))
        return tuple(self._call(tool) for tool in chosen)

    def _call(self, tool: str) -> Call:
        number = len(self.asked) + 1
        arguments = self._arguments(tool, f"effect-{number}-")
        self.asked[number] = tool, arguments
        return Call(tool, arguments)

    def _arguments(self, tool: str, mark: str) -> dict[str, Any]:
        match tool:
            case "write_file":
                path = SHARED if self._random.random() < 0.4 else f"{mark}made.txt"
                return {"path": path, "content": f"{mark} as asked\n"}
            case "edit_file":
                return {"path": EDITED, "old_text": LAST_LINE, "new_text": f"{mark} as asked\n{LAST_LINE}"}
            case "run_command":
                code = f"open({str(self.commands)!r}, 'a').write('{mark} as asked' + chr(10))"
                return {"command": [sys.executable, "-I", "-S", "-c", code]}
            case "propose_knowledge":
                return {"kind": "pitfall", "title": f"{mark} found", "content": f"What {mark} says."}
            case "knowledge_search":
                return {"query": f"write lock {mark}"}
            case "list_dir":
                return {"path": "."}
            case _:
                return {"path": SHARED}


_KINDS = {
    "write_file": 5,
    "edit_file": 4,
    "run_command": 4,
    "propose_knowledge": 2,
    "knowledge_search": 1,
    "list_dir": 1,
    "read_file": 1,
}
"""Tools the model uses, as far as it is offered them, and how often."""
