"""What a tool call looks like in the window: its icon, and what its card says that it wants."""

from __future__ import annotations

from devflow.domain.messages import Translator
from devflow.domain.run import Risk, ToolCall
from devflow.tools.call_words import arguments_of, is_mcp, mcp_name


def icon_of(tool: str) -> str:
    if is_mcp(tool):
        return "plug"
    icons = {
        "list_dir": "folder",
        "read_file": "file",
        "search_files": "search",
        "write_file": "pencil",
        "edit_file": "pencil",
        "knowledge_search": "search",
        "propose_knowledge": "inbox",
        "query_knowledge_base": "book",
        "current_knowledge_base": "book",
        "list_knowledge_base_pages": "book",
    }
    return icons.get(tool, "terminal")  # `run_command`, and what is not known by name


def request_of(t: Translator, call: ToolCall) -> str:
    """The approval card's title: what the model wants."""
    match call.tool:
        case "write_file":
            creates = (call.preview or {}).get("exists") is False
            return t("Wants to create a file") if creates else t("Wants to edit a file")
        case "edit_file":
            return t("Wants to edit a file")
        case "search_files":
            return t("Wants to search the project's files")
        case "run_command":
            return t("Wants to run a shell line") if "shell" in arguments_of(call) else t("Wants to run a command")
        case "read_file":
            return t("Wants to read a file")
        case "list_dir":
            return t("Wants to list a folder")
        case "propose_knowledge":
            return t("Wants to propose an entry")
        case tool:
            return t("Wants to use {tool}", tool=mcp_name(tool, call.preview) if is_mcp(tool) else tool)


def risk_words(t: Translator, risk: Risk) -> str:
    match risk:
        case Risk.READS:
            return t.p("risk", "Reads")
        case Risk.WRITES:
            return t.p("risk", "Writes")
        case Risk.RUNS:
            return t.p("risk", "Runs")
        case Risk.REACHES_OUT:
            return t.p("risk", "Reaches out")
