"""Files in which other programs keep their MCP servers, as a preview: what is taken, what is said, what is refused."""

import json
from pathlib import Path
from typing import Any

import pytest

from devflow.domain.errors import InvalidInput, UserFacing
from devflow.tools.mcp_config import Http, McpDraft, McpServer, Stdio, as_server, check_draft, from_json, to_json
from devflow.tools.mcp_expand import NotExpanded, expand
from devflow.tools.mcp_import import Found, additions, preview, read_file, usual_files


def take(value: Any, *known: McpServer) -> tuple[Found, ...]:
    return preview(json.dumps(value).encode(), known).servers


def one(row: Any) -> Found:
    (found,) = take({"mcpServers": {"it": row}})
    return found


def draft(row: Any) -> McpDraft:
    found = one(row)
    assert found.draft is not None, found.problem
    return found.draft


def notes(row: Any) -> str:
    return " | ".join(note.message.format(**note.params) for note in one(row).notes)


def existing(name: str = "it", *words: str) -> McpServer:
    return as_server(check_draft(McpDraft(name, Stdio("old", words))), f"id-{name}", 1)


def test_claude_desktops_file() -> None:
    file = {
        "mcpServers": {
            "filesystem": {"command": "npx", "args": ["-y", "server-filesystem", "/home/me"]},
            "search": {"command": "uvx", "args": ["search"], "env": {"API_KEY": "abc", "PAGES": 3, "SAFE": True}},
        },
        "globalShortcut": "Ctrl+Space",
    }
    seen = preview(json.dumps(file).encode(), ())
    files, search = (found.draft for found in seen.servers)
    assert files is not None
    assert search is not None
    assert files.transport == Stdio("npx", ("-y", "server-filesystem", "/home/me"))
    assert search.values == {"API_KEY": "abc", "PAGES": "3", "SAFE": "true"}
    assert seen.ignored == ("globalShortcut",)


def test_cursors_and_other_programs_remote_servers() -> None:
    found = take(
        {
            "mcpServers": {
                "cursor": {"url": "https://example.com/mcp", "headers": {"Authorization": "Bearer ${env:TOKEN}"}},
                "windsurf": {"serverUrl": "https://example.com/two"},
                "gemini": {"httpUrl": "https://example.com/three", "timeout": 30_000},
            }
        }
    )
    drafts = [each.draft for each in found if each.draft is not None]
    assert [each.transport for each in drafts] == [
        Http("https://example.com/mcp", ("Authorization",)),
        Http("https://example.com/two"),
        Http("https://example.com/three"),
    ]
    assert drafts[0].values == {"Authorization": "Bearer ${env:TOKEN}"}
    assert drafts[2].call_timeout == 30


def test_vs_codes_file_with_comments_and_what_must_be_typed_in() -> None:
    text = """{
      // the servers
      "inputs": [{"id": "key", "type": "promptString"}],
      "servers": {
        "mine": {"type": "stdio", "command": "node", "args": ["http://a//b",], "env": {"KEY": "${input:key}"}}, /* it */
      },
    }"""
    (found,) = preview(text.encode(), ()).servers
    assert found.draft is not None
    assert found.draft.transport == Stdio("node", ("http://a//b",), "", ("KEY",))
    assert not found.draft.enabled
    assert "${input:key}" in found.notes[0].params["names"]


def test_the_inner_object_alone_is_taken_too() -> None:
    assert [found.name for found in take({"a": {"command": "x"}, "b": {"url": "http://localhost:1/mcp"}})] == ["a", "b"]


def test_unknown_fields_are_kept_and_named() -> None:
    row = {"command": "x", "autoApprove": ["*"], "alwaysAllow": []}
    assert draft(row).unknown == {"autoApprove": ["*"], "alwaysAllow": []}
    assert notes(row) == "Fields that mean nothing here: alwaysAllow, autoApprove."


def test_a_switched_off_server_comes_switched_off() -> None:
    assert not draft({"command": "x", "disabled": True}).enabled
    assert not draft({"command": "x", "enabled": False}).enabled


def test_a_key_among_the_arguments_is_pointed_out() -> None:
    said = notes({"command": "x", "args": ["--api-key", "sk-ant-api03-" + "aB3dE5gH7jK9" * 6]})
    assert "An argument looks like a key" in said


@pytest.mark.parametrize(
    "text, words",
    [
        (b"", "The file is empty."),
        (b"\xff\xfe\x00", "The file is not UTF-8 text."),
        (b"{", "The file is not JSON"),
        (b"[]", "The file holds no object of MCP servers."),
        (b"{}", "The file has neither mcpServers nor servers."),
        (b'{"theme": {"dark": true}}', "The file has neither mcpServers nor servers."),
        (b'{"mcpServers": []}', "mcpServers is not an object of servers by name."),
        (b'{"mcpServers": {}}', "The file lists no MCP server."),
        (b'{"a":' * 100_000, "The file is not JSON"),
    ],
)
def test_a_bad_file_is_refused_with_what_is_wrong(text: bytes, words: str) -> None:
    with pytest.raises(UserFacing, match=words):
        preview(text, ())


