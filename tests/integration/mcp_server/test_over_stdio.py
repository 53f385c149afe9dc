"""`devflow mcp` as the process that other tools start: the SDK's client, both protocols, and pure standard output."""

import json
import os
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from devflow.domain.knowledge import Status
from tests.support.commands import ROOT, devflow, environment
from tests.support.library import Library
from tests.support.mcp_client import Wire, connected, wired

NO_BASE = "No knowledge base is selected in DevFlow. The user opens one in the window, or with `devflow kb open DIR`."
GOLDEN = Path(__file__).with_name("tools.json")


async def test_the_list_of_tools_is_the_one_other_programs_were_told(home: Path) -> None:
    """To take in a wanted change: `python -m tests.integration.mcp_server.test_over_stdio`."""
    async with connected(home) as tool:
        listed = await tool.client.list_tools()
    shown = [one.model_dump(mode="json", by_alias=True, exclude_none=True) for one in listed.tools]
    assert shown == json.loads(GOLDEN.read_text(encoding="utf-8"))


@pytest.mark.parametrize("mode,named", [("legacy", "tester"), ("2026-07-28", "tester")])
async def test_both_protocols_give_the_same_tools_and_know_the_clients_name(
    home: Path, library: Library, mode: str, named: str
) -> None:
    known = await library.add("Zebra crossing", status=Status.PUBLISHED)
    async with connected(home, mode=mode) as tool:
        assert (await tool("knowledge_search", query="zebra"))["hits"][0]["id"] == known.id
        made = await tool.proposes()
        assert made["source_ref"] == f"mcp:{named}"
        assert (await tool.refused("knowledge_get", id="nobody"))[0] == "not_found"


async def test_a_name_given_by_the_user_wins_over_the_clients_own(home: Path) -> None:
    async with connected(home, "--client", "my editor") as tool:
        assert (await tool.proposes())["source_ref"] == "mcp:my editor"


async def test_the_server_says_who_it_is_and_what_it_has(home: Path) -> None:
    async with connected(home) as tool:
        greeting = tool.client.session.initialize_result
        assert greeting is not None
        assert greeting.server_info.name == "devflow"
        assert "alone publishes" in (greeting.instructions or "")
        capabilities = greeting.capabilities
        assert capabilities.tools
        assert capabilities.resources
        assert capabilities.prompts


# resources and prompts ----------------------------------------------------------------------------------------------


async def test_entries_are_resources(home: Path, library: Library) -> None:
    known = await library.add("Zebra crossing", content="Look **both** ways.", status=Status.PUBLISHED)
    hidden = await library.add("Hidden thing")
    async with connected(home) as tool:
        listed = (await tool.client.list_resources()).resources
        assert [(str(one.uri), one.title) for one in listed] == [(f"devflow://knowledge/{known.id}", "Zebra crossing")]
        (text,) = (await tool.client.read_resource(str(listed[0].uri))).contents
        assert text.text.startswith("# Zebra crossing\n\npitfall; published; changed ")  # type: ignore[union-attr]
        assert text.text.endswith("\n\nLook **both** ways.")  # type: ignore[union-attr]
        templates = (await tool.client.list_resource_templates()).resource_templates
        assert [one.uri_template for one in templates] == ["devflow://knowledge/{id}"]
        for uri in (f"devflow://knowledge/{hidden.id}", "devflow://knowledge/../../etc", "file:///etc/passwd"):
            with pytest.raises(Exception, match=r"No entry has the id|There is no resource"):
                await tool.client.read_resource(uri)


