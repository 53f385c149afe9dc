"""What an application has once: its theme, its focus ring, and the tab role of the rail."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtWidgets import QApplication

from devflow.ui.theme import ThemeController
from devflow.ui.widgets.focusring import FocusRing
from devflow.ui.widgets.rail import install_tab_role


def shared_theme(app: QApplication, resources: Path) -> ThemeController:
    """The application's theme; made at the first call, since it restyles the whole application."""
    found = app.findChild(ThemeController)
    if isinstance(found, ThemeController):
        return found
    theme = ThemeController(app, resources / "style")
    FocusRing(app, theme)
    kept: list[Any] = []
    install_tab_role(kept)
    theme.kept = kept
    return theme