@pytest.mark.parametrize(
    "row, words",
    [
        ("npx", "it is not an object."),
        ({"args": []}, "it has neither a command nor a url."),
        ({"command": ["npx", {}]}, "The args of it are not a list of texts."),
        ({"command": {"a": 1}}, "The command of it is not a text."),
        ({"command": "x", "args": "-y"}, "The args of it are not a list of texts."),
        ({"command": "x", "env": ["A=1"]}, "The env of it is not an object of texts."),
        ({"command": "x", "env": {"A": {}}}, "The env of it is not an object of texts."),
        ({"command": "x", "env": {"A B": "c"}}, "A B cannot be the name of an environment variable."),
        ({"type": "sse", "url": "https://example.com"}, "it uses the old SSE transport"),
        ({"url": "ftp://example.com"}, "is not an address of an MCP server."),
        ({"url": "https://me:secret@example.com"}, "The address holds a user name or a password."),
        ({"url": "https://example.com", "headers": {"Host": "a"}}, "Host cannot be a header of your own."),
        ({"url": "https://example.com", "headers": {"X": "a\r\nY: b"}}, "holds a character that no header has."),
        ({"command": "x", "cwd": "relative"}, "is not a whole path."),
    ],
)
def test_a_bad_server_is_refused_and_takes_no_other_along(row: Any, words: str) -> None:
    bad, good = take({"mcpServers": {"it": row, "good": {"command": "x"}}})
    assert bad.draft is None
    assert words in str(bad.problem)
    assert good.draft is not None


def test_a_name_that_is_taken_is_said_and_gets_a_number_or_replaces() -> None:
    known = existing("It")
    (found,) = take({"mcpServers": {"it": {"command": "new"}}}, known)
    assert (found.same_name, found.same) == ("It", False)
    (numbered,) = additions([found], [known], replacing=False)
    assert (numbered.draft.name, numbered.replaces) == ("it 2", "")
    (replacing,) = additions([found], [known], replacing=True)
    assert replacing.replaces == "It"


def test_the_very_same_server_is_recognised() -> None:
    (found,) = take({"mcpServers": {"it": {"command": "old", "args": ["a"]}}}, existing("it", "a"))
    assert found.same


def test_what_is_stored_is_read_back_without_a_value() -> None:
    made = check_draft(McpDraft("it", Stdio("x", ("a",), "/tmp"), {"KEY": "secret"}, unknown={"z": 1}))
    server = as_server(made, "id", 3)
    row = json.loads(json.dumps(to_json(server)))
    assert "secret" not in json.dumps(row)
    assert from_json(row) == server


@pytest.mark.parametrize("row", [None, 5, {}, {"id": "a", "name": "b"}, {"id": "a", "name": "", "command": "x"}])
def test_a_row_that_cannot_be_read_is_none(row: Any) -> None:
    assert from_json(row) is None


def test_references_are_filled_in_when_the_server_starts() -> None:
    environ = {"TOKEN": "abc", "EMPTY": ""}
    assert expand("Bearer ${env:TOKEN}/${TOKEN}", environ) == "Bearer abc/abc"
    assert expand("${NO:-else}", environ) == "else"
    assert expand("${userHome}/x", environ) == f"{Path.home()}/x"
    assert expand("$TOKEN and ${ and }", environ) == "$TOKEN and ${ and }"
    with pytest.raises(NotExpanded, match="NOT_SET is not set"):
        expand("${env:NOT_SET}", environ)
    with pytest.raises(NotExpanded, match="has no meaning here"):
        expand("${workspaceFolder}/a", environ)


def test_a_file_that_is_too_large_or_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserFacing, match="cannot be read"):
        read_file(tmp_path / "none.json")
    (tmp_path / "large.json").write_bytes(b" " * 1_000_001)
    with pytest.raises(UserFacing, match="larger than"):
        read_file(tmp_path / "large.json")


def test_the_usual_files_are_found_where_they_are(tmp_path: Path) -> None:
    (tmp_path / ".cursor").mkdir()
    (tmp_path / ".cursor" / "mcp.json").write_text("{}", encoding="utf-8")
    (tmp_path / ".config" / "Claude").mkdir(parents=True)
    (tmp_path / ".config" / "Claude" / "claude_desktop_config.json").write_text("{}", encoding="utf-8")
    found = usual_files(tmp_path, {}, "linux")
    assert [path.name for path in found] == ["claude_desktop_config.json", "mcp.json"]
    assert usual_files(tmp_path, {"APPDATA": str(tmp_path / ".config")}, "win32") == found


def test_a_name_is_one_line_of_some_length() -> None:
    assert check_draft(McpDraft("  a \n b ", Stdio("x"))).name == "a b"
    for name in ("", "x" * 41, "a\x07b"):
        with pytest.raises(InvalidInput):
            check_draft(McpDraft(name, Stdio("x")))