async def test_prompt_templates_are_prompts_with_their_variables(home: Path, library: Library) -> None:
    text = "Review {{ file }} for {{what}}. Name {{file}} again; leave {this} and {{}} alone."
    kind = {"kind": "prompt_template"}
    await library.add("Review a change", content=text, status=Status.PUBLISHED, **kind)
    await library.add("Review  a change!", content="The younger.", status=Status.PUBLISHED, **kind)
    await library.add("审查迁移", content="看一看。", status=Status.PUBLISHED, **kind)
    await library.add("Unpublished", content="Not yet.", **kind)
    async with connected(home) as tool:
        prompts = {one.name: one for one in (await tool.client.list_prompts()).prompts}
        younger = next(name for name in prompts if name.startswith("review-a-change-"))
        assert prompts.keys() == {"review-a-change", younger, "审查迁移"}
        wanted = [(one.name, one.required) for one in prompts["review-a-change"].arguments or ()]
        assert wanted == [("file", True), ("what", True)]
        values = {"file": "a.py {{what}}", "what": "locks"}
        filled = (await tool.client.get_prompt("review-a-change", values)).messages
        assert filled[0].content.text == (  # type: ignore[union-attr]
            "Review a.py {{what}} for locks. Name a.py {{what}} again; leave {this} and {{}} alone."
        )
        with pytest.raises(Exception, match=r"The template needs a value for what\. Its variables: file, what\."):
            await tool.client.get_prompt("review-a-change", {"file": "a.py"})
        with pytest.raises(Exception, match=r"The template has no variable where\."):
            await tool.client.get_prompt("review-a-change", {"file": "a.py", "what": "locks", "where": "here"})
        with pytest.raises(Exception, match=r"There is no prompt 'unpublished'\."):
            await tool.client.get_prompt("unpublished")


# a knowledge base ---------------------------------------------------------------------------------------------------


async def test_the_current_knowledge_base_is_asked(home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    (folder / "wiki").mkdir(parents=True)
    (folder / "wiki" / "zebra.md").write_text("# Zebra crossing\n\nLook both ways.\n", encoding="utf-8")
    async with connected(home, "--allow", "read") as tool:
        assert await tool("current_knowledge_base") == {"selected": False, "name": None, "path": None, "pages": 0}
        assert await tool.refused("query_knowledge_base", query="zebra") == (
            "refused",
            NO_BASE,
        )
        assert devflow(home, "kb", "open", str(folder)).code == 0
        assert (await tool("current_knowledge_base"))["name"] == "notes"
        found = await tool("query_knowledge_base", query="What is a zebra crossing?")
        assert [(page["path"], page["hit_reason"]) for page in found["pages"]] == [("wiki/zebra.md", "title")]
        assert "Look both ways." in found["pages"][0]["snippet"]
        assert found["knowledge_base"] == {"name": "notes", "path": str(folder)}


def test_under_a_command_of_the_assistants_not_even_manage_configures(home: Path) -> None:
    command = [sys.executable, "-m", "devflow", "--home", str(home), "mcp", "--allow", "manage"]
    wire = Wire(command, DEVFLOW_AGENT_CHILD="1")
    wire.greets()
    wire.calls(1, "knowledge_save_config", config={"auto_inject": False})
    result = wire.reads()["result"]
    wire.dies()
    assert (result["isError"], result["_meta"]["devflow/error"]["code"]) == (True, "human_only")
    assert "This terminal was started by the assistant." in result["content"][0]["text"]


# standard output ----------------------------------------------------------------------------------------------------


def test_standard_output_is_the_protocol_alone_and_qt_is_not_loaded(home: Path) -> None:
    """Verbose, with every import told, with lines that are none: only messages come out (`Wire` reads each as JSON)."""
    command = [sys.executable, "-X", "importtime", "-m", "devflow", "--home", str(home), "mcp", "-v", "-v"]
    wire = Wire(command)
    wire.greets()
    wire.writes(b"this is no message\n")
    assert wire.reads()["error"]["code"] == -32700
    wire.calls(1, "knowledge_list")
    assert wire.reads()["result"]["isError"] is False
    code, rest, said = wire.ends()
    wire.dies()
    assert (code, rest) == (0, [])
    assert "sqlalchemy" in said
    assert "INFO devflow.mcp_server.calls: wire: knowledge_list" in said
    assert "PySide6" not in said
    assert "qasync" not in said


def test_a_failure_inside_is_told_calmly_and_the_server_goes_on(home: Path) -> None:
    with wired(home, ["mcp", "-v"]) as wire:
        wire.greets()
        wire.calls(1, "knowledge_list")
        wire.reads()
        with sqlite3.connect(home / "devflow.db") as other:
            other.execute("DROP TABLE entry_events")
        wire.calls(2, "knowledge_create", kind="pitfall", title="A", content="B")
        result = wire.reads()["result"]
        assert result["isError"] is True
        assert result["_meta"]["devflow/error"]["code"] == "internal"
        assert "entry_events" not in str(result)
        wire.calls(3, "knowledge_get_config")
        assert wire.reads()["result"]["isError"] is False
        _, rest, said = wire.ends()
    assert rest == []
    assert "Traceback" in said
    assert "no such table: entry_events" in said


def test_a_crash_leaves_standard_output_empty(home: Path) -> None:
    program = (
        "import sys, devflow.mcp_server.serve as serve\n"
        "def boom(*_): print('to standard output'); raise RuntimeError('boom')\n"
        "serve.make_server = boom\n"
        f"from devflow.cli import main; sys.exit(main(['--home', {str(home)!r}, 'mcp']))"
    )
    crashed = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env=environment(), input=b"", capture_output=True, check=False
    )
    assert crashed.stdout == b""
    assert crashed.returncode != 0
    assert b"RuntimeError: boom" in crashed.stderr
    assert b"to standard output" in crashed.stderr


