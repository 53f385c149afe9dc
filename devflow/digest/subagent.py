"""One sub-agent a file: the digest's model, the file, one tool that reads on in it, and nothing looked up (seed §3)."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import assert_never

from devflow.digest.answer import Digest, Missing, parse_answer, section_of_line
from devflow.digest.reading import Reading
from devflow.domain.digest import Doing
from devflow.domain.errors import ProviderFailed, UserFacing
from devflow.domain.fences import fenced, new_nonce
from devflow.domain.messages import N_
from devflow.domain.request import (
    AssistantTurn,
    CallChunk,
    ChatMessage,
    FinishReason,
    ModelRequest,
    ReasoningChunk,
    ReplayChunk,
    StreamEnd,
    TextChunk,
    ToolResult,
    UsageChunk,
    UserText,
    WireCall,
)
from devflow.domain.text.hidden import with_hidden_shown
from devflow.domain.text.language import Language, language_of
from devflow.domain.tokens import estimate_tokens
from devflow.prompt.compose import Place, compose_digest
from devflow.prompt.estimate import MESSAGE_OVERHEAD, tokens_of
from devflow.prompt.templates import Templates
from devflow.providers.protocol import Provider

log = logging.getLogger(__name__)

STEPS_MAX = 60
"""Requests for one file, however often it reads on; the last one must write."""
CALLS_MAX = 8
"""Calls of one step that are answered."""
UNKNOWN_ROOM = 10_000
"""Estimated tokens for the messages where the window is not known."""
WHOLE_SHARE, PIECE_SHARE = 0.8, 0.35
"""Of the room: a text that needs no more stands in the prompt whole; else it is shown in pieces of that size."""
LONGEST = 200_000
"""Characters of an answer or of its thinking; an endless one is left there."""
PURPOSE_MAX = 600


class NoContent(UserFacing):
    """The model wrote nothing but white space."""

    code = "no_content"


class NotAPage(UserFacing):
    """The model's answers lack sections, twice."""

    code = "sections_missing"


@dataclass(frozen=True, slots=True)
class Source:
    """What is digested: the file's name, its text, and what the knowledge base is for."""

    name: str
    text: str
    purpose: str

    @property
    def language(self) -> Language:
        return language_of(self.purpose or self.text[:2_000])


@dataclass(frozen=True, slots=True)
class Written:
    """The page, and how much of the text the model was shown."""

    digest: Digest
    read_percent: int


@dataclass(frozen=True, slots=True)
class Model:
    """Who is asked. `spend` is told the input and output tokens of each request, `told` what is being done."""

    provider: Provider
    place: Place
    spend: Callable[[int, int], Awaitable[None]]
    told: Callable[[Doing, str], None]


async def digest_source(model: Model, source: Source, templates: Templates) -> Written:
    """The page for a file; an answer without its sections is asked for once more.

    Raises `NoContent`, `NotAPage`, or what the provider raises.
    """
    problem = ""
    for _ in range(2):
        agent = _Agent(model, source, templates, problem)
        match await agent.write():
            case Digest() as digest:
                return Written(digest, agent.reading.percent)
            case Missing(sections):
                problem = f"missing: {', '.join(sections)}" if sections else "it was cut off"
                log.info("the answer of %s for %s is no page: %s", model.place.model, source.name, problem)
            case other:
                assert_never(other)
    raise NotAPage(
        N_("What {model} wrote lacks sections of a page, even when asked once more."),
        N_("Retry it, or choose a larger model for digests in Settings."),
        model=model.place.model,
    )


@dataclass(slots=True)
class _Step:
    """One answer as it comes in."""

    text: str = ""
    thought: str = ""
    calls: list[WireCall] = field(default_factory=list)
    replay: ReplayChunk | None = None
    end: FinishReason = FinishReason.LENGTH
    looked_at: int = 0  # where the line begins that is not complete yet


