"""The project's own line icons (20 grid, stroke 1.5, `currentColor`), coloured by token at paint time."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QByteArray, QObject, QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QIcon, QIconEngine, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from devflow.ui.theme import ThemeController


class IconProvider(QObject):
    """Renders icons per colour, size and pixel ratio; everything rendered is dropped on a theme change."""

    def __init__(self, theme: ThemeController, folder: Path) -> None:
        super().__init__(theme)
        self._theme = theme
        self._folder = folder
        self._sources: dict[str, str] = {}
        self._pixmaps: dict[tuple[str, str, int, float], QPixmap] = {}
        self._icons: dict[tuple[str, str, str, int], QIcon] = {}
        theme.changed.connect(self._pixmaps.clear)

    def icon(self, name: str, color: str = "text-muted", size: int = 16, on: str | None = None) -> QIcon:
        """An icon that always has the current theme's colour; `on` is the token when checked.

        `size` is the size in px it will be shown at (set the widget's iconSize too).
        """
        key = (name, color, on or color, size)
        found = self._icons.get(key)
        if found is None:
            self._source(name)
            # Kept for good: an engine written in Python that Qt frees while a button takes its next icon has been seen
            # to end the process. There are a few hundred at most, and they share what they render.
            found = self._icons[key] = QIcon(_ThemedEngine(self, *key))
        return found

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


class _ThemedEngine(QIconEngine):
    """Asks the provider at paint time, so that an icon set once follows every theme change."""

    def __init__(self, provider: IconProvider, name: str, color: str, on: str, size: int) -> None:
        super().__init__()
        self._provider = provider
        self._name = name
        self._color = color
        self._on = on
        self._size = size

    def paint(self, painter: QPainter, rect: QRect, mode: QIcon.Mode, state: QIcon.State) -> None:
        side = min(rect.width(), rect.height())
        ratio = painter.device().devicePixelRatio()
        pixmap = self._provider.pixmap(self._name, self._token(mode, state), side, ratio)
        painter.drawPixmap(rect.x() + (rect.width() - side) // 2, rect.y() + (rect.height() - side) // 2, pixmap)

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        return self.scaledPixmap(size, mode, state, 1.0)

    def scaledPixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State, scale: float) -> QPixmap:
        # Qt hands device pixels here, the ratio apart.
        side = min(size.width(), size.height())
        pixmap = QPixmap(self._provider.pixmap(self._name, self._token(mode, state), side, 1.0))
        pixmap.setDevicePixelRatio(scale)
        return pixmap

    def actualSize(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QSize:
        side = min(size.width(), size.height())
        return QSize(side, side)

    def clone(self) -> QIconEngine:
        return _ThemedEngine(self._provider, self._name, self._color, self._on, self._size)

    def _token(self, mode: QIcon.Mode, state: QIcon.State) -> str:
        if mode == QIcon.Mode.Disabled:
            return "text-disabled"
        return self._on if state == QIcon.State.On else self._color
