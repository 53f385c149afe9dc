"""The window in a process of its own, worked from the other end of a pipe. Not part of the product.

    python -m tests.e2e.driver [OPTIONS OF devflow]

It starts what `python -m devflow` starts, untouched, and lets a person act in it: each line of standard input is one
act as JSON, `["click", "approveButton"]`, and is answered by one line, `{"value": …}` or `{"error": …}`. When the input
closes, the window is closed as by its close button.
"""

from __future__ import annotations

import json
import os
import runpy
import sys
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QSocketNotifier, Qt, QTimer

from devflow.app.desktop_run import make_application
from tests.support import hands


def act(name: str, *arguments: Any) -> Any:
    return _ACTS[name](*arguments)


def close_window() -> None:
    hands.find("mainWindow").close()


def bug_in_a_slot() -> None:
    """What a mistake in the program would do; this one is the driver's own."""
    QTimer.singleShot(0, _fail)


def bug_in_a_task() -> None:
    hands.find("mainWindow").ctx.tasks.launch(_fail_later(), what="count sheep")  # type: ignore[attr-defined]


def _fail() -> None:
    raise KeyError("no such sheep")


async def _fail_later() -> None:
    raise KeyError("no such sheep")


_ACTS: dict[str, Callable[..., Any]] = {
    "reach": hands.reach,
    "click": hands.click,
    "double_click": hands.double_click,
    "click_row": hands.click_row,
    "choose": hands.choose,
    "type": hands.type_text,
    "press": lambda key: hands.press(Qt.Key[key]),
    "words": lambda name: "\n".join(hands.words(widget) for widget in hands.visible(name)),
    "sees": lambda name: bool(hands.visible(name)),
    "enabled": lambda name: any(widget.isEnabled() for widget in hands.visible(name)),
    "rows": hands.rows,
    "current_row": hands.current_row,
    "answers": hands.answers,
    "chips": hands.chips,
    "click_chip": hands.click_chip,
    "everything": hands.everything,
    "count": lambda name: len(hands.visible(name)),
    "bug_in_a_slot": bug_in_a_slot,
    "bug_in_a_task": bug_in_a_task,
    "close": close_window,
}


class Ears:
    """Hears the lines of standard input in the window's own event loop."""

    def __init__(self) -> None:
        self._rest = b""
        self._notifier = QSocketNotifier(0, QSocketNotifier.Type.Read)
        self._notifier.activated.connect(self._hear)

    def _hear(self) -> None:
        heard = os.read(0, 65536)
        if not heard:
            self._notifier.setEnabled(False)
            close_window()
            return
        *lines, self._rest = (self._rest + heard).split(b"\n")
        for line in lines:
            self._answer(json.loads(line))

    def _answer(self, asked: list[Any]) -> None:
        try:
            said: dict[str, Any] = {"value": act(*asked)}
        except AssertionError as problem:
            said = {"error": str(problem)}
        print(json.dumps(said), flush=True)


def main() -> None:
    app = make_application([])
    ears = Ears()
    sys.argv = ["devflow", *sys.argv[1:]]
    try:
        runpy.run_module("devflow", run_name="__main__", alter_sys=False)
    finally:
        del ears, app


if __name__ == "__main__":
    main()
