"""What a tool call is called: verb, target, and what became of it; in the window and in what is exported."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from devflow.domain.messages import Translator
from devflow.domain.run import CallState, ToolCall
from devflow.domain.text.hidden import with_hidden_shown
from devflow.tools import mcp_offered
from devflow.tools.command_words import shown_line
from devflow.tools.process_output import shown_controls
from devflow.tools.run_command import exit_code_of


def arguments_of(call: ToolCall) -> Mapping[str, Any]:
    """The call's arguments as an object; empty where the text is not one."""
    try:
        value = json.loads(call.arguments)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def verb_of(t: Translator, tool: str) -> str:
    verbs = {
        "list_dir": t.p("tool", "List"),
        "read_file": t.p("tool", "Read"),
        "search_files": t.p("tool", "Search"),
        "write_file": t.p("tool", "Write"),
        "edit_file": t.p("tool", "Edit"),
        "run_command": t.p("tool", "Run"),
        "knowledge_search": t.p("tool", "Search the library"),
        "propose_knowledge": t.p("tool", "Propose an entry"),
        "query_knowledge_base": t.p("tool", "Search the knowledge base"),
        "current_knowledge_base": t.p("tool", "Look at the knowledge base"),
        "list_knowledge_base_pages": t.p("tool", "List the pages"),
    }
    return mcp_name(tool) if is_mcp(tool) else verbs.get(tool, tool)


def target_of(call: ToolCall) -> str:
    """What the call is about: a path, a query, a title."""
    arguments = arguments_of(call)
    if call.tool == "search_files":
        return _target_of_search(arguments)
    if call.tool == "run_command":
        return " ".join(shown_controls(line_of(arguments)).split())
    if is_mcp(call.tool):
        return _arguments_in_short(arguments)
    for name in ("path", "query", "folder", "title", "command", "pattern"):
        value = arguments.get(name)
        if isinstance(value, str) and value:
            return " ".join(with_hidden_shown(value).split())
    return "" if arguments else " ".join(with_hidden_shown(call.arguments).split())[:200]


def is_mcp(tool: str) -> bool:
    """Whether the tool is a configured MCP server's."""
    return tool.startswith(mcp_offered.PREFIX)


def mcp_name(tool: str, preview: Mapping[str, Any] | None = None) -> str:
    """`files: read_file`: the server's and the tool's own names where they were kept, else as the model calls them."""
    server, _, own = tool.removeprefix(mcp_offered.PREFIX).partition("__")
    known = preview or {}
    server, own = str(known.get("mcp_server", server)), str(known.get("mcp_tool", own))
    return " ".join(with_hidden_shown(f"{server}: {own}").split())


def _arguments_in_short(arguments: Mapping[str, Any]) -> str:
    """`path: notes.md · lines: 20`, one line."""
    told = []
    for name, value in arguments.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        told.append(" ".join(with_hidden_shown(f"{name}: {text[:200]}").split()))
    return " · ".join(told)[:300]


def line_of(arguments: Mapping[str, Any]) -> str:
    """A command as one line: the shell's own, or words quoted so that they can be told apart."""
    words, shell = arguments.get("command"), arguments.get("shell")
    if isinstance(words, list) and all(isinstance(word, str) for word in words):
        return shown_line(words)
    return shell if isinstance(shell, str) else ""


def _target_of_search(arguments: Mapping[str, Any]) -> str:
    """What is looked for, and where: `write lock · src · *.py`."""
    parts = (arguments.get(name) for name in ("pattern", "path", "glob"))
    told = (with_hidden_shown(part) for part in parts if isinstance(part, str) and part not in ("", "."))
    return " · ".join(" ".join(part.split()) for part in told)


def outcome_words(t: Translator, call: ToolCall) -> tuple[str, str]:
    """The right slot of the line: words and their colour."""
    match call.state:
        case CallState.AWAITING:
            return t("Waiting for approval"), "warning"
        case CallState.APPROVED:
            return t("Allowed"), "text-muted"
        case CallState.EXECUTING:
            return t("Running…"), "accent-fg"
        case CallState.DENIED:
            return (t("Denied: {reason}", reason=call.reason) if call.reason else t("Denied")), "text-muted"
        case CallState.CANCELLED:
            return (t("Stopped") if call.result else t("Cancelled")), "text-muted"
        case CallState.INTERRUPTED:
            return t("Interrupted; effect unverified"), "warning"
        case CallState.FAILED:
            return t("Failed"), "danger"
        case CallState.DONE:
            failed = call.tool == "run_command" and exit_code_of(call.result) != 0
            return _done_words(t, call), "warning" if failed else "text-faint"


def _done_words(t: Translator, call: ToolCall) -> str:
    parts = []
    if call.tool == "read_file" and call.result:
        parts.append(t.n("{count} line", "{count} lines", len(call.result.splitlines())))
    elif call.tool == "list_dir" and call.result:
        parts.append(t.n("{count} item", "{count} items", len(call.result.splitlines())))
    elif call.tool == "search_files" and call.result:
        # Each line is one that matched, but for the last: the note, or that nothing did.
        parts.append(t.n("{count} matching line", "{count} matching lines", call.result.count("\n")))
    elif call.tool == "run_command" and call.result:
        code = exit_code_of(call.result)
        parts.append(t("Ended by a signal") if code is None else t("Exit code {code}", code=code))
    if call.duration_ms is not None:
        parts.append(duration_words(t, call.duration_ms))
    return " · ".join(parts)


def duration_words(t: Translator, ms: int) -> str:
    """`12 ms`, `1.4 s`."""
    if ms < 1000:
        return t("{count} ms", count=ms)
    return t("{count} s", count=f"{ms / 1000:.1f}")
