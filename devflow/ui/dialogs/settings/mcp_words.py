"""What the settings say of an MCP server: how it stands, what an import would add, its values as text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from devflow.domain.errors import InvalidInput
from devflow.domain.messages import N_, Translator
from devflow.tools.mcp_config import McpServer
from devflow.tools.mcp_import import Found, Note
from devflow.tools.mcp_state import Phase, ServerState
from devflow.ui.dialogs.settings.page import sentence_of

KEPT = "••••••"
"""Stands in the form for a value that is kept and not shown."""


def state_words(t: Translator, server: McpServer, state: ServerState) -> tuple[str, str]:
    """The words and their colour."""
    if not server.enabled:
        return t("Off"), "text-faint"
    match state.phase:
        case Phase.STOPPED:
            return t("Not started; it starts when a conversation needs it"), "text-muted"
        case Phase.STARTING:
            return t("Starting…"), "accent-fg"
        case Phase.RUNNING:
            words = t.n("Running · {count} tool", "Running · {count} tools", len(state.tools))
            if state.left_out:
                words += " · " + t.n("{count} left out", "{count} left out", len(state.left_out))
            return words, "success"
        case Phase.FAILED:
            return (state.problem.render(t) if state.problem is not None else t("Failed")), "danger"
        case _:
            assert_never(state.phase)


def state_icon(server: McpServer, state: ServerState) -> tuple[str, str]:
    if not server.enabled or state.phase is Phase.STOPPED:
        return "circle", "text-faint"
    match state.phase:
        case Phase.STARTING:
            return "half-disc", "accent-fg"
        case Phase.RUNNING:
            return "dot", "success"
        case Phase.FAILED:
            return "warning", "danger"
        case _:
            assert_never(state.phase)


def found_words(t: Translator, found: Found) -> str:
    """What the preview says below a server's line."""
    if found.problem is not None:
        return sentence_of(t, found.problem)
    said = [note_words(t, note) for note in found.notes]
    if found.same:
        said.append(t("This very server is set up already."))
    elif found.same_name:
        said.append(t("There is a server of this name."))
    return " ".join(said)


def note_words(t: Translator, note: Note) -> str:
    return t(note.message, **note.params)


def values_as_text(values: Mapping[str, str]) -> str:
    """`NAME=…` line by line, the values covered."""
    return "\n".join(f"{name}={KEPT if value else ''}" for name, value in values.items())


def text_as_values(text: str, kept: Mapping[str, str]) -> dict[str, str]:
    """The lines read back; a covered value is the one that is kept. Raises `InvalidInput` naming a line."""
    values: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        name, sign, value = line.partition("=")
        if not sign and ":" in line:  # as headers are written
            name, sign, value = line.partition(":")
            value = value.strip()
        if not sign or not name.strip():
            raise InvalidInput(
                "values", N_("Line {number} is not NAME=value."), N_("Write one on each line."), number=number
            )
        name = name.strip()
        values[name] = kept.get(name, "") if value == KEPT else value
    return values
