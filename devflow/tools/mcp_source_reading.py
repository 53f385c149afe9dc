"""What the SDK and a server's end hand over, read into words and values of our own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import anyio
import mcp_types
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]  # the SDK brings it
from mcp import MCPError
from pydantic import ValidationError

from devflow.domain.messages import N_
from devflow.domain.redaction import redact
from devflow.domain.text.hidden import with_hidden_shown
from devflow.tools.mcp_expand import SECRET_MIN
from devflow.tools.mcp_offered import Offered
from devflow.tools.mcp_source_http import HttpTransport
from devflow.tools.mcp_source_stdio import StdioTransport

Transport = StdioTransport | HttpTransport


def offered_of(tool: mcp_types.Tool) -> Offered:
    hints = tool.annotations
    return Offered(
        tool.name,
        tool.description or "",
        tool.title or (hints.title if hints is not None and hints.title else ""),
        tool.input_schema,
        bool(hints is not None and hints.read_only_hint),
        bool(hints is not None and hints.destructive_hint),
    )


def is_sound(schema: Mapping[str, Any]) -> bool:
    """Whether it is a JSON schema: for one that is none, model servers refuse the whole request."""
    try:
        Draft202012Validator.check_schema(schema)
    except Exception:  # noqa: BLE001 - a schema from outside may make it fail in ways of its own
        return False
    return True


def first_of(error: BaseException) -> BaseException:
    """The failure inside groups of failures; a telling one before a closed stream."""
    if not isinstance(error, BaseExceptionGroup):
        return error
    flat = [first_of(each) for each in error.exceptions]
    telling = [each for each in flat if not isinstance(each, anyio.ClosedResourceError | anyio.BrokenResourceError)]
    return (telling or flat)[0]


def reason_of(transport: Transport | None, failure: BaseException | None, values: Mapping[str, str]) -> str:
    """The most telling words there are: what it did wrong, its exit code and last words, the system's words."""
    said = transport.last_words if transport is not None else ""
    code = transport.exit_code if transport is not None else None
    if transport is not None and transport.why:
        return transport.why
    match failure:
        case FileNotFoundError():
            return N_("there is no such program or folder")
        case OSError(strerror=str() as words):
            return words
        case MCPError() if failure.code != mcp_types.CONNECTION_CLOSED and not said:
            return tidy(failure.message, values)
        case ValidationError():
            return N_("what it sends is not MCP")
        case _:
            pass
    if code:
        how = f"exit code {code}" if code > 0 else f"signal {-code}"
        return f"{how}: {said}" if said else how
    return said or (tidy(str(failure), values) if failure is not None else "") or N_("it closed the connection")


def tidy(text: str, values: Mapping[str, str]) -> str:
    """A foreign sentence on one line, within bounds, without secrets and without the server's own values."""
    for value in values.values():
        if len(value) >= SECRET_MIN:
            text = text.replace(value, "…")
    line = " ".join(redact(with_hidden_shown(text)).text.split())
    return f"{line[:300]}…" if len(line) > 300 else line