def test_a_home_that_cannot_be_used_is_one_line_and_exit_code_1(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    refused = devflow(tmp_path / "file", "mcp")
    assert (refused.code, refused.out) == (1, "")
    assert refused.err.startswith("devflow: The data directory ")
    assert refused.err.count("\n") == 1


async def test_a_database_of_a_newer_devflow_is_told_by_every_call_and_left_alone(home: Path, library: Library) -> None:
    with sqlite3.connect(home / "devflow.db") as other:
        other.execute("UPDATE alembic_version SET version_num = '9999'")
    async with connected(home) as tool:
        assert len((await tool.client.list_tools()).tools) == 16
        for _ in range(2):
            code, said = await tool.refused("knowledge_list")
            assert code == "database"
            assert "newer" in said
        with pytest.raises(Exception, match="newer"):
            await tool.client.list_resources()


# its start ----------------------------------------------------------------------------------------------------------


def test_it_starts_within_one_and_a_half_times_a_bare_server_of_the_sdk(home: Path, tmp_path: Path) -> None:
    bare = tmp_path / "bare.py"
    bare.write_text(
        "from mcp.server import MCPServer\n"
        "server = MCPServer('bare', version='1.0')\n"
        "@server.tool()\n"
        "def echo(text: str) -> str:\n"
        '    """Say it again."""\n'
        "    return text\n"
        "server.run()\n",
        encoding="utf-8",
    )
    devflow(home, "knowledge", "list")
    ours = [sys.executable, "-m", "devflow", "--home", str(home), "mcp"]
    both = [(_start(ours), _start([sys.executable, str(bare)])) for _ in range(3)]
    assert min(one for one, _ in both) < 1.5 * min(other for _, other in both), both


def _start(command: list[str]) -> float:
    """Seconds of processor time, which other programs do not lengthen, until it has greeted and listed its tools."""
    begun = _children_s()
    wire = Wire(command, PYTHONWARNINGS="")
    wire.greets()
    wire.sends({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    assert wire.reads()["result"]["tools"]
    wire.dies()
    return _children_s() - begun


def _children_s() -> float:
    """Processor time of the children that are over; where the system does not tell it, the time of day."""
    times = os.times()
    return times.children_user + times.children_system or time.perf_counter()


if __name__ == "__main__":
    from devflow.mcp_server.calls import listed

    tools = [one.model_dump(mode="json", by_alias=True, exclude_none=True) for one in listed().tools]
    GOLDEN.write_text(json.dumps(tools, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
