"""What the window's tests share; the fixtures stand in `tests/support/window.py`, for `tests/e2e` uses them too."""

from tests.support.window import (
    Look,
    OpenWindow,
    ScriptedDialogs,
    dialogs,
    garbage_on_this_thread,
    look,
    open_window,
    paths,
)

__all__ = [
    "Look",
    "OpenWindow",
    "ScriptedDialogs",
    "dialogs",
    "garbage_on_this_thread",
    "look",
    "open_window",
    "paths",
]
