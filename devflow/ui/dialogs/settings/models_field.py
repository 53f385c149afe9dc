"""The models of a provider that are offered in lists: typed, or chosen from what its server has."""

from __future__ import annotations

import re
from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, QPoint, QSortFilterProxyModel, Qt, Signal
from PySide6.QtGui import QKeyEvent, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLineEdit, QListView, QVBoxLayout, QWidget

from devflow.ui.look import Look
from devflow.ui.widgets import IconButton, Label, SearchField

_ENDS = re.compile(r"[,，、;\s]+")
_ROW, _SHOWN = 32, 8


class ModelsField(QWidget):
    """Names with commas between. `changed(tuple)` when the human typed or chose; `refresh_wanted` asks the server."""

    changed = Signal(object)
    refresh_wanted = Signal()

    def __init__(self, look: Look) -> None:
        super().__init__()
        t = look.t
        self.line = QLineEdit()
        self.line.setObjectName("providerModels")
        self.line.setAccessibleName(t("Models"))
        self.line.setPlaceholderText(t("Choose, or type names with commas between"))
        self.choose = IconButton(look, "chevron-down", t("Choose models"))
        self.choose.setObjectName("chooseModelsButton")
        self.refresh = IconButton(look, "refresh", t("Ask the server which models there are"))
        self.refresh.setObjectName("refreshModelsButton")
        self.popup = ModelsPopup(look, self)
        self._offered: tuple[str, ...] = ()
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(4)
        row.addWidget(self.line, 1)
        row.addWidget(self.choose)
        row.addWidget(self.refresh)
        self.setFocusProxy(self.line)
        self.line.textEdited.connect(self._typed)
        self.choose.clicked.connect(self._open)
        self.refresh.clicked.connect(self.refresh_wanted)
        self.popup.changed.connect(self._chosen)

    @property
    def models(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for name in _ENDS.split(self.line.text()) if name))

    def show_models(self, models: Sequence[str], offered: Sequence[str], *, asking: bool) -> None:
        """What is chosen and what there is; text that means the same is left as it was typed."""
        if self.models != tuple(models):
            self.line.setText(", ".join(models))
            self.line.setCursorPosition(0)
        self.line.setToolTip("\n".join(models))
        self._offered = tuple(offered)
        self.refresh.setEnabled(not asking)
        self.popup.show_models(self.models, self._offered, asking=asking)

    def _typed(self, _text: str) -> None:
        self.changed.emit(self.models)

    def _open(self) -> None:
        if not self._offered:
            self.refresh_wanted.emit()
        self.popup.open_below(self)

    def _chosen(self, models: tuple[str, ...]) -> None:
        self.changed.emit(models)


class ModelsPopup(QFrame):
    """Every model with a check box, and a field that narrows the list or, with Enter, adds a name of one's own."""

    changed = Signal(object)

    def __init__(self, look: Look, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        t = look.t
        self._t = t
        self._filling = False
        self.setObjectName("modelsPopup")
        self.setProperty("role", "popup")
        self.setAccessibleName(t("Models"))
        self.search = SearchField(look, t("Find or type a name"))
        self.search.setObjectName("modelsSearch")
        self._model = QStandardItemModel(self)
        self._model.itemChanged.connect(self._checked)
        self._narrowed = QSortFilterProxyModel(self)
        self._narrowed.setSourceModel(self._model)
        self._narrowed.setFilterCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.list = QListView()
        self.list.setObjectName("modelsList")
        self.list.setProperty("role", "popup")
        self.list.setAccessibleName(t("Models"))
        self.list.setModel(self._narrowed)
        self.list.setEditTriggers(QListView.EditTrigger.NoEditTriggers)
        self._note = Label("", "small", "muted", wrap=True)
        column = QVBoxLayout(self)
        column.setContentsMargins(8, 8, 8, 8)
        column.setSpacing(4)
        column.addWidget(self.search)
        column.addWidget(self.list)
        column.addWidget(self._note)
        self.search.textChanged.connect(self._narrowed.setFilterFixedString)
        self.search.returnPressed.connect(self._add_typed)
        self.search.escaped.connect(self.close)
        self.list.clicked.connect(self._toggle)

    def open_below(self, field: QWidget) -> None:
        self.search.clear()
        self.setFixedWidth(field.width())
        self._fit()
        self.move(field.mapToGlobal(QPoint(0, field.height() + 4)))
        self.show()
        self.search.setFocus()

    def show_models(self, chosen: Sequence[str], offered: Sequence[str], *, asking: bool) -> None:
        names = [*offered, *(name for name in chosen if name not in offered)]
        self._filling = True
        if names != [self._model.item(row).text() for row in range(self._model.rowCount())]:
            self._model.clear()
            for name in names:
                item = QStandardItem(name)
                # not user-checkable: the whole row is the check box, so a click on the box must not count twice
                item.setFlags(Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable)
                self._model.appendRow(item)
        for row in range(self._model.rowCount()):
            item = self._model.item(row)
            item.setCheckState(Qt.CheckState.Checked if item.text() in chosen else Qt.CheckState.Unchecked)
        self._filling = False
        text = self._t("Asking the server…") if asking else "" if names else self._t("The server listed none.")
        self._note.setText(text)
        self._note.setVisible(bool(text))
        if self.isVisible():
            self._fit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.close()
        elif event.key() in (Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.list.hasFocus():
            self._toggle(self.list.currentIndex())
        else:
            super().keyPressEvent(event)

    def _fit(self) -> None:
        self.list.setFixedHeight(max(1, min(self._model.rowCount(), _SHOWN)) * _ROW + 8)
        self.list.setVisible(self._model.rowCount() > 0)
        self.adjustSize()

    def _chosen(self) -> tuple[str, ...]:
        items = (self._model.item(row) for row in range(self._model.rowCount()))
        return tuple(item.text() for item in items if item.checkState() == Qt.CheckState.Checked)

    def _checked(self, _item: QStandardItem) -> None:
        if not self._filling:
            self.changed.emit(self._chosen())

    def _toggle(self, index: QModelIndex) -> None:
        item = self._model.itemFromIndex(self._narrowed.mapToSource(index))
        if item is not None:
            on = item.checkState() == Qt.CheckState.Checked
            item.setCheckState(Qt.CheckState.Unchecked if on else Qt.CheckState.Checked)

    def _add_typed(self) -> None:
        name = self.search.text().strip()
        if name:
            self.search.clear()
            self.changed.emit(tuple(dict.fromkeys((*self._chosen(), name))))
