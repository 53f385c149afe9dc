"""Questions to the human behind a port: the window's answers come from dialogs, a test's from a list."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import PurePath
from typing import Protocol

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import (
    QApplication,
    QDialog,
    QFileDialog,
    QHBoxLayout,
    QLineEdit,
    QPlainTextEdit,
    QVBoxLayout,
    QWidget,
)

from devflow.ui.look import Look
from devflow.ui.widgets.buttons import Button
from devflow.ui.widgets.chips import Label


class Dialogs(Protocol):
    """Everything the pages may ask. No method blocks: each is awaited."""

    async def confirm(self, title: str, text: str, *, act: str, danger: bool = False) -> bool:
        """Ask before something; `act` is the verb on the button."""
        ...

    async def prompt(self, title: str, label: str, *, value: str = "", act: str, multiline: bool = False) -> str | None:
        """Ask for a line of text; None when cancelled."""
        ...

    async def tell(self, title: str, text: str, *, details: str = "") -> None:
        """Say something that must be read; `details` can be selected and copied."""
        ...

    async def choose_folder(self, title: str, start: str = "") -> str | None: ...

    async def choose_file(self, title: str, start: str = "", filters: Sequence[str] = ()) -> str | None: ...

    async def choose_files(self, title: str, start: str = "", filters: Sequence[str] = ()) -> Sequence[str]:
        """Any number of existing files; none when cancelled."""
        ...

    async def choose_save(self, title: str, start: str = "", filters: Sequence[str] = ()) -> str | None:
        """A file to write, which may be there: whoever writes it asks first."""
        ...

    async def run(self, dialog: QDialog) -> int:
        """Open the caller's own dialog window-modally and return its result code; it is deleted afterwards."""
        ...


class QtDialogs:
    """The real ones, window-modal over `window`, or over the dialog that is open there already."""

    def __init__(self, look: Look, window: QWidget | None = None) -> None:
        self._look = look
        self._window = window

    @property
    def window(self) -> QWidget | None:
        top = QApplication.activeModalWidget()
        above: QObject | None = top
        while above is not None and above is not self._window:
            above = above.parent()
        return self._window if above is None else top

    async def confirm(self, title: str, text: str, *, act: str, danger: bool = False) -> bool:
        dialog = MessageDialog(self._look, title, text, act=act, danger=danger, parent=self.window)
        return await self.run(dialog) == QDialog.DialogCode.Accepted

    async def prompt(self, title: str, label: str, *, value: str = "", act: str, multiline: bool = False) -> str | None:
        dialog = PromptDialog(self._look, title, label, value, act=act, multiline=multiline, parent=self.window)
        answers: list[str] = []
        dialog.accepted.connect(lambda: answers.append(dialog.value()))
        await self.run(dialog)
        return answers[0] if answers else None

    async def tell(self, title: str, text: str, *, details: str = "") -> None:
        dialog = MessageDialog(self._look, title, text, act="", details=details, parent=self.window)
        await self.run(dialog)

    async def choose_folder(self, title: str, start: str = "") -> str | None:
        return _first(await self._choose(title, start, (), QFileDialog.FileMode.Directory, save=False))

    async def choose_file(self, title: str, start: str = "", filters: Sequence[str] = ()) -> str | None:
        return _first(await self._choose(title, start, filters, QFileDialog.FileMode.ExistingFile, save=False))

    async def choose_files(self, title: str, start: str = "", filters: Sequence[str] = ()) -> Sequence[str]:
        return await self._choose(title, start, filters, QFileDialog.FileMode.ExistingFiles, save=False)

    async def choose_save(self, title: str, start: str = "", filters: Sequence[str] = ()) -> str | None:
        return _first(await self._choose(title, start, filters, QFileDialog.FileMode.AnyFile, save=True))

    async def run(self, dialog: QDialog) -> int:
        done: asyncio.Future[int] = asyncio.get_running_loop().create_future()

        def finished(code: int) -> None:
            if not done.done():
                done.set_result(code)

        dialog.finished.connect(finished)
        dialog.setWindowModality(Qt.WindowModality.WindowModal)
        dialog.open()
        try:
            return await done
        finally:
            dialog.close()
            dialog.deleteLater()

    async def _choose(
        self, title: str, start: str, filters: Sequence[str], mode: QFileDialog.FileMode, *, save: bool
    ) -> Sequence[str]:
        dialog = QFileDialog(self.window, title, start)
        dialog.setFileMode(mode)
        if mode == QFileDialog.FileMode.Directory:
            dialog.setOption(QFileDialog.Option.ShowDirsOnly, True)
        if save:
            dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
            dialog.setOption(QFileDialog.Option.DontConfirmOverwrite, True)  # its own question would block the loop
            dialog.setDefaultSuffix(PurePath(start).suffix.removeprefix("."))
            if start:
                dialog.selectFile(start)
        if filters:
            dialog.setNameFilters(list(filters))
        chosen: list[str] = []
        dialog.filesSelected.connect(chosen.extend)
        await self.run(dialog)
        return chosen


