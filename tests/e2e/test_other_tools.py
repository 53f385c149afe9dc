"""Other tools at the library while the window is open: from the pasted configuration to a published proposal."""

import asyncio
import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from time import monotonic

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPlainTextEdit

from tests.e2e.conftest import Start
from tests.support import hands
from tests.support.mcp_client import Wire
from tests.support.person import Person
from tests.support.settings import settings

SOON = 2.0
"""Seconds from a tool's answer to what the window shows."""


@pytest.fixture
def wires() -> Iterator[list[Wire]]:
    started: list[Wire] = []
    yield started
    for wire in started:
        wire.dies()


async def test_what_is_copied_connects_a_tool_whose_proposal_is_published_and_found(
    start: Start, home: Path, wires: list[Wire]
) -> None:
    async with start() as person:
        one, two = await _copied(person, "Cursor", "Propose"), await _copied(person, "Codex", "Read")
        servers = json.loads(one)["mcpServers"]["devflow"], tomllib.loads(two)["mcp_servers"]["devflow"]
        wires.extend(Wire([server["command"], *server["args"]]) for server in servers)
        for wire in wires:
            assert (await asyncio.to_thread(wire.greets))["result"]["serverInfo"]["name"] == "devflow"
        proposer, reader = wires
        await person.goes_to("Inbox")

        made = await _called(proposer, 1, "knowledge_create", kind="pitfall", title="Zebra crossing", content="Look.")
        answered = monotonic()
        await person.until(lambda: hands.rows("inboxList") == ["Zebra crossing"], "the proposal", within=SOON)
        assert monotonic() - answered < SOON
        assert person.badge == "1"
        assert (await _called(reader, 1, "knowledge_search", query="zebra"))["hits"] == []

        person.presses(Qt.Key.Key_A)
        await person.until(lambda: hands.rows("inboxList") == [], "it leaves the inbox")
        for wire in wires:
            assert (await _called(wire, 2, "knowledge_search", query="zebra"))["hits"][0]["id"] == made["id"]
        events = await person.core.knowledge.knowledge_timeline(made["id"])
        assert [event.actor for event in events] == ["user", "user", "mcp:cursor"]


async def _copied(person: Person, tool: str, right: str) -> str:
    """What the page's button puts on the clipboard, for a tool and a right."""
    async with settings(person, "External tools") as dialog:
        await dialog.chooses("externalClient", tool)
        await dialog.chooses("externalRight", right)
        await person.clicks("copyExternalConfigButton")
        shown = hands.find("externalConfig")
        assert isinstance(shown, QPlainTextEdit)
        assert QGuiApplication.clipboard().text() == shown.toPlainText()
        return shown.toPlainText()


async def _called(wire: Wire, id: int, name: str, **arguments: object) -> dict[str, object]:
    wire.calls(id, name, **arguments)
    answer = (await asyncio.to_thread(wire.reads))["result"]
    assert answer["isError"] is False, answer
    return answer["structuredContent"]  # type: ignore[no-any-return]
