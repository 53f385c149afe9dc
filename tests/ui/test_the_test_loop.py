"""The ground of the other Qt tests: an async test runs on a loop that also serves widgets."""

import asyncio

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QApplication, QPushButton
from pytestqt.qtbot import QtBot
from qasync import QEventLoop

from tests.support.qt_loop import PatientLoop
from tests.support.waiting import emission


async def test_a_click_is_handled_and_awaited_inside_an_async_test(qtbot: QtBot) -> None:
    button = QPushButton("Publish")
    qtbot.addWidget(button)
    answered: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def publish() -> None:
        await asyncio.to_thread(lambda: None)
        answered.set_result("published")

    tasks: list[asyncio.Task[None]] = []
    button.clicked.connect(lambda: tasks.append(asyncio.ensure_future(publish())))

    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)

    assert await asyncio.wait_for(answered, 5) == "published"


async def test_a_signal_is_awaited_with_its_arguments(qtbot: QtBot) -> None:
    button = QPushButton("Filter")
    button.setCheckable(True)
    qtbot.addWidget(button)

    assert await emission(button.toggled, lambda: QTimer.singleShot(0, button.click)) == (True,)


async def test_async_tests_under_ui_run_on_the_qt_loop() -> None:
    assert isinstance(asyncio.get_running_loop(), QEventLoop)


async def test_local_sockets_work_on_the_qt_loop() -> None:
    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(await reader.readline())
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(echo, "127.0.0.1", 0)
    async with server:
        host, port = server.sockets[0].getsockname()
        reader, writer = await asyncio.open_connection(host, port)
        writer.write(b"ping\n")
        assert await asyncio.wait_for(reader.readline(), 5) == b"ping\n"
        writer.close()
        await writer.wait_closed()


def test_what_is_due_between_two_phases_waits_for_the_next(qapp: QApplication) -> None:
    """pytest-qt processes Qt's events there; a task that is stepped then would find no running loop."""
    loop = PatientLoop(qapp)
    ran: list[bool] = []
    loop.call_soon(lambda: ran.append(asyncio.get_running_loop() is loop))
    qapp.processEvents()
    assert ran == []
    loop.call_later(0.01, loop.stop)
    loop.run_forever()
    assert ran == [True]
    loop.close()
