"""A splitter whose handle is a hairline with a 7 px grab area."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QPainter, QPaintEvent, QRegion, QResizeEvent
from PySide6.QtWidgets import QSplitter, QSplitterHandle, QWidget

from devflow.ui.look import Look

_GRAB = 3


class HairlineSplitter(QSplitter):
    """Panes do not collapse; give it an objectName and the window remembers its sizes."""

    def __init__(
        self, look: Look, orientation: Qt.Orientation = Qt.Orientation.Horizontal, parent: QWidget | None = None
    ) -> None:
        super().__init__(orientation, parent)
        self._look = look
        self.setHandleWidth(1)
        self.setChildrenCollapsible(False)

    def createHandle(self) -> QSplitterHandle:
        return _Handle(self._look, self.orientation(), self)


class _Handle(QSplitterHandle):
    def __init__(self, look: Look, orientation: Qt.Orientation, parent: QSplitter) -> None:
        super().__init__(orientation, parent)
        self._look = look
        self._sideways = orientation == Qt.Orientation.Horizontal

    def resizeEvent(self, event: QResizeEvent) -> None:
        # In place of Qt's own, which sets other margins: two that disagree would resize each other without end.
        self.setAttribute(Qt.WidgetAttribute.WA_MouseNoMask, True)
        if self._sideways:
            self.setContentsMargins(_GRAB, 0, _GRAB, 0)
        else:
            self.setContentsMargins(0, _GRAB, 0, _GRAB)
        self.setMask(QRegion(self.contentsRect()))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        token = "hairline-strong" if self.underMouse() else "hairline"
        painter.fillRect(self.contentsRect(), self._look.theme.color(token))
