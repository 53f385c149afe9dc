"""The only place where a `ModelRequest` is made (KP-3; an architecture test keeps it so).

Whoever asks a provider anything passes through here, and a request cannot be made without saying what became of the
library's and the pages' lookups.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from devflow.domain.conversation import Message
from devflow.domain.knowledge import Project
from devflow.domain.receipt import Receipt
from devflow.domain.request import (
    ChatMessage,
    Injected,
    Lookup,
    Measure,
    ModelRequest,
    NothingFound,
    NotUsed,
    Purpose,
    ToolSpec,
    UserText,
)
from devflow.domain.text.language import language_of
from devflow.domain.tokens import estimate_tokens
from devflow.prompt.budget import request_room
from devflow.prompt.estimate import estimated, tokens_of, tokens_of_system, tokens_of_tools
from devflow.prompt.history import Calls, Replays, ends_cut, folded, history
from devflow.prompt.offered import offered
from devflow.prompt.pages import build_knowledge_context_prompt
from devflow.prompt.templates import Language, Templates
from devflow.prompt.too_long import too_long
from devflow.prompt.trim import Marks, Trimmed, trim

SEPARATOR = "\n\n---\n\n"
TITLE_TOKENS = 200
QUESTION_CHARS, ANSWER_CHARS = 800, 400
"""Characters that a title is made from: few enough for a window of 2,048 tokens."""
PROBE_TOKENS = 64


@dataclass(frozen=True, slots=True)
class Turn:
    """What one step is composed from. `messages` is the path down to the newest message, `window` is in tokens.

    `ratio` is how many of the model's own tokens one estimated token has turned out to be.
    """

    model: str
    messages: Sequence[Message]
    calls: Calls
    question: str
    receipt: Receipt
    project: Project | None = None
    tools: tuple[ToolSpec, ...] = ()
    skills: str = ""
    window: int | None = None
    ratio: float = 1.0
    replays: Replays = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Place:
    """What a request has to fit into: a model, its window in tokens, and its `ratio` as of a `Turn`."""

    model: str
    window: int | None = None
    ratio: float = 1.0

    def room(self, system: str, tools: Sequence[ToolSpec]) -> int | None:
        """Estimated tokens that are left for messages; None where the window is not known."""
        if self.window is None:
            return None
        return request_room(self.window, self.ratio) - tokens_of_system(system) - tokens_of_tools(tools)


def compose_turn(turn: Turn, templates: Templates) -> ModelRequest:
    """One step: the first of a turn, a tool step, a resume after approval, a retry; there is no other way.

    The system prompt is [knowledge] --- [skill instructions] --- [original system prompt]. The oldest turns are left
    out where the window is known and exceeded, never the system prompt, the knowledge or the last user message.
    """
    language = language_of(turn.question)
    original = _original_prompt(turn.project, templates, language)
    library, pages = turn.receipt.library, turn.receipt.pages
    system = system_prompt(library, turn.skills, original)
    go_on = (UserText(templates.get(language, "continue")),) if ends_cut(turn.messages) else ()
    messages = history(turn.messages, turn.calls, templates=templates, language=language, replays=turn.replays)
    messages = _with_pages(messages, pages)
    tools = _offered(turn, system, messages)
    place = Place(turn.model, turn.window, turn.ratio)
    trimmed = _trimmed(place, system, tools, (messages, go_on), _marks(templates, language))
    request = ModelRequest(
        library=library,
        pages=pages,
        model=turn.model,
        system=system,
        messages=folded((*trimmed.messages, *go_on)),
        purpose=Purpose.CHAT,
        tools=tools,
    )
    return replace(request, measure=_measure(request, turn, trimmed))


def compose_title(model: str, question: str, answer: str, templates: Templates) -> ModelRequest:
    """Ask for a conversation's title from its first exchange."""
    language = language_of(question)
    text = f"{question[:QUESTION_CHARS]}\n\n{answer[:ANSWER_CHARS]}".strip()
    return ModelRequest(
        library=NotUsed("title"),
        pages=NotUsed("title"),
        model=model,
        system=templates.get(language, "title"),
        messages=(UserText(text),),
        purpose=Purpose.TITLE,
        max_output_tokens=TITLE_TOKENS,
    )


def compose_extraction(
    *,
    model: str,
    system: str,
    text: str,
    json_schema: Mapping[str, Any],
) -> ModelRequest:
    """Ask for candidates; extraction reads no library, so that the model cannot repeat what it was just told."""
    return ModelRequest(
        library=NotUsed("extraction"),
        pages=NotUsed("extraction"),
        model=model,
        system=system,
        messages=(UserText(text),),
        purpose=Purpose.EXTRACTION,
        json_schema=json_schema,
    )


