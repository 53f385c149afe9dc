"""The built-in assistant: no model, no network. It quotes what retrieval found, and says so when that is nothing.

It speaks the language of the question. The best passage stands first, as the answer; where it comes from follows.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator
from pathlib import Path

from devflow.domain.conversation import OFFLINE
from devflow.domain.errors import ProviderFailed
from devflow.domain.messages import N_
from devflow.domain.request import (
    FinishReason,
    Injected,
    InjectedItem,
    Lookup,
    LookupFailed,
    ModelRequest,
    NotUsed,
    Purpose,
    StreamEnd,
    StreamEvent,
    TextChunk,
    UserText,
)
from devflow.providers.passages import Passage, best_passage, rank
from devflow.providers.phrases import Phrases, is_greeting, phrases_for

CHUNK = 16  # characters
PACE = 0.006  # seconds between chunks: quick, and yet seen to be written

_ABOUT_ITSELF = re.compile(r"\s*^\*\*[^*\n]+\*\*\n\n(?:- \[K\d+\] .*\n)+\n\*[^*\n]+\*\s*\Z", re.MULTILINE)


class OfflineAssistant:
    """The provider behind `OFFLINE`. It uses no tools and keeps nothing."""

    id = OFFLINE.provider_id

    def __init__(self, resources: Path, *, pace: float = PACE) -> None:
        self._resources = resources
        self._pace = pace

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamEvent, None]:
        """Answer the last user text from `request.library` and `request.pages`."""
        if request.purpose is not Purpose.CHAT:
            raise ProviderFailed(
                N_("The offline assistant only answers questions."),
                N_("Connect a model in Settings, under Providers."),
                retryable=False,
            )
        answer = compose_answer(request, self._resources)
        for start in range(0, len(answer), CHUNK):
            yield TextChunk(answer[start : start + CHUNK])
            await asyncio.sleep(self._pace)
        yield StreamEnd(FinishReason.STOP)

    async def models(self) -> tuple[str, ...]:
        return (OFFLINE.model,)

    async def context_window(self, model: str) -> int | None:
        return None

    async def aclose(self) -> None:
        """Nothing is held."""


def compose_answer(request: ModelRequest, resources: Path) -> str:
    """The whole answer as Markdown."""
    question = last_question(request)
    phrases = phrases_for(question, resources)
    found = rank(question, (*_items(request.library), *_items(request.pages)))
    if found:
        return _from_passages(question, found, phrases)
    if is_greeting(question, resources):
        return phrases["greeting"]
    return _nothing(request, phrases)


def quoted_part(answer: str) -> str:
    """An answer of `compose_answer` without its list of references and the sentence about who speaks."""
    return _ABOUT_ITSELF.sub("", answer)


def last_question(request: ModelRequest) -> str:
    """The last user text as the user typed it, without the block of pages that travels with it."""
    text = next((turn.text for turn in reversed(request.messages) if isinstance(turn, UserText)), "")
    for lookup in (request.pages, request.library):
        if isinstance(lookup, Injected) and lookup.block:
            text = text.replace(lookup.block, "")
    return re.split(r"\n-{3,}\n\[系统检索上下文", text, maxsplit=1)[0].strip()


def _items(lookup: Lookup) -> tuple[InjectedItem, ...]:
    return lookup.items if isinstance(lookup, Injected) else ()


def _from_passages(question: str, found: list[InjectedItem], phrases: Phrases) -> str:
    lead, *others = found
    parts = [_cited(best_passage(question, lead), lead)]
    if others:
        lines = [f"**{phrases['also']}**", ""]
        for item in others:
            passage = best_passage(question, item, short=True)
            lines.append(f"- **{_one_line(item.title)}**{phrases['colon']}{_cited(passage, item)}")
        parts.append("\n".join(lines))
    references = [f"**{phrases['references']}**", ""]
    references += [_reference(item, phrases) for item in found]
    parts.append("\n".join(references))
    parts.append(f"*{phrases['how']}*")
    return "\n\n".join(parts)


def _cited(passage: Passage, item: InjectedItem) -> str:
    """The passage with its reference outside any code: inside code nothing is a citation."""
    label = f"[{item.number}]"
    text = passage.text + (" …" if passage.cut and not passage.ends_in_code else "")
    return f"{text}\n\n{label}" if passage.ends_in_code else f"{text} {label}"


def _reference(item: InjectedItem, phrases: Phrases) -> str:
    title = _one_line(item.title)
    if item.source == "page":
        return f"- [{item.number}] {phrases['quoted'].format(title=title)}{phrases['colon']}{item.ref}"
    return f"- [{item.number}] {phrases['quoted'].format(title=title)}"


def _one_line(title: str) -> str:
    return " ".join(title.split())


def _nothing(request: ModelRequest, phrases: Phrases) -> str:
    """Say plainly what was looked at and found empty, and what would help."""
    match request.library:
        case LookupFailed():
            first = phrases["failed"]
        case NotUsed(why="off"):
            first = phrases["off"]
        case _:
            first = phrases["nothing"]
    return f"{first}\n\n{phrases['advice']}"