class _Agent:
    """One try at one file."""

    def __init__(self, model: Model, source: Source, templates: Templates, problem: str) -> None:
        self._model = model
        self._templates = templates
        self._language = source.language
        nonce = new_nonce((source.text, source.purpose, source.name))
        name = with_hidden_shown(" ".join(source.name.split()))[:200]
        purpose = fenced("purpose", nonce, with_hidden_shown(source.purpose[:PURPOSE_MAX]) or "-")
        self._system = templates.fill(self._language, "digest", nonce=nonce, purpose=purpose)
        self.reading = Reading(name, source.text, nonce, tokens=0)
        self._messages: list[ChatMessage] = [UserText(self._first(problem))]

    async def write(self) -> Digest | Missing:
        for left in reversed(range(STEPS_MAX)):
            if not left:
                self._messages.append(UserText(self._words("digest_now")))
            step = await self._ask(with_tool=bool(left))
            if not step.calls:
                return self._read(step)
            self._answer(step)
        raise AssertionError("the last step has no tool to call")

    def _first(self, problem: str) -> str:
        """What the sub-agent is given: the file, whole if it fits, and what was wrong the last time."""
        reading = self.reading
        room = self._model.place.room(self._system, (reading.spec,))
        room = (UNKNOWN_ROOM if room is None else room) - 200  # the words around the file
        whole = len(reading.text) <= 3 * room and estimate_tokens(reading.text) <= WHOLE_SHARE * room
        reading.tokens = max(1, int(PIECE_SHARE * room))
        shown, end = reading.piece(0, int(WHOLE_SHARE * room) + MESSAGE_OVERHEAD if whole else None)
        total = len(reading.text)
        text = self._words("digest_file", name=reading.name, total=total, shown=end, nonce=reading.nonce, file=shown)
        if end < total:
            text += f"\n\n{self._words('digest_rest', shown=end)}"
        if problem:
            text += f"\n\n{self._words('digest_again', problem=problem)}"
        return text

    async def _ask(self, *, with_tool: bool) -> _Step:
        tools = (self.reading.spec,) if with_tool and self.reading.percent < 100 else ()
        request = compose_digest(
            place=self._model.place,
            system=self._system,
            messages=tuple(self._messages),
            tools=tools,
            templates=self._templates,
            language=self._language,
        )
        step, used = _Step(), (0, 0)
        try:
            used = await self._stream(request, step)
        finally:
            written = tokens_of(AssistantTurn(step.text + step.thought))
            if any(used) or step.text or step.calls:  # a server that counts nothing is estimated
                await self._model.spend(used[0], used[1] or written)
        if not tools:
            step.calls.clear()
        return step

    async def _stream(self, request: ModelRequest, step: _Step) -> tuple[int, int]:
        used = (0, 0)
        async with aclosing(self._model.provider.stream(request)) as events:
            async for event in events:
                match event:
                    case TextChunk(text):
                        self._written(step, text)
                    case ReasoningChunk(text):
                        step.thought += text
                    case CallChunk(wire_id, tool, arguments):
                        step.calls.append(WireCall(wire_id, tool, arguments))
                    case UsageChunk(given, made):
                        used = (given or used[0], made or used[1])
                    case ReplayChunk():
                        step.replay = event
                    case StreamEnd(FinishReason.REFUSED, detail):
                        raise _declined(self._model.place.model, detail)
                    case StreamEnd(reason):
                        step.end = reason
                    case _:
                        assert_never(event)
                if len(step.text) + len(step.thought) > LONGEST:
                    step.end = FinishReason.LENGTH
                    break
        return used

    def _written(self, step: _Step, text: str) -> None:
        """More of the answer; who follows hears of the first of it, and of each section that begins."""
        if not step.text:
            self._model.told(Doing.WRITING, "")
        step.text += text
        while (end := step.text.find("\n", step.looked_at)) >= 0:
            section = section_of_line(step.text[step.looked_at : end])
            step.looked_at = end + 1
            if section is not None:
                self._model.told(Doing.WRITING, section)

    def _answer(self, step: _Step) -> None:
        calls = tuple(step.calls[:CALLS_MAX])
        replay = step.replay.value if step.replay is not None else None
        self._messages.append(AssistantTurn(step.text, calls, step.thought, replay))
        for call in calls:
            said = self.reading.answer(call.tool, call.arguments)
            self._messages.append(ToolResult(call.wire_id, call.tool, f"{self._told()}\n{said}"))

    def _read(self, step: _Step) -> Digest | Missing:
        if not step.text.strip():
            raise NoContent(
                N_("{model} wrote no content."),
                N_("Retry it, or choose another model for digests in Settings."),
                model=self._model.place.model,
            )
        read = parse_answer(step.text)
        if isinstance(read, Digest) and step.end is FinishReason.LENGTH:
            return Missing(())
        return read

    def _told(self) -> str:
        return self._words("tool_output", nonce=self.reading.nonce)

    def _words(self, template: str, **values: object) -> str:
        return self._templates.fill(self._language, template, **values)


def _declined(model: str, words: str) -> ProviderFailed:
    return ProviderFailed(
        N_("{model} declined to read this file: {words}."),
        N_("Choose another model for digests in Settings."),
        retryable=False,
        model=model,
        words=words or "no reason given",
    )