def compose_digest(
    *,
    place: Place,
    system: str,
    messages: tuple[ChatMessage, ...],
    tools: tuple[ToolSpec, ...],
    templates: Templates,
    language: Language,
) -> ModelRequest:
    """One step of the sub-agent that digests a file: it is told of no library and no page (seed §3).

    Parts of the file that it read earlier give way where the window is exceeded; raises `TooLong`.
    """
    trimmed = _trimmed(place, system, tools, (messages, ()), _marks(templates, language))
    return ModelRequest(
        library=NotUsed("digest"),
        pages=NotUsed("digest"),
        model=place.model,
        system=system,
        messages=trimmed.messages,
        purpose=Purpose.DIGEST,
        tools=tools,
    )


def compose_sediment(*, place: Place, system: str, text: str, templates: Templates, language: Language) -> ModelRequest:
    """Ask what a conversation settled, from its own words alone; raises `TooLong` where they do not fit."""
    trimmed = _trimmed(place, system, (), ((UserText(text),), ()), _marks(templates, language))
    return ModelRequest(
        library=NotUsed("sediment"),
        pages=NotUsed("sediment"),
        model=place.model,
        system=system,
        messages=trimmed.messages,
        purpose=Purpose.SEDIMENT,
    )


def compose_probe(model: str, text: str, *, tool: ToolSpec | None = None) -> ModelRequest:
    """The shortest request that shows whether a provider streams, and with `tool` whether it calls tools."""
    return ModelRequest(
        library=NotUsed("probe"),
        pages=NotUsed("probe"),
        model=model,
        system="",
        messages=(UserText(text),),
        purpose=Purpose.PROBE,
        tools=(tool,) if tool else (),
        require_tool=tool.name if tool else None,
        max_output_tokens=PROBE_TOKENS,
    )


def system_prompt(library: Lookup, skills: str, original: str) -> str:
    """[knowledge] --- [skill instructions] --- [original system prompt]; an empty part takes its line with it."""
    block = library.block if isinstance(library, Injected) else ""
    return SEPARATOR.join(part for part in (block, skills.strip(), original) if part)


def _original_prompt(project: Project | None, templates: Templates, language: Language) -> str:
    system = templates.get(language, "system")
    if project is None:
        return system
    return f"{system}\n\n{templates.fill(language, 'workspace', name=project.name)}"


def _with_pages(messages: tuple[ChatMessage, ...], pages: Lookup) -> tuple[ChatMessage, ...]:
    """Attach the pages' block to the last user message, whose own text stays first and unchanged (seed §5.4)."""
    if not isinstance(pages, Injected | NothingFound):
        return messages
    out = list(messages)
    for i in reversed(range(len(out))):
        message = out[i]
        if isinstance(message, UserText):
            out[i] = replace(message, text=build_knowledge_context_prompt(message.text, pages))
            break
    return tuple(out)


def _marks(templates: Templates, language: Language) -> Marks:
    return Marks(*(templates.get(language, name) for name in ("left_out", "left_out_part", "cut")))


def _offered(turn: Turn, system: str, messages: Sequence[ChatMessage]) -> tuple[ToolSpec, ...]:
    """The tools that have room beside what must stay whole."""
    if turn.window is None:
        return turn.tools
    asked = next((tokens_of(message) for message in reversed(messages) if isinstance(message, UserText)), 0)
    return offered(turn.tools, request_room(turn.window, turn.ratio) - tokens_of_system(system) - asked)


def _trimmed(
    place: Place,
    system: str,
    tools: Sequence[ToolSpec],
    path: tuple[tuple[ChatMessage, ...], tuple[ChatMessage, ...]],
    marks: Marks,
) -> Trimmed:
    """The messages that the window has room for; raises `TooLong` where what must stay whole has none.

    `path` is the history, and what is said after it to have a cut answer continued.
    """
    messages, go_on = path
    room = place.room(system, tools)
    if room is None or place.window is None:
        return Trimmed(messages)
    trimmed = trim(messages, room - sum(tokens_of(message) for message in go_on), marks)
    if trimmed.over:
        raise too_long(place.model, place.window, place.ratio, room, trimmed.messages)
    return trimmed


def _measure(request: ModelRequest, turn: Turn, trimmed: Trimmed) -> Measure:
    """In the model's own tokens as far as they are known; the parts add up to the whole, rounded up once."""

    def own(tokens: int) -> int:
        return int(tokens * turn.ratio)

    knowledge = estimate_tokens(request.library.block) if isinstance(request.library, Injected) else 0
    pages = estimate_tokens(request.pages.block) if isinstance(request.pages, Injected | NothingFound) else 0
    system = tokens_of_system(request.system) - knowledge + tokens_of_tools(request.tools)
    return Measure(
        system=own(system),
        knowledge=own(knowledge),
        pages=own(pages),
        history=math.ceil(estimated(request) * turn.ratio) - own(system) - own(knowledge) - own(pages),
        window=turn.window,
        trimmed=trimmed.left_out,
        shortened=trimmed.shortened,
        without_tools=len(turn.tools) - len(request.tools),
    )
