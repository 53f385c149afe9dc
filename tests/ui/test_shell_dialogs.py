"""Dialogs that never block the loop: each is opened, awaited and gone."""

import asyncio

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QLineEdit, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from devflow.ui.widgets import KeySheet, QtDialogs
from tests.support.waiting import until
from tests.ui.conftest import Look


async def test_a_question_is_answered_by_its_verb(qtbot: QtBot, look: Look) -> None:
    window = _window(qtbot)
    asked = asyncio.ensure_future(
        QtDialogs(look, window).confirm("Delete it?", "This cannot be undone.", act="Delete", danger=True)
    )
    dialog = await _opened(window)
    accept = dialog.findChild(QPushButton, "acceptButton")
    assert accept is not None
    assert accept.text() == "Delete"
    assert not accept.isDefault()  # Enter must not delete
    accept.click()
    assert await asked


async def test_escape_is_no(qtbot: QtBot, look: Look) -> None:
    window = _window(qtbot)
    asked = asyncio.ensure_future(QtDialogs(look, window).confirm("Delete it?", "", act="Delete"))
    QTest.keyClick(await _opened(window), Qt.Key.Key_Escape)
    assert not await asked


async def test_a_text_is_asked_for_and_an_empty_one_refused(qtbot: QtBot, look: Look) -> None:
    window = _window(qtbot)
    asked = asyncio.ensure_future(QtDialogs(look, window).prompt("Rename", "Title", value="Old", act="Rename"))
    dialog = await _opened(window)
    field, accept = dialog.findChild(QLineEdit, "promptField"), dialog.findChild(QPushButton, "acceptButton")
    assert field is not None
    assert accept is not None
    field.setText("  ")
    assert not accept.isEnabled()
    field.setText("新的标题")
    accept.click()
    assert await asked == "新的标题"


async def test_a_cancelled_text_is_none_and_other_tasks_ran_meanwhile(qtbot: QtBot, look: Look) -> None:
    window = _window(qtbot)
    asked = asyncio.ensure_future(QtDialogs(look, window).prompt("Rename", "Title", act="Rename"))
    dialog = await _opened(window)
    ran = asyncio.Event()
    asyncio.get_running_loop().call_soon(ran.set)
    await asyncio.wait_for(ran.wait(), 5)
    dialog.reject()
    assert await asked is None


async def test_no_dialog_is_left_behind(qtbot: QtBot, look: Look) -> None:
    window = _window(qtbot)
    dialogs = QtDialogs(look, window)
    for _ in range(3):
        asked = asyncio.ensure_future(dialogs.run(KeySheet(look, [("Move", [(["J", "K"], "Next")])], window)))
        (await _opened(window)).accept()
        assert await asked == QDialog.DialogCode.Accepted
    gone = asyncio.Event()
    asyncio.get_running_loop().call_soon(gone.set)
    await gone.wait()
    QApplication.sendPostedEvents(None, 52)  # QEvent.DeferredDelete
    assert window.findChildren(QDialog) == []


def _window(qtbot: QtBot) -> QWidget:
    window = QWidget()
    qtbot.addWidget(window)
    window.resize(800, 600)
    window.show()
    return window


async def _opened(window: QWidget) -> QDialog:
    """The dialog that is open, once it is."""

    def shown() -> list[QDialog]:
        return [dialog for dialog in window.findChildren(QDialog) if dialog.isVisible()]

    app = QApplication.instance()
    assert isinstance(app, QApplication)
    await until(lambda: bool(shown()), app.focusWindowChanged)
    return shown()[0]
