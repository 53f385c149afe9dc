"""The whole program in this process: real window, real dialogs, real database, a model server with a script."""

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator, Callable, Iterator

import pytest
from PySide6.QtWidgets import QApplication

from devflow.app.desktop import Desktop
from devflow.app.paths import AppPaths
from tests.fakes.openai_server import OpenAIServer
from tests.support.person import Person
from tests.support.window import dialogs, garbage_on_this_thread, look, open_window, paths

__all__ = ["dialogs", "garbage_on_this_thread", "look", "open_window", "paths"]

Start = Callable[..., contextlib.AbstractAsyncContextManager[Person]]


@pytest.fixture
def start(qapp: QApplication, paths: AppPaths) -> Start:
    """`async with start() as person:` is a start of the program and its orderly end; call it again for a restart.

    As `devflow/app/desktop_run.py` does, what a slot or an unawaited task raises goes to the window's crash report.
    """

    @contextlib.asynccontextmanager
    async def started() -> AsyncIterator[Person]:
        before = asyncio.all_tasks()
        loop, hook = asyncio.get_running_loop(), sys.excepthook
        desktop = await Desktop.open(qapp, paths)
        loop.set_exception_handler(desktop.loop_failed)
        sys.excepthook = desktop.slot_failed
        person = Person(desktop)
        try:
            desktop.window.show()
            await person.comes()
            yield person
        finally:
            sys.excepthook = hook
            loop.set_exception_handler(None)
            await desktop.close()
        left = [task.get_name() for task in asyncio.all_tasks() - before]
        assert not left, f"still running after the end: {left}"

    return started


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(models=["scripted"], context_window=32_000) as running:
        yield running
