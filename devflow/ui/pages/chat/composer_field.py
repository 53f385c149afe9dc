"""The composer's text: one line to ten; Enter sends, Shift+Enter breaks, an input method's Enter never sends."""

from __future__ import annotations

from PySide6.QtCore import QMimeData, QPointF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QFocusEvent,
    QInputMethodEvent,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QTextBlockFormat,
    QTextCursor,
)
from PySide6.QtWidgets import QApplication, QFrame, QSizePolicy, QTextEdit, QWidget

from devflow.ui.look import Look

_LINE = 22
_MAX_LINES = 10
_FIXED = QTextBlockFormat.LineHeightTypes.FixedHeight.value


class ComposerField(QTextEdit):
    """Plain text only. `submitted` on Enter; the text stays until whoever sends it has recorded it."""

    submitted = Signal()
    escaped = Signal()
    """Escape that nothing else wanted: no popup, no composition, no selection."""
    focused = Signal(bool)
    paged = Signal(int)
    """Page Up and Page Down scroll what is above, not these few lines."""

    def __init__(self, look: Look, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._hint = ""
        self._composing = False
        self._just_composed = False
        self.setAccessibleName(name)
        self.setAcceptRichText(False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setTabChangesFocus(True)
        self.setFont(look.theme.font("body"))
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.document().setDocumentMargin(0)
        self.document().setDefaultFont(look.theme.font("body"))
        self._space_lines()
        self.setFixedHeight(_LINE)
        self.document().documentLayout().documentSizeChanged.connect(self._fit)
        self.textChanged.connect(self.update_hint)

    def set_text(self, text: str) -> None:
        """Replace everything; the caret goes to the end."""
        self.setPlainText(text)
        self._space_lines()
        self.moveCursor(QTextCursor.MoveOperation.End)

    def set_hint(self, hint: str) -> None:
        """What stands in the empty field."""
        self._hint = hint
        self.setAccessibleDescription(hint)
        self.viewport().update()

    @property
    def composing(self) -> bool:
        """Whether an input method holds text that is not committed yet."""
        return self._composing

    @property
    def keys_are_taken(self) -> bool:
        """Whether a key that arrives now belongs to an input method: composing, or just done with it."""
        return self._composing or self._just_composed

    def update_hint(self) -> None:
        self.viewport().update()

    def sizeHint(self) -> QSize:
        return QSize(300, self.height())

    def minimumSizeHint(self) -> QSize:
        return QSize(80, _LINE)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            held = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
            if held & Qt.KeyboardModifier.ShiftModifier:
                self.textCursor().insertBlock()
                self.ensureCursorVisible()
            elif not self.keys_are_taken:
                self.submitted.emit()
            event.accept()
            return
        if event.key() in (Qt.Key.Key_PageUp, Qt.Key.Key_PageDown):
            self.paged.emit(-1 if event.key() == Qt.Key.Key_PageUp else 1)
            return
        if event.key() == Qt.Key.Key_Escape and self._escape_is_free:
            self.escaped.emit()  # and on to what is around the field: the editor of a question closes by it
        super().keyPressEvent(event)

    @property
    def _escape_is_free(self) -> bool:
        taken = self.keys_are_taken or self.textCursor().hasSelection()
        return not taken and QApplication.activePopupWidget() is None

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        was = self._composing
        self._composing = bool(event.preeditString())
        if was and not self._composing:
            # The key that ended the composition may still arrive in this turn of the loop: it was the method's.
            self._just_composed = True
            QTimer.singleShot(0, self, self._composition_over)
        super().inputMethodEvent(event)
        self.viewport().update()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.focused.emit(True)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._composing = False
        self.focused.emit(False)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def insertFromMimeData(self, source: QMimeData) -> None:
        if source.hasText():
            self.textCursor().insertText(source.text())
            self.ensureCursorVisible()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not self._hint or self._composing or not self.document().isEmpty():
            return
        theme = self._look.theme
        font = theme.font("body")
        line = self.document().firstBlock().layout().lineAt(0)
        base = line.y() + line.ascent() if line.isValid() else 16.0
        painter = QPainter(self.viewport())
        painter.setFont(font)
        painter.setPen(theme.color("text-faint"))
        shown = painter.fontMetrics().elidedText(self._hint, Qt.TextElideMode.ElideRight, self.viewport().width())
        painter.drawText(QPointF(0, base), shown)

    def _composition_over(self) -> None:
        self._just_composed = False

    def _space_lines(self) -> None:
        cursor = QTextCursor(self.document())
        cursor.select(QTextCursor.SelectionType.Document)
        spaced = QTextBlockFormat()
        spaced.setLineHeight(_LINE, _FIXED)
        cursor.mergeBlockFormat(spaced)

    def _fit(self) -> None:
        wanted = round(self.document().size().height())
        height = max(_LINE, min(wanted, _LINE * _MAX_LINES))
        policy = Qt.ScrollBarPolicy
        self.setVerticalScrollBarPolicy(
            policy.ScrollBarAsNeeded if wanted > _LINE * _MAX_LINES else policy.ScrollBarAlwaysOff
        )
        if height != self.height():
            self.setFixedHeight(height)
