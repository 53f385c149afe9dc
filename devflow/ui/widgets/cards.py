"""Planes and blocks: pane, hairline, card, option row, notice strip, empty state."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from devflow.ui.look import Look
from devflow.ui.widgets.buttons import Button
from devflow.ui.widgets.chips import Label, Paragraph
from devflow.ui.widgets.painting import restyle


class Pane(QFrame):
    """A plane: surface, sunken, raised or none; with a hairline on one edge."""

    def __init__(self, plane: str = "surface", edge: str = "none", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("plane", plane)
        self.setProperty("edge", edge)


class Hairline(QFrame):
    """One px across, or down with `vertical`."""

    def __init__(self, parent: QWidget | None = None, *, vertical: bool = False) -> None:
        super().__init__(parent)
        self.setProperty("role", "hairline")
        if vertical:
            self.setFixedWidth(1)
        else:
            self.setFixedHeight(1)


class IconLabel(QWidget):
    """An icon as a widget; it follows the theme."""

    def __init__(
        self, look: Look, name: str, color: str = "text-muted", size: int = 16, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._look = look
        self._icon_name, self._color, self._size = name, color, size
        self.setFixedSize(size, size)

    def set_icon(self, name: str, color: str | None = None) -> None:
        self._icon_name = name
        self._color = color or self._color
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        y = (self.height() - self._size) / 2
        self._look.icons.paint(QPainter(self), 0, y, self._icon_name, self._color, self._size)


class Card(QFrame):
    """A raised card with a column layout (`column`); never nest cards."""

    def __init__(self, parent: QWidget | None = None, *, padding: int = 16, spacing: int = 0) -> None:
        super().__init__(parent)
        self.setProperty("role", "card")
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(padding, 0, padding, 0)
        self.column.setSpacing(spacing)

    def add_row(self, row: QWidget) -> None:
        """Append a row, with a hairline before every row but the first."""
        if self.column.count():
            line = Hairline(self)
            indent = row.property("lineIndent") or 0
            if indent:
                holder = QWidget(self)
                inner = QHBoxLayout(holder)
                inner.setContentsMargins(int(indent), 0, 0, 0)
                inner.addWidget(line)
                self.column.addWidget(holder)
            else:
                self.column.addWidget(line)
        self.column.addWidget(row)


class OptionRow(QWidget):
    """Title and explanation on the left, controls on the right. 54 px (settings) or 72 px with an icon (welcome)."""

    def __init__(
        self,
        look: Look,
        title: str,
        explanation: str = "",
        *controls: QWidget,
        icon: str | None = None,
        height: int = 54,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._look = look
        self.setMinimumHeight(height)
        self.title = Label(title, "body-strong" if icon else "ui")
        self.explanation = Label(explanation, "small", "muted", wrap=True)
        if not explanation:  # never "show if": what has no parent yet would be shown as a window of its own
            self.explanation.hide()
        self.icon: IconLabel | None = None
        row = QHBoxLayout(self)
        row.setContentsMargins(1 if icon else 0, 6, 0, 6)
        row.setSpacing(8)
        if icon:
            self.icon = IconLabel(look, icon, "text-muted", 20)
            row.addWidget(self.icon)
            row.addSpacing(9)
            self.setProperty("lineIndent", 38)
        words = QVBoxLayout()
        words.setSpacing(0)
        words.addStretch(1)
        words.addWidget(self.title)
        words.addWidget(self.explanation)
        words.addStretch(1)
        row.addLayout(words, 1)
        self.controls = QHBoxLayout()
        self.controls.setSpacing(8)
        row.addLayout(self.controls)
        self._controls = controls
        for control in controls:
            self.controls.addWidget(control)
            if not control.accessibleName():
                control.setAccessibleName(title)
        self.setAccessibleName(title)

    def set_words(self, title: str, explanation: str) -> None:
        self.title.setText(title)
        self.explanation.setText(explanation)
        self.explanation.setVisible(bool(explanation))

    def set_controls(self, *controls: QWidget) -> None:
        """Replace the controls on the right; the old ones are deleted."""
        for control in self._controls:
            self.controls.removeWidget(control)
            control.hide()
            control.deleteLater()
        self._controls = controls
        for control in controls:
            self.controls.addWidget(control)

    def set_enabled(self, on: bool, reason: str = "") -> None:
        """Switch the row off; `reason` then stands in the explanation's place."""
        self.title.setEnabled(on)
        for control in self._controls:
            control.setEnabled(on)
        if reason:
            self.explanation.setText(reason)
            self.explanation.show()


