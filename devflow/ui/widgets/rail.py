"""The rail: three tabs and Settings, read by assistive technology as tabs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QAccessible, QEnterEvent, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QAccessibleWidget, QButtonGroup, QFrame, QPushButton, QVBoxLayout, QWidget

from devflow.ui.look import Look
from devflow.ui.widgets.painting import draw_text, fill_round, text_width

RAIL_WIDTH = 72


class RailButton(QPushButton):
    """A 64×52 item: icon 20 over an 11 px label; a badge at the icon's top right."""

    def __init__(self, look: Look, icon: str, text: str, *, tab: bool = True, parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        self._look = look
        self._icon_name = icon
        self.badge = Badge(look, self)
        self.badge.move(35, 4)
        self.setCheckable(tab)
        self.setProperty("railTab", tab)
        self.setFixedSize(64, 52)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setAccessibleName(text)

    def set_badge(self, count: int, spoken: str) -> None:
        """Show `count` (0 hides it); `spoken` is the accessible name with the count in words."""
        self.badge.set_count(count, spoken)
        self.setAccessibleName(spoken if count else self.text())

    def sizeHint(self) -> QSize:
        return QSize(64, 52)

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._look.theme
        painter = QPainter(self)
        rect = QRectF(self.rect())
        on = self.isChecked()
        if on:
            fill_round(painter, rect, 8, theme.color("selection-inactive"))
        elif self.underMouse():
            fill_round(painter, rect, 8, theme.color("surface-hover"))
        token = "accent-fg" if on else "text-muted"
        self._look.icons.paint(painter, 22, 9, self._icon_name, token, 20)
        font = theme.font("label")
        if not on:
            font.setWeight(font.Weight.Normal)
        text = self.text()
        draw_text(painter, round((rect.width() - text_width(text, font)) / 2), 42, text, font, theme.color(token))

    def enterEvent(self, event: QEnterEvent) -> None:
        self.update()

    def leaveEvent(self, event: QEvent) -> None:
        self.update()


class Badge(QWidget):
    """A 16 px pill with a count, "99+" beyond; hidden at 0."""

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._count = 0
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()

    @property
    def count(self) -> int:
        return self._count

    @property
    def text(self) -> str:
        return "99+" if self._count > 99 else str(self._count)

    def set_count(self, count: int, spoken: str = "") -> None:
        self._count = count
        self.setAccessibleName(spoken)
        self.setFixedSize(max(16, round(text_width(self.text, self._look.theme.font("label"))) + 9), 16)
        self.setVisible(count > 0)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._look.theme
        painter = QPainter(self)
        rect = QRectF(self.rect())
        fill_round(painter, rect, 8, theme.color("accent"))
        font = theme.font("label")
        font.setWeight(font.Weight.DemiBold)
        x = (rect.width() - text_width(self.text, font)) / 2
        draw_text(painter, x, 12, self.text, font, theme.color("accent-text"))


class Rail(QFrame):
    """`chosen(index)` when a tab is chosen by click, arrow key or shortcut."""

    chosen = Signal(int)

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self.setProperty("plane", "sunken")
        self.setProperty("edge", "right")
        self.setFixedWidth(RAIL_WIDTH)
        self._group = QButtonGroup(self)
        self._group.setExclusive(True)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(4, 10, 4, 10)
        self._column.setSpacing(4)
        self._column.addStretch(1)
        self._group.idClicked.connect(self.chosen)

    def add_tab(self, name: str, icon: str, text: str) -> RailButton:
        button = RailButton(self._look, icon, text, parent=self)
        button.setObjectName(name)
        index = len(self._group.buttons())
        self._group.addButton(button, index)
        self._column.insertWidget(index, button)
        return button

    def add_foot(self, name: str, icon: str, text: str) -> RailButton:
        button = RailButton(self._look, icon, text, tab=False, parent=self)
        button.setObjectName(name)
        self._column.addWidget(button)
        return button

    def select(self, index: int) -> None:
        """Check the tab without emitting `chosen`."""
        self._group.button(index).setChecked(True)

    @property
    def current(self) -> int:
        return self._group.checkedId()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}.get(Qt.Key(event.key()), 0)
        if not step:
            super().keyPressEvent(event)
            return
        index = (self.current + step) % len(self._group.buttons())
        button = self._group.button(index)
        button.click()
        button.setFocus(Qt.FocusReason.ShortcutFocusReason)


class _TabInterface(QAccessibleWidget):
    """A checkable push button reports itself as a check box; the rail's are tabs."""

    def __init__(self, button: RailButton) -> None:
        super().__init__(button, QAccessible.Role.PageTab)
        self._button = button

    def state(self) -> QAccessible.State:
        state = super().state()
        state.checkable = False
        state.checked = False
        state.selectable = True
        state.selected = self._button.isChecked()
        return state

    def text(self, kind: QAccessible.Text) -> str:
        if kind == QAccessible.Text.Name:
            return self._button.accessibleName()
        return super().text(kind)


def install_tab_role(kept: list[Any]) -> None:
    """Teach Qt's accessibility the rail's tabs. Call once per application.

    `kept` holds the interfaces: PySide does not, and Qt's cache only borrows them.
    """

    def make(_class: str, obj: Any) -> Any:
        if isinstance(obj, RailButton) and obj.property("railTab"):
            interface = _TabInterface(obj)
            kept.append(interface)
            return interface
        return None

    kept.append(make)
    QAccessible.installFactory(make)


def spoken_count(words: Sequence[str]) -> str:
    """Join a name and its count for assistive technology."""
    return ", ".join(word for word in words if word)
