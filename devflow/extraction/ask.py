"""The request for candidates: what the model is told and shown, and its answer, collected."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import aclosing

from devflow.domain.conversation import ModelChoice
from devflow.domain.errors import ProviderFailed
from devflow.domain.fences import new_nonce
from devflow.domain.knowledge import Entry
from devflow.domain.messages import N_
from devflow.domain.request import FinishReason, ModelRequest, ReasoningChunk, StreamEnd, TextChunk
from devflow.domain.text.language import language_of
from devflow.extraction.loose_json import LONGEST
from devflow.extraction.schema import SCHEMA
from devflow.extraction.transcript import Line
from devflow.prompt.compose import compose_extraction
from devflow.prompt.templates import Templates
from devflow.providers.protocol import Provider

LONGEST_THOUGHT = 1_000_000  # characters
KNOWN_EXCERPT = 160  # characters of a known entry's content that are shown


def request(
    choice: ModelChoice,
    lines: Sequence[Line],
    known: Sequence[Entry],
    templates: Templates,
) -> ModelRequest:
    """Everything said in the conversation stands fenced, as data; so do the titles of what is known."""
    nonce = new_nonce(line.text for line in lines)
    language = language_of("".join(line.text for line in lines))
    text = templates.fill(
        language,
        "extraction_conversation",
        nonce=nonce,
        known="\n".join(_known(entry) for entry in known) or "-",
        messages="\n\n".join(_message(place, line, nonce) for place, line in enumerate(lines, 1)),
    )
    system = templates.get(language, "extraction")
    return compose_extraction(model=choice.model, system=system, text=text, json_schema={"candidates": SCHEMA})


async def answer(provider: Provider, asked: ModelRequest) -> str:
    """The whole text of the model's answer; raises `ProviderFailed`. An endless one is left where it is too long."""
    parts: list[str] = []
    length = thought = 0
    async with aclosing(provider.stream(asked)) as events:
        async for event in events:
            match event:
                case TextChunk(text):
                    parts.append(text)
                    length += len(text)
                    if length > LONGEST:
                        break
                case ReasoningChunk(text):
                    thought += len(text)
                    if thought > LONGEST_THOUGHT:
                        break
                case StreamEnd(FinishReason.REFUSED, detail):
                    raise ProviderFailed(
                        N_("The model declined to read this conversation: {words}."),
                        N_("Choose another model for extraction in Settings."),
                        retryable=False,
                        words=detail or "no reason given",
                    )
                case _:
                    pass
    return "".join(parts)


def _message(place: int, line: Line, nonce: str) -> str:
    mark = "new" if line.new else "context"
    return f"<<<{place} {line.role} {mark} {nonce}>>>\n{line.text}\n<<<end {place} {nonce}>>>"


def _known(entry: Entry) -> str:
    """One line, as JSON, so that a title cannot pass for part of the prompt."""
    excerpt = " ".join(entry.content.split())[:KNOWN_EXCERPT]
    return json.dumps({"kind": entry.kind.value, "title": entry.title, "content": excerpt}, ensure_ascii=False)