_NOTICE_ICONS = {"warning": "warning", "danger": "warning", "info": "info", "success": "check", "accent": "info"}
_NOTICE_COLORS = {"accent": "accent-fg"}


class NoticeStrip(QFrame):
    """A tinted strip: icon, words, one link. `tone`: warning, danger, info, success, accent."""

    acted = Signal()

    def __init__(
        self, look: Look, text: str = "", tone: str = "warning", *, link: str = "", parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._look = look
        self.setProperty("role", "notice")
        self.setProperty("tone", tone)
        self._icon = IconLabel(look, _NOTICE_ICONS[tone], _NOTICE_COLORS.get(tone, tone), 14)
        self.words = Paragraph(look, text, "small", "text")
        self.link = Button(look, link, variant="link")
        if not link:
            self.link.hide()
        self.link.clicked.connect(self.acted)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 9, 12, 9)
        row.setSpacing(10)
        row.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self.words, 1)
        row.addWidget(self.link, 0, Qt.AlignmentFlag.AlignTop)
        self._icon.setFixedSize(14, 18)  # the height of the first line of words
        self.setAccessibleName(text)

    def say(self, text: str, tone: str | None = None, link: str | None = None) -> None:
        """Show these words (and show the strip)."""
        if tone is not None:
            restyle(self, "tone", tone)
            self._icon.set_icon(_NOTICE_ICONS[tone], _NOTICE_COLORS.get(tone, tone))
        if link is not None:
            self.link.set_label(link)
            self.link.setVisible(bool(link))
        self.words.setText(text)
        self.setAccessibleName(text)
        self.show()


class EmptyState(QWidget):
    """Icon, one line, one sentence with the reason, at most two buttons; the block is centred at 40 % height."""

    def __init__(
        self,
        look: Look,
        icon: str,
        line: str,
        sentence: str = "",
        actions: Sequence[tuple[str, Callable[[], object]]] = (),
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._look = look
        self._icon = IconLabel(look, icon, "text-faint", 32)
        self.line = Label(line, "heading")
        self.line.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.line.setWordWrap(True)
        self.sentence = _Sentence(sentence)
        self.buttons: list[Button] = []
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 24, 24, 24)
        column.setSpacing(6)
        column.addStretch(40)
        column.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addSpacing(6)
        column.addWidget(self.line)
        column.addWidget(self.sentence, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addSpacing(8)
        self._row = QHBoxLayout()
        self._row.setSpacing(8)
        column.addLayout(self._row)
        column.addStretch(60)
        self.set_actions(actions)

    def say(self, line: str, sentence: str, actions: Sequence[tuple[str, Callable[[], object]]] | None = None) -> None:
        self.line.setText(line)
        self.sentence.setText(sentence)
        self.sentence.setVisible(bool(sentence))
        if actions is not None:
            self.set_actions(actions)

    def set_actions(self, actions: Sequence[tuple[str, Callable[[], object]]]) -> None:
        """Up to two buttons, the first one primary."""
        while (item := self._row.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.deleteLater()
        self.buttons = []
        self._row.addStretch(1)
        for index, (text, act) in enumerate(actions[:2]):
            button = Button(self._look, text, variant="primary" if index == 0 else "default")
            button.clicked.connect(lambda _checked=False, act=act: act())
            self._row.addWidget(button)
            self.buttons.append(button)
        self._row.addStretch(1)


class _Sentence(QLabel):
    """Wraps within 360 px."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.setProperty("tone", "muted")
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(True)
        self.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.setMaximumWidth(360)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)

    def sizeHint(self) -> QSize:
        width = min(360, self.fontMetrics().horizontalAdvance(self.text()) + 4)
        return QSize(width, self.heightForWidth(width))

    def heightForWidth(self, width: int) -> int:
        """A layout asks for its own width, which is more than the label takes: one line there is two here."""
        return super().heightForWidth(min(width, 360))


def section_title(text: str, count: str = "") -> QWidget:
    """A 13/600 heading with a faint count beside it."""
    holder = QWidget()
    row = QHBoxLayout(holder)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(5)
    row.addWidget(Label(text, "section"))
    if count:
        row.addWidget(Label(count, "ui", "faint"))
    row.addStretch(1)
    return holder
