"""What of a conversation the model reads: the newest messages, without secrets, within its window."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from devflow.domain.conversation import Message, MessageState
from devflow.domain.redaction import redact

NEWEST = 6
"""So many user and assistant messages are read (seed, AI 自动提炼流程, 4)."""

SHORTEST_QUOTE = 4
"""Evidence of fewer characters, white space aside, stands in any message and shows nothing."""

CHARACTERS_UNKNOWN = 24_000
CHARACTERS_MOST = 60_000
CHARACTERS_PER_TOKEN = 0.5  # of the window; room is left for the prompt, the answer, and dense scripts

_QUOTE_MARKS = "\"'“”‘’「」『』《》«»`"


@dataclass(frozen=True, slots=True)
class Line:
    """One message as the model sees it. Only a `new` one can be evidence; the others are context."""

    message_id: str
    role: str
    text: str
    new: bool


@dataclass(frozen=True, slots=True)
class Quote:
    """Words of the transcript, exactly as they stand there, and the new messages that hold them."""

    text: str
    message_ids: tuple[str, ...]
    role: str


def readable(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Those that count: user and assistant messages with text, which are finished (cut ones too)."""
    return tuple(m for m in messages if m.content.strip() and m.state is not MessageState.STREAMING)


def is_new(message: Message) -> bool:
    return message.extracted_at is None


def transcript(messages: Sequence[Message], *, characters: int) -> tuple[Line, ...]:
    """The newest six, redacted first and then cut to `characters` in all, so that no secret is cut out of its form."""
    newest = messages[-NEWEST:]
    lines = [Line(m.id, m.role.value, redact(m.content).text.strip(), is_new(m)) for m in newest]
    return _within(lines, characters)


def budget(window: int | None, *, attempt: int = 1) -> int:
    """Characters of conversation that are sent to a model with `window` tokens; half as many after each failure."""
    characters = CHARACTERS_UNKNOWN if window is None else int(window * CHARACTERS_PER_TOKEN)
    return max(600, min(characters, CHARACTERS_MOST) >> max(0, attempt - 1))


def find_quote(evidence: str, lines: Sequence[Line]) -> Quote | None:
    """Where the words stand in new messages, white space and quotation marks around them aside."""
    wanted = "".join(evidence.strip().strip(_QUOTE_MARKS).split())
    if len(wanted) < SHORTEST_QUOTE:
        return None
    quote: Quote | None = None
    for line in lines:
        if not line.new:
            continue
        places = [i for i, char in enumerate(line.text) if not char.isspace()]
        at = "".join(line.text.split()).find(wanted)
        if at < 0:
            continue
        if quote is None:
            quote = Quote(line.text[places[at] : places[at + len(wanted) - 1] + 1], (line.message_id,), line.role)
        else:
            quote = replace(quote, message_ids=(*quote.message_ids, line.message_id))
    return quote


def _within(lines: Sequence[Line], characters: int) -> tuple[Line, ...]:
    """Shorten the longest messages, and those that are only context to half as much as new ones."""
    if sum(len(line.text) for line in lines) <= characters:
        return tuple(lines)
    shares = [2 if line.new else 1 for line in lines]
    allowed = [0] * len(lines)
    left, open_lines = characters, set(range(len(lines)))
    while open_lines:
        unit = left / sum(shares[i] for i in open_lines)
        fitting = {i for i in open_lines if len(lines[i].text) <= unit * shares[i]}
        for i in fitting or open_lines:
            allowed[i] = len(lines[i].text) if i in fitting else int(unit * shares[i])
        left -= sum(allowed[i] for i in fitting)
        open_lines = open_lines - fitting if fitting else set()
    return tuple(replace(line, text=_shortened(line.text, allowed[i])) for i, line in enumerate(lines))


def _shortened(text: str, limit: int) -> str:
    """Beginning and end, where a message says what it is about and what came of it."""
    if len(text) <= limit:
        return text
    mark = f"\n[… {len(text) - limit} characters left out …]\n"
    head = limit * 2 // 3
    return f"{text[:head]}{mark}{text[len(text) - (limit - head) :]}"
