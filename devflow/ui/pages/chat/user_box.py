"""The human's message: a quiet box, its acts on hover or by keyboard, and its editor for asking again."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from devflow.domain.conversation import Message
from devflow.domain.skill import UsedSkill
from devflow.domain.text.as_typed import as_typed
from devflow.ui.context import UiContext
from devflow.ui.pages.chat.composer_field import ComposerField
from devflow.ui.pages.chat.skill_words import of_whom
from devflow.ui.pages.chat.turn_acts import TurnActs
from devflow.ui.widgets import Button, Chip, Label, MarkdownView

_PAD_X, _PAD_Y = 14, 10


class UserBox(QFrame):
    """`QFrame[role="turn"]`. `edit` puts a field in the text's place; Esc takes it back."""

    edited = Signal()

    def __init__(self, ctx: UiContext, acts: TurnActs, message: Message, width: int) -> None:
        super().__init__()
        self._ctx = ctx
        self._acts = acts
        self._editor: _Editor | None = None
        self._message = message
        self.skill: Chip | None = None
        self.setObjectName("userMessage")
        self.setProperty("role", "turn")
        self.setProperty("focusRadius", 8)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.text = MarkdownView(ctx, self)
        self.text.expect_width(max(80, width - 2 * _PAD_X - 2))
        self.text.set_citing(False)
        self.text.set_markdown(as_typed(message.content))
        self.text.link_activated.connect(acts.open_link)
        self.setAccessibleName(ctx.t("You: {text}", text=message.content[:500]))
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(_PAD_X, _PAD_Y, _PAD_X, _PAD_Y)
        self._column.setSpacing(0)
        self._column.addWidget(self.text)

    def show_message(self, message: Message) -> None:
        if message.content != self._message.content:
            self.text.set_markdown(as_typed(message.content))
        self._message = message

    def show_skill(self, skill: UsedSkill | None) -> None:
        """A chip above the text names the skill that the message was sent with."""
        if skill is None:
            if self.skill is not None:
                self.skill.hide()
            return
        if self.skill is None:
            self.skill = Chip(skill.name, "reference")
            self.skill.setObjectName("skillChip")
            self._column.insertWidget(0, self.skill)
            self._column.insertSpacing(1, 6)
        t = self._ctx.t
        self.skill.setText(skill.name)
        self.skill.setToolTip(of_whom(t, skill.source))
        self.skill.show()
        self.setAccessibleName(
            t("You, with the skill {name}: {text}", name=skill.name, text=self._message.content[:500])
        )

    @property
    def editing(self) -> bool:
        return self._editor is not None

    def edit(self) -> None:
        """Ask with other words; the message there is stays as an alternative."""
        if self._editor is not None:
            return
        self._editor = _Editor(self._ctx, self._message.content)
        self._editor.cancel.clicked.connect(self.stop_editing)
        self._editor.send.clicked.connect(self._send)
        self._editor.field.submitted.connect(self._send)
        self.text.hide()
        self._column.addWidget(self._editor)
        self._editor.show()
        self._editor.field.setFocus(Qt.FocusReason.OtherFocusReason)

    def stop_editing(self) -> None:
        if self._editor is None:
            return
        self._column.removeWidget(self._editor)
        self._editor.hide()
        self._editor.deleteLater()
        self._editor = None
        self.text.show()
        self.setFocus(Qt.FocusReason.OtherFocusReason)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self._editor is not None:
            self.stop_editing()
            return
        super().keyPressEvent(event)

    def _send(self) -> None:
        if self._editor is None:
            return
        text = self._editor.field.toPlainText()
        if not text.strip():
            return
        self._editor.setEnabled(False)
        self._acts.resend.emit(self._message.id, text)

    def refuse_edit(self) -> None:
        """The new text was not recorded: it stays in the field."""
        if self._editor is not None:
            self._editor.setEnabled(True)


class _Editor(QWidget):
    def __init__(self, ctx: UiContext, text: str) -> None:
        super().__init__()
        t = ctx.t
        self.field = ComposerField(ctx, t("Edit your message"))
        self.field.setObjectName("editMessageField")
        self.field.set_text(text)
        self.cancel = Button(ctx, t("Cancel"), small=True)
        self.cancel.setObjectName("cancelEditButton")
        self.send = Button(ctx, t("Send again"), variant="primary", small=True)
        self.send.setObjectName("resendButton")
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(Label(t("The first version stays as an alternative."), "small", "muted"))
        row.addStretch(1)
        row.addWidget(self.cancel)
        row.addWidget(self.send)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(self.field)
        column.addLayout(row)
