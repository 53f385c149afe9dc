"""MCP servers in the settings and in a conversation, by clicks, with real programs behind them."""

import json
import sys
from pathlib import Path

import keyring
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QPlainTextEdit

from tests.e2e.conftest import Start
from tests.fakes.openai_server import Call, OpenAIServer, Turn
from tests.support import hands
from tests.support.keychain import Keychain
from tests.support.mcp import FAKES, lives, odd
from tests.support.settings import OpenSettings, settings

ODD = f"{sys.executable} {FAKES / 'mcp_odd_server.py'}"


@pytest.fixture
def keychain(monkeypatch: pytest.MonkeyPatch) -> Keychain:
    chain = Keychain()
    monkeypatch.setattr(keyring, "get_keyring", lambda: chain)
    return chain


async def _fill(dialog: OpenSettings, name: str, command: str, values: str = "") -> None:
    await dialog.person.clicks("addMcpButton")
    await dialog.person.finds("mcpForm")
    await dialog.types("mcpName", name)
    await dialog.types("mcpCommand", command)
    field = hands.find("mcpValues")
    assert isinstance(field, QPlainTextEdit)
    field.setFocus(Qt.FocusReason.TabFocusReason)
    hands.type_text(values)
    await dialog.person.clicks("saveMcpButton")


async def test_a_server_is_added_tested_switched_off_removed_and_brought_back(start: Start, keychain: Keychain) -> None:
    async with start() as person, settings(person, "Tools") as dialog:
        await person.sees("None yet.", on="mcpSection")
        await _fill(dialog, "notes", ODD, "TOKEN=very-secret")
        await person.sees("Not started", on="mcpState-notes")
        assert list(keychain.kept.values()) == ["very-secret"]

        await person.clicks("mcpTest-notes")
        await person.sees("Running · 10 tools", on="mcpState-notes", within=15)
        (server,) = await person.core.mcp.servers.list()
        pid = person.core.mcp.state(server).pid
        assert pid is not None

        await person.clicks("mcpEnabled-notes")
        await person.sees("Off", on="mcpState-notes")
        await person.until(lambda: not lives(pid), "its end")
        await person.clicks("mcpEnabled-notes")
        await person.sees("Not started", on="mcpState-notes")

        await person.clicks("mcpRemove-notes")
        await person.sees("None yet.", on="mcpSection")
        assert keychain.kept == {}
        await person.clicks("undoButton")
        await person.finds("mcpServer-notes")
        (back,) = await person.core.mcp.servers.list()
        assert await person.core.mcp.servers.values(back) == {"TOKEN": "very-secret"}


async def test_a_kept_value_is_not_shown_and_stays_when_the_rest_is_edited(start: Start, keychain: Keychain) -> None:
    async with start() as person:
        await person.core.mcp.servers.add(odd(name="notes", values={"TOKEN": "very-secret"}))
        async with settings(person, "Tools") as dialog:
            await person.clicks("mcpEdit-notes")
            await person.finds("mcpForm")
            field = hands.find("mcpValues")
            assert isinstance(field, QPlainTextEdit)
            assert "secret" not in field.toPlainText()
            assert field.toPlainText().startswith("TOKEN=•")
            await dialog.types("mcpName", "memos")
            await person.clicks("saveMcpButton")
            await person.finds("mcpServer-memos")
            (server,) = await person.core.mcp.servers.list()
            assert await person.core.mcp.servers.values(server) == {"TOKEN": "very-secret"}


async def test_what_can_be_no_server_is_said_at_its_field_and_stays_typed(start: Start) -> None:
    async with start() as person, settings(person, "Tools") as dialog:
        await _fill(dialog, "broken", 'npx "unclosed')
        await person.sees("A quotation mark in the command line is not closed.", on="mcpForm")
        assert dialog.text("mcpCommand") == 'npx "unclosed'
        await dialog.types("mcpCommand", "npx fine")
        field = hands.find("mcpValues")
        assert isinstance(field, QPlainTextEdit)
        field.setPlainText("no sign")
        await person.clicks("saveMcpButton")
        await person.sees("Line 1 is not NAME=value.", on="mcpForm")
        await person.clicks("cancelMcpButton")
        await person.misses("mcpForm")


async def test_a_server_that_cannot_start_says_why_on_its_line(start: Start) -> None:
    async with start() as person:
        await person.core.mcp.servers.add(odd("dies", name="dead"))
        async with settings(person, "Tools"):
            await person.clicks("mcpTest-dead")
            await person.sees("cannot find my configuration", on="mcpState-dead", within=15)


async def test_a_file_of_servers_is_looked_at_and_then_imported(start: Start, tmp_path: Path) -> None:
    file = tmp_path / "claude_desktop_config.json"
    rows = {
        "notes": {"command": sys.executable, "args": [str(FAKES / "mcp_odd_server.py")], "autoApprove": ["*"]},
        "files": {"command": "npx", "args": ["-y", "some-server"]},
        "old": {"type": "sse", "url": "https://example.com/sse"},
    }
    file.write_text(json.dumps({"mcpServers": rows, "theme": "dark"}), encoding="utf-8")
    async with start() as person:
        await person.core.mcp.servers.add(odd(name="files"))
        async with settings(person, "Tools"):
            section = hands.find("mcpSection")
            section._launch(section._preview(str(file)), "import")  # type: ignore[attr-defined]
            await person.finds("mcpImport")
            shown = hands.words(hands.find("mcpImport"))
            assert "Fields that mean nothing here: autoApprove." in shown
            assert "There is a server of this name." in shown
            assert "old uses the old SSE transport, which is not supported." in shown
            assert "Left out, for it is no MCP server: theme" in shown
            old = hands.find("mcpFound-old")
            assert isinstance(old, QCheckBox)
            assert not old.isEnabled()
            assert hands.words(hands.find("mcpImportButton")) == "Add 2 servers"
            await person.clicks("mcpImportButton")
            await person.finds("mcpServer-files 2")
            await person.finds("mcpServer-notes")


async def test_a_bad_file_is_refused_with_a_sentence(start: Start, tmp_path: Path) -> None:
    file = tmp_path / "bad.json"
    file.write_text('{"mcpServers": [', encoding="utf-8")
    async with start() as person, settings(person, "Tools"):
        section = hands.find("mcpSection")
        section._launch(section._preview(str(file)), "import")  # type: ignore[attr-defined]
        await person.sees("The file is not JSON", on="mcpSectionProblem")


async def test_a_tool_of_a_server_asks_in_the_chat_and_runs_when_it_is_allowed(
    start: Start, server: OpenAIServer
) -> None:
    async with start() as person:
        await person.connect_by_service(server)
        await person.core.mcp.servers.add(odd(name="notes"))
        server.script(Turn(calls=[Call("mcp__notes__echo", {"text": "to the notes"})]), "All done.")
        await person.asks("Write it down.")
        card = await person.finds("approvalCard", within=15)
        shown = hands.words(card)
        assert "Wants to use notes: echo" in shown
        assert "Reaches out" in shown
        assert "to the notes" in shown
        assert f"MCP server: {ODD}" in shown
        await person.clicks("approveButton")
        await person.is_answered("All done.")
        assert person.reads("notes: echo")


async def test_the_status_line_says_which_server_a_conversation_does_without(
    start: Start, server: OpenAIServer
) -> None:
    async with start() as person:
        await person.connect_by_service(server)
        await person.core.mcp.servers.add(odd("dies", name="dead"))
        server.script("I can do without.")
        await person.asks("Answer.")
        await person.is_answered("I can do without.")
        await person.sees("No tools of dead", on="statusLine")
