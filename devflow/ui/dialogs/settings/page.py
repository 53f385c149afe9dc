"""A page of the settings: title, sentence, cards of option rows; it scrolls when the dialog is shorter."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from devflow.domain.errors import UserFacing
from devflow.domain.messages import Translator
from devflow.ui.context import UiContext
from devflow.ui.widgets import Card, Label, OptionRow
from devflow.ui.widgets.painting import restyle


class SettingsPage(QScrollArea):
    """`column` takes what derives from it adds. `head` is the row of the title, for a button at its right."""

    def __init__(self, ctx: UiContext, name: str, title: str, sentence: str = "") -> None:
        super().__init__()
        self._ctx = ctx
        self.setObjectName(name)
        self.setAccessibleName(title)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        holder = QWidget()
        holder.setProperty("role", "page")
        self.column = QVBoxLayout(holder)
        self.column.setContentsMargins(28, 18, 28, 20)
        self.column.setSpacing(0)
        self.head = QHBoxLayout()
        self.head.setSpacing(8)
        self.head.addWidget(Label(title, "title"), 1)
        self.column.addLayout(self.head)
        if sentence:
            self.column.addWidget(Label(sentence, "ui", "muted", wrap=True))
        self.setWidget(holder)

    def add_section(self, title: str, *rows: QWidget) -> Card:
        """A card of rows under a heading (none where it is empty)."""
        self.column.addSpacing(20 if title else 16)
        if title:
            self.column.addWidget(Label(title, "section"))
            self.column.addSpacing(6)
        card = Card(padding=16)
        for row in rows:
            card.add_row(row)
        self.column.addWidget(card)
        return card

    def finish(self) -> None:
        self.column.addStretch(1)

    def show_wrong(self, field: str, error: UserFacing) -> QWidget | None:
        """Say under the option what is wrong with it; returns what takes the keyboard. None: it is not here."""
        return None

    def first_field(self) -> QWidget | None:
        """What has the keyboard when the page is opened."""
        return None

    def jump_to(self, name: str) -> QWidget | None:
        """Scroll to the option of that objectName and give it the keyboard."""
        found = self.findChild(QWidget, name)
        if found is not None:
            self.ensureWidgetVisible(found, 40, 60)
            if found.isEnabled() and found.focusPolicy() != Qt.FocusPolicy.NoFocus:
                found.setFocus(Qt.FocusReason.ShortcutFocusReason)
        return found


def sentence_of(t: Translator, error: UserFacing) -> str:
    """What happened and what to do, in one line."""
    said, hint = error.render(t), error.render_hint(t)
    return f"{said}{'' if said.endswith('。') else ' '}{hint}" if hint else said


class ProblemLine(Label):
    """What is wrong with the field above it; takes no room while nothing is."""

    def __init__(self, field: QWidget) -> None:
        super().__init__("", "small", "danger", wrap=True)
        self._field = field
        self.hide()

    def say(self, text: str, tone: str = "danger") -> None:
        self.setText(text)
        self.set_tone(tone)
        self.setVisible(bool(text))
        self._field.setAccessibleDescription(text)
        restyle(self._field, "invalid", "true" if text and tone == "danger" else "false")


def reason_row(row: OptionRow, on: bool, explanation: str, reason: str) -> None:
    """Switch a row on with its explanation, or off with the reason in the explanation's place."""
    row.set_words(row.title.text(), explanation)
    row.set_enabled(on, "" if on else reason)
