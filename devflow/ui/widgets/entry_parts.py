"""Small parts of an entry's page: links that elide, facts, evidence, checks."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractButton, QGridLayout, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from devflow.ui.look import Look
from devflow.ui.models.checks import Check
from devflow.ui.widgets.cards import IconLabel, section_title
from devflow.ui.widgets.chips import Label
from devflow.ui.widgets.painting import baseline, draw_text, elided, text_width


class Link(QAbstractButton):
    """A link in text: accent, underlined under the pointer, elided at the end; or plain words with no address."""

    def __init__(self, look: Look, text: str = "", *, role: str = "small", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._role = role
        self.address = ""
        self.setProperty("focusRadius", 3)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.show_link(text)

    def show_link(self, text: str, address: str = "") -> None:
        """An empty address makes it plain text, which takes neither focus nor clicks."""
        self.address = address
        self.setText(text)
        self.setAccessibleName(text)
        leads = bool(address)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus if leads else Qt.FocusPolicy.NoFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents, not leads)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover, leads)
        self.setCursor(Qt.CursorShape.PointingHandCursor if leads else Qt.CursorShape.ArrowCursor)
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(
            round(text_width(self.text(), self._look.theme.font(self._role))) + 3,
            self._look.theme.line_height(self._role),
        )

    def minimumSizeHint(self) -> QSize:
        return QSize(min(40, self.sizeHint().width()), self._look.theme.line_height(self._role))

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._look.theme
        font = theme.font(self._role)
        shown = elided(self.text(), font, self.width())
        self.setToolTip("" if shown == self.text() else self.text())
        font.setUnderline(bool(self.address) and self.underMouse())
        painter = QPainter(self)
        color = theme.color("accent-fg" if self.address else "text")
        draw_text(painter, 0, baseline(QRectF(self.rect()), font), shown, font, color)


class FactsGrid(QWidget):
    """Names and values in two columns of 26 px rows, in one where two would cut the values.

    Hand it the value widgets once, in reading order.
    """

    _TWO = 420
    """px from which there is room for two columns."""

    def __init__(self, facts: list[tuple[str, QWidget]], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._columns = 0
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(0)
        self._grid.setVerticalSpacing(0)
        self._parts = [(_fact_name(name), _fact_value(value)) for name, value in facts]
        self._place(2)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place(2 if self.width() >= self._TWO else 1)

    def _place(self, columns: int) -> None:
        if columns == self._columns:
            return
        self._columns = columns
        for row in range(self._grid.rowCount()):
            self._grid.setRowMinimumHeight(row, 0)
        for place, (name, value) in enumerate(self._parts):
            row, half = divmod(place, columns)
            self._grid.addWidget(name, row, 2 * half)
            self._grid.addWidget(value, row, 2 * half + 1)
            self._grid.setRowMinimumHeight(row, 26)
        self._grid.setColumnStretch(1, 1)
        self._grid.setColumnStretch(3, columns - 1)


def _fact_name(name: str) -> QWidget:
    label = Label(name, "small", "muted")
    label.setFixedWidth(96)
    return label


def _fact_value(value: QWidget) -> QWidget:
    holder = QWidget()
    row = QHBoxLayout(holder)
    row.setContentsMargins(0, 0, 12, 0)
    row.addWidget(value)
    row.addStretch(1)
    return holder


class Quote(QWidget):
    """Who said it, where, and the words: a bar at the left marks them as somebody else's."""

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self.icon = IconLabel(look, "user", "text-faint", 14)
        self.who = Label("", "small", "muted")
        self.open = Link(look)
        self.words = Label("", "ui", "muted", wrap=True)
        self.words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        line = QHBoxLayout()
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(6)
        line.addWidget(self.icon)
        line.addWidget(self.who)
        line.addWidget(self.open)
        line.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 0, 0, 0)
        column.setSpacing(2)
        column.addLayout(line)
        column.addWidget(self.words)

    def paintEvent(self, event: QPaintEvent) -> None:
        QPainter(self).fillRect(QRectF(0, 0, 2, self.height()), self._look.theme.color("hairline-strong"))


class Checks(QWidget):
    """A line of findings: a tick, or a warning sign, and the words."""

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(6)
        self.setFixedHeight(20)

    def show_checks(self, checks: tuple[Check, ...]) -> None:
        while (item := self._row.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        for place, check in enumerate(checks):
            if place:
                self._row.addSpacing(12)
            self._row.addWidget(
                IconLabel(self._look, "check", "success", 14)
                if check.good
                else IconLabel(self._look, "warning", "warning", 14)
            )
            words = Label(check.text, "small", "muted" if check.good else "warning")
            words.setToolTip(check.details)
            self._row.addWidget(words)
        self._row.addStretch(1)
        self.setAccessibleName("; ".join(check.text for check in checks))


class Section(QWidget):
    """A 13/600 heading with what stands under it."""

    def __init__(self, title: str, *parts: QWidget, gap: int = 8, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(gap)
        column.addWidget(section_title(title))
        for part in parts:
            column.addWidget(part)
