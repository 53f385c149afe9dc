"""The files of a digest as rows: state, name, what is being done about it or what it cost, a way to try it again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QAbstractItemView, QListView, QWidget

from devflow.domain.digest import DigestFile, FileState
from devflow.domain.messages import Translator
from devflow.ui.look import Look
from devflow.ui.models.digest_words import spoken, state_words, whole_reason
from devflow.ui.models.digests import Digest, file_name
from devflow.ui.widgets import OBJECT_ROLE, Row, RowDelegate, RowList
from devflow.ui.widgets.lists import Index
from devflow.ui.widgets.painting import text_width

ROW = 30
_TEXT = 28
_MARKS = {
    FileState.WAITING: ("circle", "text-faint"),
    FileState.RUNNING: ("half-disc", "accent-fg"),
    FileState.DONE: ("check", "success"),
    FileState.SKIPPED: ("check", "text-faint"),
    FileState.FAILED: ("warning", "danger"),
    FileState.CANCELLED: ("stop", "text-faint"),
}
_OPENED = (FileState.DONE, FileState.SKIPPED)
_SCROLLS = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown, Qt.Key.Key_Home, Qt.Key.Key_End)


class DigestFileModel(QAbstractListModel):
    """All files of a digest, or the failed ones alone; rows are read from it as they are painted."""

    def __init__(self, t: Translator, parent: QObject) -> None:
        super().__init__(parent)
        self._t = t
        self._digest: Digest | None = None
        self._rows: list[int] = []
        self.failed_only = False

    @property
    def digest(self) -> Digest | None:
        return self._digest

    def show_digest(self, digest: Digest | None, *, failed_only: bool) -> None:
        """Rows that stay keep their place."""
        rows = self._wanted(digest, failed_only)
        same = digest is self._digest and rows == self._rows
        if same:
            self._changed(0, len(rows) - 1)
            return
        self.beginResetModel()
        self._digest, self._rows, self.failed_only = digest, rows, failed_only
        self.endResetModel()

    def move(self, file_ids: Iterable[str]) -> None:
        """Some files have changed."""
        if self.failed_only:
            self.show_digest(self._digest, failed_only=True)
        elif self._digest is not None and (rows := [self._digest.row_of(id) for id in file_ids]):
            self._changed(max(0, min(rows)), max(rows))

    def file(self, row: int) -> DigestFile | None:
        digest = self._digest
        return digest.files[self._rows[row]] if digest is not None and 0 <= row < len(self._rows) else None

    def first(self, *states: FileState) -> int:
        """The first row in one of these states; -1 for none."""
        rows = (row for row in range(len(self._rows)) if (file := self.file(row)) is not None and file.state in states)
        return next(rows, -1)

    def words(self, file: DigestFile) -> str:
        step = self._digest.doing.get(file.id) if self._digest is not None else None
        return state_words(self._t, file, step)

    def can_retry(self, file: DigestFile) -> bool:
        digest = self._digest
        return file.state is FileState.FAILED and digest is not None and (digest.here or not digest.running)

    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        file = self.file(index.row())
        if file is None:
            return None
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return file_name(file)
            case Qt.ItemDataRole.ToolTipRole:
                return "\n".join(part for part in (file.path, whole_reason(self._t, file), file.title) if part)
            case Qt.ItemDataRole.AccessibleTextRole:
                step = self._digest.doing.get(file.id) if self._digest is not None else None
                return spoken(self._t, file, step)
            case _ if role == OBJECT_ROLE:
                return file
            case _:
                return None

    def _changed(self, first: int, last: int) -> None:
        if 0 <= first <= last < len(self._rows):
            self.dataChanged.emit(self.index(first, 0), self.index(last, 0))

    @staticmethod
    def _wanted(digest: Digest | None, failed_only: bool) -> list[int]:
        if digest is None:
            return []
        if not failed_only:
            return list(range(len(digest.files)))
        return [row for row, file in enumerate(digest.files) if file.state is FileState.FAILED]


class DigestFileList(RowList):
    """`page_wanted(path)` of a finished file, `retry_wanted(file id)` of a failed one: by a click, Enter, or R."""

    page_wanted = Signal(str)
    retry_wanted = Signal(str)

    def __init__(self, look: Look, model: DigestFileModel, parent: QWidget | None = None) -> None:
        super().__init__(look, look.t("Files of the digest"), parent=parent)
        self.setObjectName("digestFiles")
        self._files = model
        self.touched = False
        """Whether somebody reads in it: then it is not scrolled to what is being done."""
        self.setModel(model)
        self._painter = _DigestDelegate(look, self, model)
        self.setItemDelegate(self._painter)
        self.setUniformItemSizes(True)
        self.setLayoutMode(QListView.LayoutMode.SinglePass)
        self.setAttribute(Qt.WidgetAttribute.WA_InputMethodEnabled, False)
        self.verticalScrollBar().sliderPressed.connect(self._touch)
        self.opened.connect(self._open)

    @property
    def current(self) -> DigestFile | None:
        return self._files.file(self.currentIndex().row())

    def follow(self) -> None:
        """Bring what is being done into sight, unless somebody reads."""
        row = self._files.first(FileState.RUNNING)
        if row >= 0 and not self.touched and not self.underMouse() and not self.hasFocus():
            last = min(row + 2, self._files.rowCount() - 1)
            self.scrollTo(self._files.index(last, 0))
            self.scrollTo(self._files.index(max(0, row - 1), 0))

    def go_to_failed(self) -> None:
        row = self._files.first(FileState.FAILED)
        if row >= 0 and not self.touched:
            self.scrollTo(self._files.index(row, 0), QAbstractItemView.ScrollHint.PositionAtCenter)

    def dataChanged(self, first: Index, last: Index, roles: Sequence[int] = ()) -> None:
        """No row ever changes its height: paint, and lay nothing out."""
        self.viewport().update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        file = self.current
        key = event.key()
        if key == Qt.Key.Key_R and not event.modifiers() and file is not None and self._files.can_retry(file):
            self.retry_wanted.emit(file.id)
            return
        if key in (Qt.Key.Key_J, Qt.Key.Key_K) and not event.modifiers():
            self.step(1 if key == Qt.Key.Key_J else -1)
            return
        if key in _SCROLLS:
            self._touch()
        super().keyPressEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        self._touch()
        super().wheelEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        point = event.position().toPoint()
        index = self.indexAt(point)
        file = self._files.file(index.row())
        if event.button() is not Qt.MouseButton.LeftButton or file is None:
            return
        if self._on_retry(index, file, point):
            self.retry_wanted.emit(file.id)
        else:
            self._open(index)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        point = event.position().toPoint()
        index = self.indexAt(point)
        file = self._files.file(index.row())
        leads = file is not None and (file.state in _OPENED or self._on_retry(index, file, point))
        self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if leads else Qt.CursorShape.ArrowCursor)

    def _open(self, index: QModelIndex) -> None:
        file = self._files.file(index.row())
        if file is not None and file.state in _OPENED and file.page:
            self.page_wanted.emit(file.page)

    def _on_retry(self, index: QModelIndex, file: DigestFile, point: QPoint) -> bool:
        return self._files.can_retry(file) and point.x() >= self._painter.retry_from(self.visualRect(index).right())

    def _touch(self) -> None:
        self.touched = True


class _DigestDelegate(RowDelegate):
    """30 px: state, name, and at the right the words, in red with a link where the file failed."""

    def __init__(self, look: Look, view: QAbstractItemView, model: DigestFileModel) -> None:
        super().__init__(look, view, height=ROW)
        self._model = model

    def retry_from(self, right: float) -> float:
        """Where the link begins in a row that ends there."""
        return right - 14 - 8 - text_width(self.look.t("Retry"), self.look.theme.font("small"))

    def paint_row(self, row: Row, index: Index) -> None:
        file = index.data(OBJECT_ROLE)
        if not isinstance(file, DigestFile):
            return
        height, left, right = row.rect.height(), row.rect.left(), row.right + 4
        icon, color = _MARKS[file.state]
        row.icon(left + 7, (height - 14) / 2, icon, color, 14)
        failed = file.state is FileState.FAILED
        if failed and self._model.can_retry(file):
            right = row.text_right(0, height, self.look.t("Retry"), "small", "accent-fg", right=right) - 8
        words = self._model.words(file)
        room = right - left - _TEXT - 120  # the name keeps so much at least
        if text_width(words, self.look.theme.font("small")) > room:
            until = right - room
            row.text(until, 0, height, words, "small", "danger" if failed else "text-faint", until=right)
        else:
            until = row.text_right(0, height, words, "small", "danger" if failed else "text-muted", right=right)
        quiet = file.state in (FileState.WAITING, FileState.CANCELLED, FileState.SKIPPED)
        name = file_name(file)
        row.text(left + _TEXT, 0, height, name, "ui", "text-muted" if quiet else "text", until=until - 10, middle=True)
