"""The project's own line icons (20 grid, stroke 1.5, `currentColor`), coloured by the theme's tokens."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

from PySide6.QtCore import QByteArray, QObject, QPoint, QRectF, QSize, Qt
from PySide6.QtGui import QAction, QGuiApplication, QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QAbstractButton
from shiboken6 import isValid

from devflow.ui.theme import ThemeController

IconHolder: TypeAlias = QAbstractButton | QAction


class _Wanted(NamedTuple):
    """Which icon a holder shows: colours are tokens, `size` is in logical px."""

    name: str
    color: str
    on: str
    size: int


class IconProvider(QObject):
    """Renders icons per colour, size and pixel ratio, and renews what it has put on buttons when the theme changes.

    Icons are plain pixmaps and never an icon engine written in Python: Qt frees an engine whenever it likes, and that
    has ended the process.
    """

    def __init__(self, theme: ThemeController, folder: Path) -> None:
        super().__init__(theme)
        self._theme = theme
        self._folder = folder
        self._sources: dict[str, str] = {}
        self._pixmaps: dict[tuple[str, str, int, float], QPixmap] = {}
        self._holders: WeakKeyDictionary[IconHolder, _Wanted] = WeakKeyDictionary()
        theme.changed.connect(self._renew)
        app = QGuiApplication.instance()
        if isinstance(app, QGuiApplication):
            app.screenAdded.connect(self._renew)

    def put(
        self, holder: IconHolder, name: str, color: str = "text-muted", size: int = 16, on: str | None = None
    ) -> None:
        """Show an icon on a button or an action, in the colours of whichever theme is on, until the next `put`.

        `size` is the size in px it is shown at (set a button's iconSize too); `on` is the token while checked.
        """
        wanted = _Wanted(name, color, on or color, size)
        if self._holders.get(holder) != wanted:
            self._holders[holder] = wanted
            holder.setIcon(self._icon(wanted))

    def pixmap(self, name: str, color: str, size: int, ratio: float = 1.0) -> QPixmap:
        """The icon as a pixmap of `size` logical px at device pixel ratio `ratio`."""
        hex_color = self._theme.hex(color)
        key = (name, hex_color, size, ratio)
        found = self._pixmaps.get(key)
        if found is None:
            found = self._pixmaps[key] = self._render(name, hex_color, size, ratio)
        return found

    def paint(self, painter: QPainter, x: float, y: float, name: str, color: str, size: int) -> None:
        """Draw the icon with its top left corner at (x, y)."""
        ratio = painter.device().devicePixelRatio()
        painter.drawPixmap(QPoint(round(x), round(y)), self.pixmap(name, color, size, ratio))

    def names(self) -> list[str]:
        return sorted(path.stem for path in self._folder.glob("*.svg"))

    def _renew(self, *_: object) -> None:
        self._pixmaps.clear()
        for holder, wanted in list(self._holders.items()):
            if isValid(holder):
                holder.setIcon(self._icon(wanted))

    def _icon(self, wanted: _Wanted) -> QIcon:
        icon = QIcon()
        for ratio in sorted({1.0, *(screen.devicePixelRatio() for screen in QGuiApplication.screens())}):
            for mode in QIcon.Mode:
                # Every mode is given, or Qt would tint the missing ones itself.
                for state, token in ((QIcon.State.Off, wanted.color), (QIcon.State.On, wanted.on)):
                    shown = "text-disabled" if mode == QIcon.Mode.Disabled else token
                    icon.addPixmap(self.pixmap(wanted.name, shown, wanted.size, ratio), mode, state)
        return icon

    def _source(self, name: str) -> str:
        if name not in self._sources:
            self._sources[name] = (self._folder / f"{name}.svg").read_text(encoding="utf-8")
        return self._sources[name]

    def _render(self, name: str, hex_color: str, size: int, ratio: float) -> QPixmap:
        svg = self._source(name).replace("currentColor", hex_color)
        renderer = QSvgRenderer(QByteArray(svg.encode()))
        pixmap = QPixmap(QSize(round(size * ratio), round(size * ratio)))
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        renderer.render(painter, QRectF(0, 0, pixmap.width(), pixmap.height()))
        painter.end()
        pixmap.setDevicePixelRatio(ratio)
        return pixmap
