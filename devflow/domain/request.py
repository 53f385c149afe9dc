"""What a provider is asked: the request, and what was looked up for it.

`ModelRequest` has two required fields, `library` and `pages`, so that leaving a lookup out is a type error (KP-3). Only
`devflow.prompt` may construct one; an architecture test keeps that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


@dataclass(frozen=True, slots=True)
class InjectedItem:
    """One entry or page that stands in the prompt.

    `number` is its label there (`K1` belongs to the entry for the whole conversation; pages are numbered per turn);
    `score` is relative to the best hit (1.00); `reason` is a stable word (`like`, `term`, or a page's hit reason);
    `size` is in characters; `excerpt` is exactly the text the model got; `cut` says that it was shortened. `matched`:
    the question's terms that stand in it; `places` says which stand in each of its fields. `similarity`: how near it is
    in meaning, as a search says it (0.3 at the floor), None where only keywords were asked.
    """

    source: str  # "entry" or "page"
    ref: str  # entry id, or page path
    number: str  # "K1", "1"
    title: str
    excerpt: str
    reason: str
    score: float
    size: int
    kind: str = ""
    version: int = 0
    cut: bool = False
    matched: tuple[str, ...] = ()
    places: tuple[tuple[str, tuple[str, ...]], ...] = ()
    similarity: float | None = None


@dataclass(frozen=True, slots=True)
class Injected:
    """Something was found and stands in the prompt as `block`, byte for byte; `dropped` names what had no room."""

    block: str
    items: tuple[InjectedItem, ...]
    dropped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NothingFound:
    """The lookup ran and nothing was relevant enough. `block` says so to the model, where it has to be told."""

    block: str = ""


@dataclass(frozen=True, slots=True)
class NotUsed:
    """No lookup was made, on purpose; `why` is a stable word (`off`, `greeting`, `no_kb`, `extraction`, …)."""

    why: str


@dataclass(frozen=True, slots=True)
class LookupFailed:
    """The lookup failed and the turn goes on without it; `message` is English, for the log and the receipt."""

    message: str


Lookup = Injected | NothingFound | NotUsed | LookupFailed


@dataclass(frozen=True, slots=True)
class UserText:
    text: str


@dataclass(frozen=True, slots=True)
class WireCall:
    """A tool call as it goes back to the provider in history; `arguments` is JSON text."""

    wire_id: str
    tool: str
    arguments: str


@dataclass(frozen=True, slots=True)
class AssistantTurn:
    """`replay` is what the same model said it wants back verbatim (`ReplayChunk`); any other never sees it."""

    text: str
    calls: tuple[WireCall, ...] = ()
    reasoning: str = ""
    replay: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class ToolResult:
    """Every tool call is answered by one of these before the next user text."""

    wire_id: str
    tool: str
    text: str


ChatMessage = UserText | AssistantTurn | ToolResult


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the model sees it; `parameters` is a JSON schema of type object."""

    name: str
    description: str
    parameters: Mapping[str, Any]


class Purpose(StrEnum):
    CHAT = "chat"
    TITLE = "title"
    EXTRACTION = "extraction"
    DIGEST = "digest"
    SEDIMENT = "sediment"
    PROBE = "probe"


@dataclass(frozen=True, slots=True)
class Measure:
    """Estimated tokens of each part of the request (the context meter).

    `trimmed` old messages were left out, `shortened` outputs or calls are not whole, and the model was offered
    `without_tools` tools less than there are, so that the rest fits.
    """

    system: int = 0
    knowledge: int = 0
    pages: int = 0
    history: int = 0
    window: int | None = None
    trimmed: int = 0
    shortened: int = 0
    without_tools: int = 0


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """Everything a provider needs for one step. `system` already holds the library's block at its head.

    `json_schema` asks for structured output (name → schema) where the provider has it. Temperature is left out unless
    set.
    """

    library: Lookup
    pages: Lookup
    model: str
    system: str
    messages: tuple[ChatMessage, ...]
    purpose: Purpose = Purpose.CHAT
    tools: tuple[ToolSpec, ...] = ()
    json_schema: Mapping[str, Any] | None = None
    max_output_tokens: int | None = None
    temperature: float | None = None
    require_tool: str | None = None
    measure: Measure = field(default_factory=Measure)


# What a provider streams back -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TextChunk:
    text: str


@dataclass(frozen=True, slots=True)
class ReasoningChunk:
    text: str


@dataclass(frozen=True, slots=True)
class CallChunk:
    """A whole tool call; adapters assemble the pieces and mint `wire_id` where the wire has none."""

    wire_id: str
    tool: str
    arguments: str


@dataclass(frozen=True, slots=True)
class UsageChunk:
    input_tokens: int | None
    output_tokens: int | None


@dataclass(frozen=True, slots=True)
class ReplayChunk:
    """What the model wants back verbatim with this answer (signed thinking): a JSON object that only its adapter reads.

    It is kept with the message, and comes back in `AssistantTurn.replay` to the same provider and model.
    """

    value: Mapping[str, Any]


class FinishReason(StrEnum):
    STOP = "stop"
    TOOL_CALLS = "tool_calls"
    LENGTH = "length"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class StreamEnd:
    """The last event of every good stream; a stream without one is a failed step (`ProviderFailed`)."""

    reason: FinishReason
    detail: str = ""


StreamEvent = TextChunk | ReasoningChunk | CallChunk | UsageChunk | ReplayChunk | StreamEnd
