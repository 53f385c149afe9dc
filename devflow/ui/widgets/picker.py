"""The quiet picker (icon, text, chevron) and the popup list under, or above, it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPoint, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QAction, QPainter, QPaintEvent
from PySide6.QtWidgets import QMenu, QSizePolicy, QToolButton, QWidget

from devflow.ui.look import Look
from devflow.ui.widgets.painting import baseline, draw_text, elided, fill_round, text_width


@dataclass(frozen=True, slots=True)
class Choice:
    """One row of a picker. `data` is what `chosen` carries; `detail` is faint beside the text; `None` icon is fine."""

    data: object
    text: str
    detail: str = ""
    icon: str | None = None
    enabled: bool = True


class Picker(QToolButton):
    """`QToolButton[role="picker"]`, 26 px: shows the current choice, opens a menu of choices.

    `chosen(data)` when the human picks. `set_choices` may be called at any time, also from `about_to_open`.
    """

    chosen = Signal(object)
    about_to_open = Signal()

    def __init__(
        self,
        look: Look,
        name: str,
        *,
        icon: str | None = None,
        upwards: bool = False,
        max_width: int = 190,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._look = look
        self._name = name
        self._icon_name = icon
        self._upwards = upwards
        self._max_width = max_width
        self._label = ""
        self._tone = "text-muted"
        self._choices: tuple[Choice | None, ...] = ()
        self._current: object = None
        self.setProperty("role", "picker")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(26)
        self.clicked.connect(self.open)
        self.set_label(name)

    def set_label(self, text: str, tone: str = "text-muted") -> None:
        """What the button shows now; the accessible name is the picker's name and this."""
        self._label = text
        self._tone = tone
        self.setAccessibleName(self._name if text == self._name else f"{self._name}: {text}")
        self.setToolTip(self.accessibleName())
        self.updateGeometry()
        self.update()

    def set_choices(self, choices: Sequence[Choice | None], current: object = None) -> None:
        """The rows, `None` for a separator; the one whose data equals `current` is checked and shown."""
        self._choices = tuple(choices)
        self._current = current
        for choice in self._choices:
            if choice is not None and choice.data == current:
                self.set_label(choice.text)

    def open(self) -> None:
        self.about_to_open.emit()
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for choice in self._choices:
            if choice is None:
                menu.addSeparator()
                continue
            action = QAction(f"{choice.text}\t{choice.detail}" if choice.detail else choice.text, menu)
            if choice.icon:
                self._look.icons.put(action, choice.icon)
            action.setCheckable(choice.data == self._current and self._current is not None)
            action.setChecked(action.isCheckable())
            action.setEnabled(choice.enabled)
            action.setData(choice.data)
            menu.addAction(action)
        menu.triggered.connect(self._triggered)
        corner = self.mapToGlobal(self.rect().bottomLeft())
        if self._upwards:
            corner = self.mapToGlobal(QPoint(0, -menu.sizeHint().height() - 4))
        menu.popup(corner)

    def _triggered(self, action: QAction) -> None:
        self.chosen.emit(action.data())

    def sizeHint(self) -> QSize:
        width = 8 + (24 if self._icon_name else 0) + text_width(self._label, self._look.theme.font("small")) + 24
        return QSize(min(round(width) + 2, self._max_width), 26)

    def minimumSizeHint(self) -> QSize:
        return QSize(min(self.sizeHint().width(), 8 + (24 if self._icon_name else 0) + 52), 26)

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._look.theme
        painter = QPainter(self)
        rect = QRectF(self.rect())
        hot = self.underMouse() and self.isEnabled()
        if self.isDown():
            fill_round(painter, rect, 6, theme.color("selection-inactive"))
        elif hot:
            fill_round(painter, rect, 6, theme.color("surface-hover"))
        token = "text-disabled" if not self.isEnabled() else "text" if hot else self._tone
        x = 8.0
        if self._icon_name:
            self._look.icons.paint(painter, x, 5, self._icon_name, token, 16)
            x += 22
        font = theme.font("small")
        shown = elided(self._label, font, rect.width() - x - 24)
        x = draw_text(painter, x, baseline(rect, font), shown, font, theme.color(token))
        self._look.icons.paint(painter, x + 7, 6, "chevron-down", token, 14)
