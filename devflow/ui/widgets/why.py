"""“Why this?”: a line that unfolds into the facts of a hit, by a click or by the keyboard."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QGridLayout, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from devflow.ui.look import Look
from devflow.ui.models.why import Why
from devflow.ui.widgets.chips import Label, Paragraph
from devflow.ui.widgets.painting import baseline, draw_text, elided, text_width

_CHEVRON, _GAP = 12, 3


class WhyButton(QAbstractButton):
    """Small words with a chevron. What a screen reader says: the question, the words, and whether it is unfolded."""

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self.setObjectName("whyButton")
        self.setCheckable(True)
        self.setProperty("focusRadius", 4)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.toggled.connect(self._speak)

    def say(self, words: str, line: str) -> None:
        """`words` stand in the button; `line` is the whole reason, in the tooltip."""
        self.setText(words)
        self.setToolTip(line)
        self._speak()
        self.updateGeometry()
        self.update()

    def _speak(self, _on: bool = False) -> None:
        t = self._look.t
        question = t("Why this?")
        words = self.text()
        self.setAccessibleName(question if words == question else f"{question} {words}")
        state = t("unfolded") if self.isChecked() else t("folded")
        self.setAccessibleDescription(f"{self.toolTip()}, {state}" if self.toolTip() else state)

    def sizeHint(self) -> QSize:
        width = text_width(self.text(), self._look.theme.font("small"))
        return QSize(round(width) + _GAP + _CHEVRON + 2, 22)

    def minimumSizeHint(self) -> QSize:
        return QSize(60, 22)

    def paintEvent(self, event: QPaintEvent) -> None:
        theme, painter = self._look.theme, QPainter(self)
        font = theme.font("small")
        color = "text" if self.underMouse() else "text-muted"
        shown = elided(self.text(), font, self.width() - _GAP - _CHEVRON)
        end = draw_text(painter, 0, baseline(QRectF(self.rect()), font), shown, font, theme.color(color))
        icon = "chevron-down" if self.isChecked() else "chevron-right"
        self._look.icons.paint(painter, end + _GAP, (self.height() - _CHEVRON) / 2 + 0.5, icon, color, _CHEVRON)


class WhyFacts(QWidget):
    """Names and words, row by row; hidden until its button unfolds it."""

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("whyFacts")
        self._look = look
        self._facts: tuple[tuple[str, str], ...] = ()
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 2, 0, 2)
        self._grid.setHorizontalSpacing(10)
        self._grid.setVerticalSpacing(2)
        self._grid.setColumnStretch(1, 1)
        self.hide()

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        return self._facts

    def show_facts(self, facts: tuple[tuple[str, str], ...]) -> None:
        if facts == self._facts:
            return
        self._facts = facts
        while (item := self._grid.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        for row, (name, words) in enumerate(facts):
            self._grid.addWidget(Label(name, "small", "faint"), row, 0, Qt.AlignmentFlag.AlignTop)
            value = Paragraph(self._look, words, "small", "text-muted")
            self._grid.addWidget(value, row, 1)
        self.setAccessibleName("; ".join(f"{name}: {words}" for name, words in facts))


class WhyBar(QWidget):
    """The button over its facts, under a title; hidden where nothing was searched for. It stays unfolded from hit to
    hit."""

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self.button = WhyButton(look)
        self.facts = WhyFacts(look)
        self.button.toggled.connect(self.facts.setVisible)
        line = QHBoxLayout()
        line.setContentsMargins(0, 0, 0, 0)
        line.addWidget(self.button)
        line.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 3, 0, 0)
        column.setSpacing(0)
        column.addLayout(line)
        column.addWidget(self.facts)
        self.hide()

    def show_why(self, why: Why | None) -> None:
        """None: it is not there because of a search."""
        if why is not None:
            self.button.say(self._look.t("Why this?"), why.line)
            self.facts.show_facts(why.facts)
        self.setVisible(why is not None)

    def toggle(self) -> bool:
        """Unfold or fold it; False while there is nothing to say."""
        if not self.isVisible():
            return False
        self.button.toggle()
        return True
