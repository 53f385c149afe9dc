"""`devflow mcp --print-config`: what to paste into each tool. The server itself: `tests/integration/mcp_server`."""

import json
import shlex
import tomllib

import pytest

from devflow.tools.mcp_clients import CLIENTS, Invitation
from tests.integration.cli.conftest import Home


@pytest.mark.parametrize("client", CLIENTS)
def test_the_text_is_on_standard_output_and_where_it_goes_beside_it(run: Home, client: str) -> None:
    printed = run("mcp", "--print-config", client)
    assert (printed.code, f"Paste it into {CLIENTS[client].file}." in printed.err) == (0, True)
    whole = tomllib.loads(printed.out)["mcp_servers"] if client == "codex" else json.loads(printed.out)["mcpServers"]
    assert whole.keys() == {"devflow"}
    assert whole["devflow"]["args"] == ["mcp", "--client", client, "--home", str(run.path)]


def test_right_and_name_stand_in_the_text_and_a_command_does_the_same(run: Home) -> None:
    printed = run("mcp", "--print-config", "claude-code", "--allow", "read", "--client", "my editor", "--json").value
    args = json.loads(printed["text"])["mcpServers"]["devflow"]["args"]
    assert args == ["mcp", "--client", "my editor", "--allow", "read", "--home", str(run.path)]
    assert printed["file"] == ".mcp.json"
    words = shlex.split(printed["command"])
    assert words[:7] == ["claude", "mcp", "add", "--scope", "user", "devflow", "--"]
    assert words[8:] == args


def test_the_usual_home_needs_no_name() -> None:
    made = Invitation(("devflow",)).configuration("gemini")
    assert json.loads(made.text)["mcpServers"]["devflow"]["args"] == ["mcp", "--client", "gemini"]


@pytest.mark.parametrize("client", CLIENTS)
def test_odd_paths_survive_the_text_and_the_command(client: str) -> None:
    program, home = '/opt/my "tools"/dev\\flow', "/home/小明/dev flow"
    made = Invitation((program,), home).configuration(client)
    whole = tomllib.loads(made.text)["mcp_servers"] if client == "codex" else json.loads(made.text)["mcpServers"]
    assert (whole["devflow"]["command"], whole["devflow"]["args"][-1]) == (program, home)
    if made.command:
        words = [word for word in shlex.split(made.command) if word != "--"]
        assert words[-6:] == [program, "mcp", "--client", client, "--home", home]


@pytest.mark.parametrize("words", [("--allow", "publish"), ("--print-config", "emacs"), ("serve",)])
def test_wrong_usage_is_one_line_and_exit_code_2(run: Home, words: tuple[str, ...]) -> None:
    refused = run("mcp", *words)
    assert (refused.code, refused.out) == (2, "")
    assert refused.err.count("\n") == 1