def _first(chosen: Sequence[str]) -> str | None:
    return chosen[0] if chosen else None


class MessageDialog(QDialog):
    """Title, words, optionally selectable details, and at most one act beside Cancel or Close."""

    def __init__(
        self,
        look: Look,
        title: str,
        text: str,
        *,
        act: str,
        danger: bool = False,
        details: str = "",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("messageDialog")
        self.setWindowTitle(title)
        self.setMinimumWidth(420)
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 20, 24, 16)
        column.setSpacing(8)
        column.addWidget(Label(title, "heading", wrap=True))
        column.addWidget(Label(text, "ui", "muted", wrap=True))
        if details:
            field = QPlainTextEdit(details)
            field.setObjectName("detailsField")
            field.setReadOnly(True)
            field.setProperty("role", "field")
            field.setFont(look.theme.font("code-small"))
            field.setMinimumHeight(140)
            column.addWidget(field)
        column.addSpacing(8)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addStretch(1)
        cancel = Button(look, look.t("Cancel") if act else look.t("Close"))
        cancel.setObjectName("cancelButton")
        cancel.clicked.connect(self.reject)
        row.addWidget(cancel)
        if act:
            button = Button(look, act, variant="danger" if danger else "primary")
            button.setObjectName("acceptButton")
            button.setDefault(not danger)
            button.clicked.connect(self.accept)
            row.addWidget(button)
        column.addLayout(row)


class PromptDialog(QDialog):
    """One field; what was typed is never lost to a stray Enter: an empty text cannot be accepted."""

    def __init__(
        self,
        look: Look,
        title: str,
        label: str,
        value: str,
        *,
        act: str,
        multiline: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("promptDialog")
        self.setWindowTitle(title)
        self.setMinimumWidth(420)
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 20, 24, 16)
        column.setSpacing(8)
        column.addWidget(Label(title, "heading", wrap=True))
        if label:
            column.addWidget(Label(label, "small", "muted", wrap=True))
        self._line: QLineEdit | None = None
        self._text: QPlainTextEdit | None = None
        field: QWidget
        if multiline:
            field = self._text = QPlainTextEdit(value)
            field.setProperty("role", "field")
            field.setMinimumHeight(120)
            self._text.textChanged.connect(self._judge)
        else:
            field = self._line = QLineEdit(value)
            self._line.selectAll()
            self._line.textChanged.connect(self._judge)
        field.setObjectName("promptField")
        field.setAccessibleName(label or title)
        column.addWidget(field)
        column.addSpacing(8)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addStretch(1)
        cancel = Button(look, look.t("Cancel"))
        cancel.setObjectName("cancelButton")
        cancel.clicked.connect(self.reject)
        self._accept = Button(look, act, variant="primary")
        self._accept.setObjectName("acceptButton")
        self._accept.setDefault(True)
        self._accept.clicked.connect(self.accept)
        row.addWidget(cancel)
        row.addWidget(self._accept)
        column.addLayout(row)
        self._judge()
        field.setFocus()

    def value(self) -> str:
        return self._line.text() if self._line is not None else self._text.toPlainText() if self._text else ""

    def _judge(self) -> None:
        self._accept.setEnabled(bool(self.value().strip()))
