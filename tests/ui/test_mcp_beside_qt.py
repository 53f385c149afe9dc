"""The thread of MCP servers in a process whose event loops are Qt's, as `qasync.run` leaves it."""

import asyncio
import json
from collections.abc import Iterator

import pytest
import qasync
from PySide6.QtWidgets import QApplication

from devflow.app.core import close_core, open_core
from devflow.app.paths import AppPaths
from devflow.tools.mcp_source_thread import LoopThread
from devflow.tools.mcp_state import Phase
from tests.support.mcp import small


@pytest.fixture
def qts_policy(qapp: QApplication) -> Iterator[None]:
    before = asyncio.get_event_loop_policy()
    asyncio.set_event_loop_policy(qasync.DefaultQEventLoopPolicy())
    yield
    asyncio.set_event_loop_policy(before)


async def test_the_threads_loop_is_not_qts(qts_policy: None) -> None:
    thread = LoopThread("test")

    async def look() -> str:
        return type(asyncio.get_running_loop()).__module__

    assert (await thread.run(look)).startswith("asyncio")
    await thread.close(2)


async def test_a_server_works_beside_qt(qts_policy: None, paths: AppPaths) -> None:
    core = await open_core(paths, background=False)
    server = await core.mcp.servers.add(small())
    assert (await core.mcp.test(server)).phase is Phase.RUNNING
    answer = await core.mcp.call(server, "add", {"a": 1, "b": 2})
    assert json.loads(answer["content"][0]["text"]) == {"sum": 3}
    await close_core(core)
