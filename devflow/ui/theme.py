"""Design tokens as values, and the controller that puts them on the application.

The numbers live in `resources/style/tokens.json`; nothing in the window names a colour of its own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Any

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication, QStyleFactory

from devflow.ui.fonts import FontRole, Fonts


class ThemeMode(StrEnum):
    """What the human chose; `SYSTEM` follows the desktop live."""

    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"


@dataclass(frozen=True, slots=True)
class Palette:
    """One theme's colours by token name (`text-muted`, `kind-pitfall-bg`, …), as `#RRGGBB`."""

    name: str
    colours: Mapping[str, str]

    def hex(self, token: str) -> str:
        """The token's colour as `#RRGGBB`; a misspelt token is a bug and raises KeyError."""
        return self.colours[token]

    def color(self, token: str, alpha: float = 1.0) -> QColor:
        """The token's colour; `alpha` from 0 to 1."""
        color = QColor(self.colours[token])
        if alpha < 1.0:
            color.setAlphaF(alpha)
        return color

    @property
    def is_dark(self) -> bool:
        return self.name == "dark"


@dataclass(frozen=True, slots=True)
class Tokens:
    """Everything `tokens.json` says, read once."""

    light: Palette
    dark: Palette
    scrim_alpha: Mapping[str, float]
    font_roles: Mapping[str, FontRole]
    font_families: Mapping[str, tuple[str, ...]]
    motion: Mapping[str, int]

    @classmethod
    def load(cls, path: Path) -> Tokens:
        """Read the token file; a malformed one is a bug of the build and raises."""
        raw: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        roles = {name: FontRole(px=v["px"], weight=v["weight"], line=v["line"]) for name, v in raw["type"].items()}
        return cls(
            light=_palette("light", raw["color"]["light"]),
            dark=_palette("dark", raw["color"]["dark"]),
            scrim_alpha=MappingProxyType({k: float(raw["color"][k]["scrim-alpha"]) for k in ("light", "dark")}),
            font_roles=MappingProxyType(roles),
            font_families=MappingProxyType({k: tuple(v) for k, v in raw["font"].items()}),
            motion=MappingProxyType({k: v for k, v in raw["motion"].items() if isinstance(v, int)}),
        )


class ThemeController(QObject):
    """Owns the current palette and restyles the application when the system or the human changes it.

    Widgets that paint themselves read `palette` in `paintEvent`; the application is restyled on a change, which
    repaints every widget, so most need no connection. Connect to `changed` only for text formats and the like.
    """

    changed = Signal()

    def __init__(
        self,
        app: QApplication,
        style_dir: Path,
        mode: ThemeMode = ThemeMode.SYSTEM,
        *,
        system_is_dark: Callable[[], bool] | None = None,
    ) -> None:
        super().__init__(app)
        self._system_is_dark = system_is_dark or _system_is_dark
        self._app = app
        self._style_dir = style_dir
        self.tokens = Tokens.load(style_dir / "tokens.json")
        self.fonts = Fonts(self.tokens.font_families, self.tokens.font_roles)
        self._template = "\n".join(path.read_text(encoding="utf-8") for path in _sheets(style_dir))
        self._mode = mode
        self._palette = self._wanted()
        self.reduced_motion = False
        self.kept: list[Any] = []
        """What must live as long as the application, and Qt only borrows."""
        app.setStyle(QStyleFactory.create("Fusion"))
        app.styleHints().colorSchemeChanged.connect(self._follow_system)
        self._apply()

    @property
    def palette(self) -> Palette:
        return self._palette

    @property
    def mode(self) -> ThemeMode:
        return self._mode

    def set_mode(self, mode: ThemeMode) -> None:
        """Choose light, dark or the system's; applies at once."""
        self._mode = mode
        self._follow_system()

    def color(self, token: str, alpha: float = 1.0) -> QColor:
        return self._palette.color(token, alpha)

    def hex(self, token: str) -> str:
        return self._palette.hex(token)

    def font(self, role: str = "ui") -> QFont:
        """A font of the type scale: the roles of tokens.json, and small-strong and code-small."""
        return self.fonts.font(role)

    def line_height(self, role: str) -> int:
        """The line height of a role, in px."""
        return self.fonts.line(role)

    def duration(self, name: str) -> int:
        """A motion token in ms; 0 when motion is reduced. The undo window is a deadline, not motion, and stays."""
        if self.reduced_motion and name != "undo-window":
            return 0
        return self.tokens.motion[name]

    def scrim(self) -> QColor:
        return self._palette.color("scrim", self.tokens.scrim_alpha[self._palette.name])

    def _wanted(self) -> Palette:
        match self._mode:
            case ThemeMode.LIGHT:
                return self.tokens.light
            case ThemeMode.DARK:
                return self.tokens.dark
            case ThemeMode.SYSTEM:
                return self.tokens.dark if self._system_is_dark() else self.tokens.light

    def _follow_system(self) -> None:
        wanted = self._wanted()
        if wanted is not self._palette:
            self._palette = wanted
            self._apply()
            self.changed.emit()

    def _apply(self) -> None:
        self._app.setPalette(qt_palette(self._palette))
        self._app.setFont(self.font("ui"))
        self._app.setStyleSheet(stylesheet(self._template, self._palette, self._style_dir))


def _system_is_dark() -> bool:
    return QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark


def stylesheet(template: str, palette: Palette, style_dir: Path) -> str:
    """Fill `@token` with colours and `@assets` with the folder of the theme's small pictures."""
    assets = (style_dir / palette.name).as_posix()

    def value(match: re.Match[str]) -> str:
        name = match.group(1)
        return assets if name == "assets" else palette.hex(name)

    return re.sub(r"@([a-z][a-z_-]*[a-z])", value, template)


def qt_palette(p: Palette) -> QPalette:
    """The same colours for whatever Qt paints without the style sheet (its own dialogs, text cursors, links)."""
    pal = QPalette()
    role = QPalette.ColorRole
    for target, token in (
        (role.Window, "surface"),
        (role.WindowText, "text"),
        (role.Base, "surface-raised"),
        (role.AlternateBase, "surface-sunken"),
        (role.Text, "text"),
        (role.Button, "surface-raised"),
        (role.ButtonText, "text"),
        (role.BrightText, "danger"),
        (role.ToolTipBase, "tooltip-bg"),
        (role.ToolTipText, "tooltip-text"),
        (role.PlaceholderText, "text-faint"),
        (role.Highlight, "text-selection"),
        (role.HighlightedText, "text"),
        (role.Accent, "accent"),
        (role.Link, "accent-fg"),
        (role.LinkVisited, "accent-fg"),
        (role.Light, "surface-raised"),
        (role.Midlight, "hairline"),
        (role.Mid, "hairline-strong"),
        (role.Dark, "control-border"),
        (role.Shadow, "scrim"),
    ):
        pal.setColor(target, p.color(token))
    for target in (role.WindowText, role.Text, role.ButtonText, role.HighlightedText):
        pal.setColor(QPalette.ColorGroup.Disabled, target, p.color("text-disabled"))
    return pal


def _palette(name: str, raw: Mapping[str, Any]) -> Palette:
    return Palette(name, MappingProxyType({k: v for k, v in raw.items() if isinstance(v, str)}))


def _sheets(style_dir: Path) -> list[Path]:
    """The window's sheet first, then the pages' own."""
    own = sorted(path for path in style_dir.glob("*.qss") if path.name != "window.qss")
    return [style_dir / "window.qss", *own]
