"""Settings, External tools: what is pasted into each tool, and what is said of the rights."""

import json
import tomllib
from pathlib import Path

import pytest
from PySide6.QtWidgets import QPlainTextEdit

from tests.e2e.conftest import Start
from tests.support import hands
from tests.support.settings import settings


def text(name: str) -> str:
    found = hands.find(name)
    assert isinstance(found, QPlainTextEdit)
    return found.toPlainText()


@pytest.mark.parametrize(
    "tool,id,file,command",
    [
        ("Claude Code", "claude-code", ".mcp.json", "claude mcp add --scope user devflow -- "),
        ("Codex", "codex", "~/.codex/config.toml", "codex mcp add devflow -- "),
        ("Cursor", "cursor", "~/.cursor/mcp.json", ""),
        ("Gemini CLI", "gemini", "~/.gemini/settings.json", "gemini mcp add --scope user devflow "),
    ],
)
async def test_each_tool_gets_its_own_text_and_its_name(
    start: Start, home: Path, tool: str, id: str, file: str, command: str
) -> None:
    async with start() as person, settings(person, "External tools") as dialog:
        await dialog.chooses("externalClient", tool)
        await person.sees(f"Paste it into {file}.", on="settingsExternal")
        shown = text("externalConfig")
        whole = tomllib.loads(shown)["mcp_servers"] if file.endswith("toml") else json.loads(shown)["mcpServers"]
        assert whole["devflow"]["args"] == ["mcp", "--client", id, "--home", str(home)]
        assert Path(whole["devflow"]["command"]).is_absolute()
        assert bool(hands.visible("externalCommand")) == bool(command)
        if command:
            assert text("externalCommand").startswith(command)


async def test_a_right_is_explained_and_stands_in_the_text(start: Start) -> None:
    async with start() as person, settings(person, "External tools") as dialog:
        assert dialog.choice("externalRight") == "Propose"
        assert "--allow" not in text("externalConfig")
        await dialog.chooses("externalRight", "Manage")
        assert '"--allow", "manage"' in text("externalConfig")
        await person.sees("archive any entry, change the configuration", on="externalMay")
        await person.sees("No tool publishes", on="settingsExternal")
        assert dialog.foot == "Nothing to save"
