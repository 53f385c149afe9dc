"""MCP servers: the section of the settings, the form of one, what an import would add, and the card of a call."""

import json
import sys

from devflow.tools import mcp_import
from devflow.tools.mcp_config import Http, McpDraft, Stdio
from devflow.ui.dialogs.settings.mcp_form import McpForm
from devflow.ui.dialogs.settings.mcp_import_dialog import McpImportDialog
from devflow.ui.dialogs.settings.mcp_section import McpSection
from tests.fakes.openai_server import Call, OpenAIServer, Turn
from tests.shots.chat import _page, _until
from tests.shots.settings import put_rules_away
from tests.shots.stage import Stage
from tests.support.mcp import FAKES

_FILE = {
    "filesystem": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "~/inkwell"]},
    "notes": {"command": "uvx", "args": ["notes-mcp"], "env": {"NOTES_TOKEN": "${env:NOTES_TOKEN}"}, "autoApprove": []},
    "tickets": {"url": "https://tickets.example.com/mcp", "headers": {"Authorization": "Bearer ${input:token}"}},
    "old": {"type": "sse", "url": "https://old.example.com/sse"},
}


async def servers(stage: Stage) -> None:
    """One that runs, one that could not be started, one that was not needed yet, one that is switched off."""
    await put_rules_away(stage)
    own = stage.core.mcp.servers
    odd = Stdio(sys.executable, (str(FAKES / "mcp_odd_server.py"),))
    running = await own.add(McpDraft("notes", odd, {"NOTES_TOKEN": "only-for-the-picture"}))
    failing = await own.add(McpDraft("weather", Stdio("weather-mcp", ("--city", "Zürich"))))
    await own.add(McpDraft("filesystem", Stdio("npx", ("-y", "@modelcontextprotocol/server-filesystem", "~/inkwell"))))
    await own.add(McpDraft("tickets", Http("https://tickets.example.com/mcp"), enabled=False))
    for server in (running, failing):
        await stage.core.mcp.test(server)
    await stage.open_settings("tools")
    await stage.settled(dialog=True)


async def form(stage: Stage) -> None:
    await stage.open_settings("tools")
    section = stage.find(McpSection, "mcpSection")
    await _until(lambda: section.rows)
    section._edit(section.rows[0].server)
    await _until(lambda: section.window().findChild(McpForm) is not None)
    shown = section.window().findChild(McpForm)
    assert shown is not None
    stage.target = shown
    await stage.settled(dialog=True)


async def importing(stage: Stage) -> None:
    await stage.open_settings("tools")
    section = stage.find(McpSection, "mcpSection")
    known = await stage.core.mcp.servers.list()
    preview = mcp_import.preview(json.dumps({"mcpServers": _FILE}).encode(), known)
    file = "claude_desktop_config.json"
    dialog = McpImportDialog(section._ctx, stage.core.mcp.servers, file, preview, known, parent=section.window())
    dialog.open()
    stage.target = dialog
    await stage.settled(dialog=True)


async def put_away(stage: Stage) -> None:
    """The scenes that follow have no MCP servers, but for the card below."""
    for server in await stage.core.mcp.servers.list():
        await stage.core.mcp.servers.remove(server.id)
    await stage.settled()


async def card(stage: Stage) -> None:
    """The model wants to use a tool of a server."""
    odd = Stdio(sys.executable, (str(FAKES / "mcp_odd_server.py"),))
    await stage.core.mcp.servers.add(McpDraft("notes", odd))
    page = await _page(stage)
    page.acts.stop()
    await _until(lambda: not page.session.turns[-1].open_run)
    page.acts.set_queued("")
    assert isinstance(stage.model_server, OpenAIServer)
    arguments = {"text": stage.say("The write lock is taken first.", "先取写锁。"), "tags": ["sqlite", "locks"]}
    text = stage.say("I will put that into your notes.", "我把它写进你的笔记。")
    stage.model_server.script(Turn(text, calls=[Call("mcp__notes__echo", arguments)]))
    before = len(page.session.turns)
    page.acts.send(stage.say("Keep that in my notes.", "把这个记到我的笔记里。"))
    await _until(lambda: len(page.session.turns) > before and page.transcript.card() is not None)
    await stage.settled()
    stage.window.setFocus()
