"""What is offered while one types: when a popup comes, which keys are its own, and when it goes."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QWidget

from devflow.ui.pages.chat.completion_popup import CompletionPopup, Offer
from devflow.ui.pages.chat.composer_field import ComposerField

_Key = Qt.Key


class Completion(QObject):
    """Watches the field. Several may share one popup: `offering` says whose offers it shows.

    Derive, and say in `look` what the text before the caret asks for, and in `take` what a choice does to the text.
    """

    def __init__(self, field: ComposerField, above: QWidget, popup: CompletionPopup, parent: QObject) -> None:
        super().__init__(parent)
        self.field = field
        self.above = above
        self.popup = popup
        self.offering = False
        popup.chosen.connect(self._clicked)
        field.document().contentsChanged.connect(self.look)
        field.cursorPositionChanged.connect(self.look)
        field.installEventFilter(self)
        above.installEventFilter(self)

    def look(self) -> None:
        """The text or the caret changed: offer what fits, or `close`."""
        raise NotImplementedError

    def take(self, offer: Offer, *, by_tab: bool = False) -> None:
        """That one was chosen."""
        raise NotImplementedError

    def put_away(self) -> None:
        """Escape: nothing more is offered here."""
        raise NotImplementedError

    def close(self) -> None:
        if self.offering:
            self.offering = False
            self.popup.hide()

    def _clicked(self, offer: Offer) -> None:
        if self.offering:
            self.take(offer)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if not self.offering or not self.popup.isVisible():
            return False
        if watched is self.above:
            if event.type() in (QEvent.Type.Resize, QEvent.Type.Move):
                self.popup.place(self.above)
        elif event.type() == QEvent.Type.FocusOut:
            self.close()
        elif event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            return not self.field.keys_are_taken and self._key(event)
        return False

    def _key(self, event: QKeyEvent) -> bool:
        if event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            return False
        match _Key(event.key()):
            case _Key.Key_Down:
                self.popup.step(1)
            case _Key.Key_Up:
                self.popup.step(-1)
            case _Key.Key_Return | _Key.Key_Enter | _Key.Key_Tab:
                offer = self.popup.current
                if offer is None:
                    self.close()
                else:
                    self.take(offer, by_tab=event.key() == _Key.Key_Tab)
            case _Key.Key_Escape:
                self.put_away()
                self.close()
            case _:
                return False
        return True
