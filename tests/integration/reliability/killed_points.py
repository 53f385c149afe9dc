"""The points at which a window may be killed, and the ledger in which its effects and decisions are counted."""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from devflow.agent.engine import Engine
from devflow.store.database import Database
from devflow.tools.tool import Tool, Voided
from tests.integration.reliability.killed_model import mark_of

AT_THE_END = "(at the end)"


class Ledger:
    """Lines of JSON that any number of processes append to; what was appended survives a kill."""

    def __init__(self, file: Path) -> None:
        self._descriptor = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def note(self, **line: Any) -> None:
        os.write(self._descriptor, json.dumps({"pid": os.getpid(), **line}).encode() + b"\n")


class Doom:
    """Ends the process at the chosen point, as the kernel would: nothing of it runs any more."""

    def __init__(self, ledger: Ledger, where: tuple[str, str, int] | None) -> None:
        self._ledger = ledger
        self._kind, self._name, self._left = where or ("", "", 0)

    def comes(self, kind: str, name: str) -> None:
        """Never returns if this is the point."""
        if self._is_here(kind, name):
            self.strike()

    def hears(self, event: object) -> None:
        self.comes("event", type(event).__name__)

    def comes_later(self, kind: str, name: str, within_s: float) -> None:
        """The end comes at some moment of what is about to begin."""
        if self._is_here(kind, name):
            delay = random.Random(f"{self._name} {time.monotonic_ns()}").uniform(0, within_s)
            threading.Timer(delay, self.strike).start()

    def comes_at_the_end(self) -> None:
        """Who never came to its point is killed before it closes."""
        if self._kind:
            self._name = f"{self._name} {AT_THE_END}"
            self.strike()

    def strike(self) -> None:
        self._ledger.note(doom=[self._kind, self._name])
        os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))

    def _is_here(self, kind: str, name: str) -> bool:
        if kind != self._kind or self._name not in name:
            return False
        self._left -= 1
        return self._left == 0


def watch_writes(doom: Doom) -> None:
    """Every transaction is three points: before it, inside it (after its work, before its commit), and after it."""
    run = Database._write

    def watched(self: Database, work: Callable[..., Any]) -> Any:
        function = getattr(work, "func", work)
        name = f"{function.__module__}:{function.__qualname__}"

        def inside(unit: Any) -> Any:
            result = work(unit)
            doom.comes("write", f"inside {name}")
            return result

        doom.comes("write", f"before {name}")
        result = run(self, inside)
        doom.comes("write", f"after {name}")
        return result

    Database._write = watched  # type: ignore[method-assign]


def watch_tools(doom: Doom, ledger: Ledger) -> None:
    """Every effect is written down when it begins, with what was approved for it."""
    offered = Engine.tools

    def watched(self: Engine, *arguments: Any, **named: Any) -> Any:
        return {name: _Watched(tool, doom, ledger) for name, tool in offered(self, *arguments, **named).items()}

    Engine.tools = watched  # type: ignore[method-assign]


class _Watched:
    """A tool whose effects are counted."""

    def __init__(self, tool: Tool, doom: Doom, ledger: Ledger) -> None:
        self._tool, self._doom, self._ledger = tool, doom, ledger

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tool, name)

    async def run(self, arguments: Mapping[str, Any], ctx: Any, preview: Mapping[str, Any] | None = None) -> Any:
        mark, tool = mark_of(arguments), self._tool.spec.name
        self._doom.comes("tool", f"before {tool}")
        stale = _has_changed(ctx, preview)
        self._ledger.note(began=mark, tool=tool, shown=shown_of(self._as_asked(arguments), preview))
        self._doom.comes_later("tool", f"during {tool}", 0.1 if tool == "run_command" else 0.005)
        outcome = await self._tool.run(arguments, ctx, preview)
        if isinstance(outcome, Voided):
            self._ledger.note(voided=mark)
        else:
            self._ledger.note(ended=mark, error=outcome.error)
            if stale and not outcome.error:
                self._ledger.note(over_a_change=mark)
        self._doom.comes("tool", f"after {tool}")
        return outcome

    def _as_asked(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Without the defaults that were filled in on the way to the tool."""
        known = self._tool.spec.parameters["properties"]
        return {name: value for name, value in arguments.items() if value != known[name].get("default", self)}


def _has_changed(ctx: Any, preview: Mapping[str, Any] | None) -> bool:
    """Whether the file of an approved diff is another one by now."""
    if preview is None or "base_hash" not in preview:
        return False
    file = Path(ctx.project.path) / preview["path"]
    data = file.read_bytes() if file.exists() else None
    return bool((hashlib.sha256(data).hexdigest() if data is not None else "") != preview["base_hash"])


def shown_of(arguments: Mapping[str, Any], preview: Mapping[str, Any] | None) -> str:
    """What a card showed, or what an effect was given: arguments and preview as one word.

    The card's preview also says how the policy came to ask; a tool is not given that.
    """
    would_happen = {name: value for name, value in (preview or {}).items() if name != "approval"}
    text = json.dumps([arguments, would_happen], sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
