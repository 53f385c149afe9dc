"""The list of files that were picked for a digest: sizes, what has a page already, what is left out and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from PySide6.QtCore import QAbstractListModel, QMimeData, QModelIndex, QObject, QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QAbstractItemView, QListView, QWidget

from devflow.digest.choosing import Candidate, LeftOut
from devflow.digest.limits import BYTES_MAX
from devflow.domain.messages import Translator
from devflow.ui.look import Look
from devflow.ui.widgets import OBJECT_ROLE, Row, RowDelegate, RowList
from devflow.ui.widgets.lists import Index

_ROW, _TEXT, _CROSS = 30, 26, 22


class FileModel(QAbstractListModel):
    """Candidates in the order in which they were picked; `digested` names the page of those that have one."""

    def __init__(self, t: Translator, parent: QObject) -> None:
        super().__init__(parent)
        self._t = t
        self.files: list[Candidate] = []
        self.digested: dict[Path, str] = {}
        self.again = False
        self.busy: frozenset[Path] = frozenset()
        """What a digest is at already."""

    def add(self, files: Iterable[Candidate]) -> None:
        new = list(files)
        if new:
            first = len(self.files)
            self.beginInsertRows(QModelIndex(), first, first + len(new) - 1)
            self.files += new
            self.endInsertRows()

    def remove(self, row: int) -> None:
        self.beginRemoveRows(QModelIndex(), row, row)
        file = self.files.pop(row)
        self.digested.pop(file.path, None)
        self.endRemoveRows()

    def mark(self, digested: Mapping[Path, str]) -> None:
        if digested:
            self.digested.update(digested)
            self._repaint()

    def show_busy(self, paths: Iterable[Path]) -> None:
        self.busy = frozenset(paths)
        self._repaint()

    def set_again(self, on: bool) -> None:
        self.again = on
        self._repaint()

    def wanted(self) -> tuple[Candidate, ...]:
        """What a start would digest."""
        return tuple(file for file in self.files if not self.is_quiet(file))

    def words(self, file: Candidate) -> str:
        """What stands at the right."""
        if file.left_out is not None:
            return left_out_words(self._t, file.left_out)
        size = size_words(self._t, file.size)
        if file.path in self.busy:
            return self._t("being digested now")
        if file.path not in self.digested:
            return size
        note = self._t("digested before, once more") if self.again else self._t("digested before")
        return f"{note} · {size}"

    def is_quiet(self, file: Candidate) -> bool:
        """Whether nothing will come of it."""
        if file.left_out is not None or file.path in self.busy:
            return True
        return file.path in self.digested and not self.again

    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self.files)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not 0 <= index.row() < len(self.files):
            return None
        file = self.files[index.row()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return file.path.name
            case Qt.ItemDataRole.ToolTipRole:
                return str(file.path)
            case Qt.ItemDataRole.AccessibleTextRole:
                said = (file.path.name, file.inside, self.words(file), self._t("Delete takes it out of the list"))
                return ", ".join(part for part in said if part)
            case _ if role == OBJECT_ROLE:
                return file
            case _:
                return None

    def _repaint(self) -> None:
        if self.files:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self.files) - 1, 0))


class FileList(RowList):
    """`removed(row)`: by Delete, or by the cross that a row shows under the pointer."""

    removed = Signal(int)

    def __init__(self, look: Look, model: FileModel, parent: QWidget | None = None) -> None:
        super().__init__(look, look.t("Files to digest"), parent=parent)
        self.setObjectName("digestFileList")
        self.setModel(model)
        self.setItemDelegate(_FileDelegate(look, self, model))
        self.setUniformItemSizes(True)
        self.setLayoutMode(QListView.LayoutMode.SinglePass)

    def dataChanged(self, first: Index, last: Index, roles: Iterable[int] = ()) -> None:
        """No row ever changes its height: paint, and lay nothing out."""
        self.viewport().update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        row = self.currentIndex().row()
        if event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace) and row >= 0:
            self.removed.emit(row)
            return
        super().keyPressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        index = self.indexAt(event.position().toPoint())
        if index.isValid() and self._on_cross(index, event.position().toPoint()):
            self.removed.emit(index.row())
            return
        super().mouseReleaseEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        point = event.position().toPoint()
        index = self.indexAt(point)
        on = index.isValid() and self._on_cross(index, point)
        self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if on else Qt.CursorShape.ArrowCursor)

    def _on_cross(self, index: QModelIndex, point: QPoint) -> bool:
        return point.x() >= self.visualRect(index).right() - 8 - _CROSS


class _FileDelegate(RowDelegate):
    """30 px: name, its folder in faint, what is known of it at the right."""

    def __init__(self, look: Look, view: QAbstractItemView, model: FileModel) -> None:
        super().__init__(look, view, height=_ROW)
        self._model = model

    def paint_row(self, row: Row, index: Index) -> None:
        file = index.data(OBJECT_ROLE)
        if not isinstance(file, Candidate):
            return
        quiet, height = self._model.is_quiet(file), row.rect.height()
        mark = "check" if file.path in self._model.digested else "warning" if file.left_out is not None else "file"
        tone = "success" if mark == "check" else "warning" if mark == "warning" else "text-muted"
        row.icon(row.rect.left() + 6, (height - 14) / 2, mark, tone, 14)
        right = row.right + 4
        if row.hovered or row.selected:
            row.icon(right - 12, (height - 12) / 2, "cross", "text-muted", 12)
            right -= _CROSS
        tone = "warning" if file.left_out is not None else "text-faint"
        until = row.text_right(0, height, self._model.words(file), "small", tone, right=right)
        left = row.rect.left() + _TEXT
        end = row.text(
            left, 0, height, file.path.name, "ui", "text-muted" if quiet else "text", until=until - 10, middle=True
        )
        if file.inside and end + 60 < until:
            row.text(end + 8, 0, height, file.inside, "small", "text-faint", until=until - 10, middle=True)


def left_out_words(t: Translator, why: LeftOut) -> str:
    return {
        LeftOut.KIND: t("left out: another kind of file"),
        LeftOut.LARGE: t("left out: larger than {limit} MB", limit=BYTES_MAX // 1_000_000),
        LeftOut.EMPTY: t("left out: empty"),
        LeftOut.GONE: t("left out: it cannot be found"),
        LeftOut.IRREGULAR: t("left out: no regular file"),
        LeftOut.NAME: t("left out: its name is no text"),
    }[why]


def size_words(t: Translator, size: int) -> str:
    """`812 B`, `4 KB`, `1.3 MB`."""
    if size < 1_000:
        return t("{size} B", size=size)
    if size < 999_500:
        return t("{size} KB", size=round(size / 1_000))
    return t("{size} MB", size=f"{size / 1_000_000:.1f}")


def dropped_files(mime: QMimeData) -> tuple[Path, ...]:
    """The files and folders of this machine that are dragged."""
    return tuple(Path(url.toLocalFile()) for url in mime.urls() if url.isLocalFile())
