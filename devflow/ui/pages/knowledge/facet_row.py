"""One choice of a facet: a mark, a word, a count; and the group it stands in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QVBoxLayout, QWidget

from devflow.ui.look import Look
from devflow.ui.widgets import Label
from devflow.ui.widgets.painting import baseline, draw_dot, draw_text, draw_text_right, elided, fill_round

_HEIGHT = 28


@dataclass(frozen=True, slots=True)
class Facet:
    """`mark` is a colour token for a dot, `#` for a tag, or empty; `round` a status's disc, else a kind's square. With
    an `icon`, that stands there in the mark's colour."""

    value: object
    text: str
    count: int
    mark: str = ""
    round: bool = False
    icon: str = ""


class FacetRow(QAbstractButton):
    """A checkable row; checked, it has the quiet selection's fill: the list beside it owns the keyboard."""

    def __init__(self, look: Look, facet: Facet, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self.facet = facet
        self.setCheckable(True)
        self.setFixedHeight(_HEIGHT)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setProperty("focusRadius", 6)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.show_facet(facet)

    def show_facet(self, facet: Facet) -> None:
        self.facet = facet
        self.setText(facet.text)
        self.setAccessibleName(f"{facet.text}, {facet.count}")
        self.setObjectName(f"facet-{facet.value}")
        self.update()

    def nextCheckState(self) -> None:
        """The group decides what is checked."""

    def sizeHint(self) -> QSize:
        return QSize(160, _HEIGHT)

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._look.theme
        painter = QPainter(self)
        rect = QRectF(self.rect())
        if self.isChecked():
            fill_round(painter, rect, 6, theme.color("selection-inactive"))
        elif self.underMouse():
            fill_round(painter, rect, 6, theme.color("surface-hover"))
        font, small, facet = theme.font("ui"), theme.font("small"), self.facet
        base = baseline(rect, font)
        x = rect.left() + 24
        if facet.mark == "#":
            draw_text(painter, rect.left() + 8, base, "#", font, theme.color("text-faint"))
        elif facet.icon:
            y = (rect.height() - 14) / 2 + 0.5
            self._look.icons.paint(painter, rect.left() + 5, y, facet.icon, facet.mark, 14)
        elif facet.mark:
            draw_dot(painter, QPointF(rect.left() + 12, rect.center().y()), 8, theme.color(facet.mark), not facet.round)
        until = draw_text_right(
            painter, rect.right() - 8, baseline(rect, small), f"{facet.count:,}", small, theme.color("text-faint")
        )
        color = theme.color("text" if facet.count or self.isChecked() else "text-faint")
        draw_text(painter, x, base, elided(facet.text, font, until - 8 - x), font, color)


class FacetGroup(QWidget):
    """A heading and its rows; at most one is checked. `chosen(value)`; choosing the checked one again frees it (None).

    Beyond `most` rows the others stand behind `more_asked`.
    """

    chosen = Signal(object)
    more_asked = Signal()

    def __init__(self, look: Look, name: str, title: str, *, most: int = 99, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._most = most
        self._rows: list[FacetRow] = []
        self.setObjectName(name)
        self.setAccessibleName(title)
        self._title = Label(title, "small", "muted")
        self._title.setContentsMargins(8, 0, 0, 0)
        self.more = _More(look)
        self.more.clicked.connect(self.more_asked)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 13)
        self._column.setSpacing(0)
        self._column.addWidget(self._title)
        self._column.addSpacing(3)
        self._column.addWidget(self.more)

    @property
    def rows(self) -> tuple[FacetRow, ...]:
        return tuple(self._rows)

    def row(self, value: object) -> FacetRow | None:
        return next((row for row in self._rows if row.facet.value == value), None)

    def show_facets(self, facets: Sequence[Facet], current: object) -> None:
        """The rows in order; the current one is shown even where it would stand behind "more"."""
        shown = list(facets[: self._most])
        if current is not None and all(facet.value != current for facet in shown):
            shown += [facet for facet in facets if facet.value == current]
        while len(self._rows) > len(shown):
            row = self._rows.pop()
            row.hide()
            row.deleteLater()
        for place, facet in enumerate(shown):
            if place == len(self._rows):
                row = FacetRow(self._look, facet, self)
                row.clicked.connect(self._clicked)
                self._rows.append(row)
                self._column.insertWidget(2 + place, row)
            self._rows[place].show_facet(facet)
            self._rows[place].setChecked(facet.value == current)
            free = self._look.t("Click again to take this filter off") if facet.value == current else ""
            self._rows[place].setToolTip(free)
        hidden = len(facets) - len(shown)
        self.more.setVisible(hidden > 0)
        self.more.setText(self._look.t("{count} more…", count=hidden))
        self.more.setAccessibleName(self.more.text())
        self.setVisible(bool(shown))

    def _clicked(self) -> None:
        row = self.sender()
        if isinstance(row, FacetRow):
            self.chosen.emit(None if row.isChecked() else row.facet.value)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrows move between the rows."""
        step = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}.get(Qt.Key(event.key()), 0)
        focused = next((place for place, row in enumerate(self._rows) if row.hasFocus()), None)
        if step and focused is not None and 0 <= focused + step < len(self._rows):
            self._rows[focused + step].setFocus(Qt.FocusReason.ShortcutFocusReason)
            return
        event.ignore()


class _More(QAbstractButton):
    """`42 more…`."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self.setFixedHeight(_HEIGHT)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setProperty("focusRadius", 6)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.hide()

    def sizeHint(self) -> QSize:
        return QSize(160, _HEIGHT)

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._look.theme
        painter = QPainter(self)
        rect = QRectF(self.rect())
        if self.underMouse():
            fill_round(painter, rect, 6, theme.color("surface-hover"))
        font = theme.font("ui")
        draw_text(painter, rect.left() + 24, baseline(rect, font), self.text(), font, theme.color("text-muted"))
