"""The 26 px line at the window's foot: icon and words for each thing that is going on, never colour alone."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QToolButton, QWidget

from devflow.ui.look import Look
from devflow.ui.widgets.cards import Pane
from devflow.ui.widgets.painting import baseline, draw_text, fill_round, text_width

LEFT = ("library", "retrieval", "search", "index", "run", "tools", "embedding", "digest", "extraction")
RIGHT = ("provider",)
_TONES = {"": "text-faint", "busy": "accent-fg", "trouble": "warning", "good": "success"}


class StatusItem(QToolButton):
    """Icon 14 and words 12; a click opens its page."""

    def __init__(self, look: Look, parent: QWidget) -> None:
        super().__init__(parent)
        self._look = look
        self._icon_name = "circle"
        self._tone = ""
        self.page = ""
        self.setProperty("role", "status")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.hide()

    def say(self, icon: str, text: str, tone: str, page: str) -> None:
        """Show the words; empty ones hide the item."""
        self._icon_name, self._tone, self.page = icon, tone, page
        self.setText(text)
        self.setAccessibleName(text)
        self.setEnabled(True)
        self.setVisible(bool(text))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(round(text_width(self.text(), self._look.theme.font("small"))) + 26, 22)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._look.theme
        painter = QPainter(self)
        rect = QRectF(self.rect())
        if self.underMouse() and self.page:
            fill_round(painter, rect, 4, theme.color("surface-hover"))
        icon = _TONES[self._tone]
        words = icon if self._tone in ("busy", "trouble") else "text-muted"
        self._look.icons.paint(painter, 3, rect.center().y() - 6.5, self._icon_name, icon, 14)
        font = theme.font("small")
        draw_text(painter, 22, baseline(rect, font), self.text(), font, theme.color(words))


class StatusLine(Pane):
    """`opened(page)` when an item that has a page is clicked."""

    opened = Signal(str)

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__("sunken", "top", parent)
        self.setObjectName("statusLine")
        self.setAccessibleName(look.t("Status"))
        self.setFixedHeight(26)
        self._items: dict[str, StatusItem] = {}
        self._page = ""
        row = QHBoxLayout(self)
        row.setContentsMargins(9, 0, 8, 0)
        row.setSpacing(10)
        for key in LEFT:
            row.addWidget(self._item(look, key))
        row.addStretch(1)
        for key in RIGHT:
            row.addWidget(self._item(look, key))

    def say(self, key: str, icon: str, text: str, tone: str = "", page: str = "") -> None:
        """Show an item, or hide it with an empty text. `tone`: "", busy, trouble or good."""
        self._items[key].say(icon, text, tone, page)
        self._choose()

    def show_for(self, page: str) -> None:
        """Some items belong to one page: what a retrieval found to Chat, how a search works to Knowledge."""
        self._page = page
        self._choose()

    def _choose(self) -> None:
        for key, page in (("retrieval", "chat"), ("search", "knowledge")):
            item = self._items[key]
            item.setVisible(bool(item.text()) and self._page == page)
        told = not self._items["retrieval"].isHidden() or not self._items["search"].isHidden()
        library = self._items["library"]
        library.setVisible(bool(library.text()) and not told)

    def item(self, key: str) -> StatusItem:
        return self._items[key]

    def _item(self, look: Look, key: str) -> StatusItem:
        item = StatusItem(look, self)
        item.setObjectName(f"status{key.capitalize()}")
        item.clicked.connect(self._clicked)
        self._items[key] = item
        return item

    def _clicked(self) -> None:
        item = self.sender()
        if isinstance(item, StatusItem) and item.page:
            self.opened.emit(item.page)
