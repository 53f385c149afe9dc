"""`devflow mcp-servers …`: files taken over, servers listed, tested and removed."""

import json
import sys
from pathlib import Path

import pytest

from tests.integration.cli.conftest import Home
from tests.support.mcp import FAKES

ROW = {"command": sys.executable, "args": [str(FAKES / "mcp_odd_server.py")], "env": {"TOKEN": "very-secret"}}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mcp.json"
    rows = {"odd": ROW, "other": {"url": "https://example.com/mcp"}, "bad": {}}
    path.write_text(json.dumps({"mcpServers": rows}), encoding="utf-8")
    return path


def test_a_file_is_imported_and_its_servers_listed_tested_and_removed(run: Home, file: Path) -> None:
    told = run("mcp-servers", "import", str(file), "--only", "odd")
    assert told.code == 0, told.err
    assert told.out.startswith("odd  ")
    (listed,) = run("mcp-servers", "list", "--json").value
    assert (listed["name"], listed["enabled"]) == ("odd", True)
    assert "very-secret" not in json.dumps(listed)
    assert run("mcp-servers", "test", "ODD").out.splitlines()[:2] == ["echo", "pid"]
    assert run("mcp-servers", "remove", "odd").out == "odd\n"
    assert run("mcp-servers", "list", "--json").value == []


def test_what_cannot_be_taken_is_said_and_the_rest_is_taken(run: Home, file: Path) -> None:
    told = run("mcp-servers", "import", str(file))
    assert told.code == 0
    assert "bad: bad has neither a command nor a url." in told.err
    assert [line.split()[0] for line in told.out.splitlines()] == ["odd", "other"]


def test_a_second_import_adds_nothing_twice(run: Home, file: Path) -> None:
    run("mcp-servers", "import", str(file))
    again = run("mcp-servers", "import", str(file))
    assert "This very server is set up already." in again.err
    assert len(run("mcp-servers", "list", "--json").value) == 2


def test_a_dry_run_adds_nothing(run: Home, file: Path) -> None:
    assert run("mcp-servers", "import", str(file), "--dry-run").code == 0
    assert run("mcp-servers", "list", "--json").value == []


def test_the_assistants_own_commands_add_no_server(run: Home, file: Path) -> None:
    told = run("mcp-servers", "import", str(file), DEVFLOW_AGENT_CHILD="1")
    assert told.code != 0
    assert "Only a human adds, changes or removes MCP servers." in told.err
    assert run("mcp-servers", "list", "--json").value == []


@pytest.mark.parametrize("words", [("import", "no-such-file.json"), ("test", "nobody"), ("remove", "nobody")])
def test_what_is_not_there_is_said(run: Home, words: tuple[str, ...]) -> None:
    told = run("mcp-servers", *words)
    assert told.code != 0
    assert told.err.startswith("devflow: ")
