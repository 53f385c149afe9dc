"""The composer: the queued message, the text, and its foot with folder, model, meter, send or stop."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from devflow.ui.context import UiContext
from devflow.ui.pages.chat.command_note import CommandNote
from devflow.ui.pages.chat.composer_field import ComposerField
from devflow.ui.pages.chat.context_meter import ContextMeter
from devflow.ui.pages.chat.kb_picker import KbPicker
from devflow.ui.pages.chat.pickers import ModelPicker, WorkspacePicker
from devflow.ui.widgets import Button, ElidedLabel, Hairline, IconButton, IconLabel, Label, SendButton
from devflow.ui.widgets.painting import restyle

IDLE, RUNNING, AWAITING = "idle", "running", "awaiting"


class Composer(QFrame):
    """Says what the human wants; keeps the text until told that it was recorded. Enter here never decides anything."""

    submitted = Signal(str)
    stop_wanted = Signal()
    typed = Signal(str)
    queue_edit_wanted = Signal()
    queue_cancel_wanted = Signal()

    def __init__(self, ctx: UiContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._ctx = ctx
        self._mode = IDLE
        self._has_pages = False
        t = ctx.t
        self.setProperty("role", "composer")
        self.queue = QueueStrip(ctx)
        self.note = FolderNote(ctx)
        self.command_note = CommandNote(ctx)
        self.field = ComposerField(ctx, t("Message"))
        self.field.setObjectName("composer")
        self.command_note.follows = self.field
        self.base = KbPicker(ctx)
        self.workspace = WorkspacePicker(ctx)
        self.model = ModelPicker(ctx)
        self.meter = ContextMeter(ctx)
        self.meter.setObjectName("contextMeter")
        self.send = SendButton(ctx, t("Send"))
        self.send.setObjectName("sendButton")
        self.stop = SendButton(ctx, t("Stop"), stop=True)
        self.stop.setObjectName("stopButton")

        self._text_row = QHBoxLayout()
        self._text_row.setContentsMargins(14, 11, 14, 2)
        self._text_row.addWidget(self.field)
        foot = self._foot = QHBoxLayout()
        foot.setContentsMargins(6, 9, 8, 8)
        foot.setSpacing(2)
        foot.addWidget(self.base, 0, Qt.AlignmentFlag.AlignVCenter)
        foot.addWidget(self.workspace, 0, Qt.AlignmentFlag.AlignVCenter)
        foot.addWidget(self.model, 0, Qt.AlignmentFlag.AlignVCenter)
        foot.addStretch(1)
        foot.addWidget(self.meter, 0, Qt.AlignmentFlag.AlignVCenter)
        foot.addSpacing(8)
        foot.addWidget(self.send)
        foot.addWidget(self.stop)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        self._column.addWidget(self.queue)
        self._column.addWidget(self.command_note)
        self._column.addWidget(self.note)
        self._column.addLayout(self._text_row)
        self._column.addLayout(foot)

        self.field.submitted.connect(self._submit)
        self.field.textChanged.connect(self._changed)
        self.field.escaped.connect(self._escaped)
        self.field.focused.connect(self._focused)
        self.send.clicked.connect(self._submit)
        self.stop.clicked.connect(self.stop_wanted)
        self.queue.edit.clicked.connect(self.queue_edit_wanted)
        self.queue.cancel.clicked.connect(self.queue_cancel_wanted)
        self.note.choose.clicked.connect(self.workspace.browse)
        self.set_mode(IDLE)

    @property
    def text(self) -> str:
        return self.field.toPlainText()

    def set_text(self, text: str) -> None:
        """Put `text` in without counting it as typed."""
        if text == self.text:
            return
        self.field.blockSignals(True)
        self.field.set_text(text)
        self.field.blockSignals(False)
        self.field.update_hint()
        self._judge()

    def set_mode(self, mode: str) -> None:
        """`idle`: Enter sends. `running`, `awaiting`: Stop is there, and Enter queues."""
        self._mode = mode
        t = self._ctx.t
        hints = {
            IDLE: t("Ask anything. @ cites a page, / is for commands")
            if self._has_pages
            else t("Ask anything. / is for commands"),
            RUNNING: t("Keep typing; it is sent when this reply ends"),
            AWAITING: t("Keep typing; it is sent after your decision"),
        }
        self.field.set_hint(hints[mode])
        self.stop.setVisible(mode != IDLE)
        self.send.setVisible(mode == IDLE)
        self._judge()

    def offer_pages(self, on: bool) -> None:
        """Whether `@` offers pages here: the hint tells of it."""
        if on != self._has_pages:
            self._has_pages = on
            self.set_mode(self._mode)

    def focus(self) -> None:
        self.field.setFocus(Qt.FocusReason.OtherFocusReason)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.field.setFocus(Qt.FocusReason.MouseFocusReason)

    def _submit(self) -> None:
        if self.text.strip():
            self.submitted.emit(self.text)

    def _escaped(self) -> None:
        """Stops a running reply. One that waits for a decision is left alone: no key here decides anything."""
        if self._mode == RUNNING:
            self.stop_wanted.emit()

    def _changed(self) -> None:
        self._judge()
        self.typed.emit(self.text)

    def _judge(self) -> None:
        ready = bool(self.text.strip())
        self.send.setEnabled(ready)

    def _focused(self, on: bool) -> None:
        """The border is painted over the margins, 1 px or 2: no margin follows it, so that nothing shifts."""
        restyle(self, "active", "true" if on else "false")


class QueueStrip(QWidget):
    """The message that is sent when the run ends: visible, editable, cancellable. 32 px on top of the composer."""

    def __init__(self, ctx: UiContext) -> None:
        super().__init__()
        t = ctx.t
        self.setObjectName("queuedMessage")
        self.text = ElidedLabel(ctx, "", color="text")
        self.edit = IconButton(ctx, "pencil", t("Edit the queued message"), small=True)
        self.edit.setObjectName("editQueuedButton")
        self.cancel = IconButton(ctx, "cross", t("Do not send it"), small=True)
        self.cancel.setObjectName("cancelQueuedButton")
        self._row = QHBoxLayout()
        self._row.setContentsMargins(14, 4, 12, 3)
        self._row.setSpacing(8)
        self._row.addWidget(IconLabel(ctx, "clock", "text-muted", 14))
        self._row.addWidget(Label(t("Queued"), "ui", "muted"))
        self._row.addWidget(self.text, 1)
        self._row.addWidget(self.edit)
        self._row.addWidget(self.cancel)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(self._row)
        self._line = QHBoxLayout()
        self._line.setContentsMargins(2, 0, 2, 0)
        self._line.addWidget(Hairline())
        column.addLayout(self._line)
        self.hide()

    def show_text(self, text: str) -> None:
        """Show `text`, or hide with an empty one."""
        self.text.set_text(text)
        self.setAccessibleName(text)
        self.setVisible(bool(text))


class FolderNote(QWidget):
    """No project folder: file tools are off. One quiet line with the way out."""

    def __init__(self, ctx: UiContext) -> None:
        super().__init__()
        t = ctx.t
        self.setObjectName("noFolderNote")
        self.choose = Button(ctx, t("Choose one"), variant="link")
        self.choose.setObjectName("chooseFolderButton")
        words = Label(t("No project folder: file tools are off."), "small", "muted")
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(14, 8, 12, 0)
        self._row.setSpacing(6)
        self._row.addWidget(IconLabel(ctx, "folder", "text-faint", 14))
        self._row.addWidget(words)
        self._row.addWidget(self.choose)
        self._row.addStretch(1)
        self.hide()
