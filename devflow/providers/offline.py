"""The built-in assistant: no model, no network. It quotes what retrieval found, and says so when that is nothing.

It speaks the language of the question. The best passage stands first, as the answer; where it comes from follows. A
page that the question names is quoted before all others; a question about the knowledge base gets a line of each page.
"""

from __future__ import annotations

import asyncio
import posixpath
import re
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path
from typing import assert_never

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
    NothingFound,
    NotUsed,
    Purpose,
    StreamEnd,
    StreamEvent,
    TextChunk,
    UserText,
)
from devflow.domain.text.terms import terms
from devflow.providers.passages import Passage, best_passage, content_terms, rank
from devflow.providers.phrases import Phrases, is_greeting, phrases_for

CHUNK = 16  # characters
PACE = 0.006  # seconds between chunks: quick, and yet seen to be written

_ABOUT_ITSELF = re.compile(
    r"\s*^\*\*[^*\n]+\*\*\n\n(?:- \[K\d+\] .*\n)+(?:\n\*\*[^*\n]+\*\*\n\n(?:- \[\d+\] .*\n)+)?\n\*[^*\n]+\*\s*\Z",
    re.MULTILINE,
)
_REFERENCE = re.compile(r"\[\[[ \t]*(wiki/.*?\.md)[ \t]*(?:[#|].*?)?\]\]")
_OVERVIEW = frozenset({"kb_meta", "recent_synthesis"})
"""Reasons of pages that come to a question about the knowledge base as such."""
_BESIDE_NAMED = 2
_CONTENTS = "index.md"


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
    notes = _notes(question, request, phrases)
    asked = _REFERENCE.sub(" ", question)
    chosen = _chosen(asked, _items(request.library), _items(request.pages))
    if chosen:
        return "\n\n".join((*notes, _from_passages(asked, chosen, phrases)))
    if is_greeting(question, resources):
        return phrases["greeting"]
    return "\n\n".join((*(notes or [_nothing(request.library, phrases)]), phrases["advice"]))


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


@dataclass(frozen=True, slots=True)
class _Chosen:
    """What is quoted: `lead` in full, `others` with a line each."""

    lead: tuple[InjectedItem, ...]
    others: tuple[InjectedItem, ...]

    def __bool__(self) -> bool:
        return bool(self.lead or self.others)


def _chosen(asked: str, entries: tuple[InjectedItem, ...], pages: tuple[InjectedItem, ...]) -> _Chosen:
    named = tuple(page for page in pages if page.reason == "explicit")
    rest = tuple(page for page in pages if page.reason != "explicit")
    rest = tuple(page for page in rest if page.ref != _CONTENTS) or rest  # a list of links says little
    if named:
        beside = [item for item in rank(asked, (*entries, *rest)) if _shares_words(asked, item)]
        return _Chosen(named, tuple(beside[:_BESIDE_NAMED]))
    if any(page.reason in _OVERVIEW for page in rest):
        lead = rest[:1] if rest[0].reason == "title" else ()
        return _Chosen(lead, rest[len(lead) :])
    found = rank(asked, (*entries, *rest))
    if rest and not any(item.source == "page" for item in found):
        found.append(rest[0])  # both were searched, and both had something
    return _Chosen(tuple(found[:1]), tuple(found[1:]))


def _shares_words(asked: str, item: InjectedItem) -> bool:
    return not content_terms(asked).isdisjoint(terms(f"{item.title} {item.excerpt}"))


def _notes(question: str, request: ModelRequest, phrases: Phrases) -> list[str]:
    """What must be said before anything is quoted: which page is not there, and that no page was found."""
    given = {item.ref for item in _items(request.pages)}
    notes: list[str] = []
    match request.pages:
        case LookupFailed():
            return [phrases["pages_failed"]]
        case NotUsed():
            return []
        case NothingFound():
            notes.append(phrases["no_page"])
        case Injected():
            pass
        case other:
            assert_never(other)
    references = dict.fromkeys(posixpath.normpath(found) for found in _REFERENCE.findall(question))
    return [*notes, *(phrases["missing"].format(path=path) for path in references if path not in given)]


def _from_passages(asked: str, chosen: _Chosen, phrases: Phrases) -> str:
    several = len(chosen.lead) > 1
    parts = [
        (f"**{_one_line(item.title)}**\n\n" if several else "") + _cited(best_passage(asked, item), item)
        for item in chosen.lead
    ]
    if chosen.others:
        lines = [f"**{phrases['also']}**" if chosen.lead else phrases["overview"], ""]
        for item in chosen.others:
            passage = best_passage("" if item.reason in _OVERVIEW else asked, item, short=True)
            lines.append(f"- **{_one_line(item.title)}**{phrases['colon']}{_cited(passage, item)}")
        parts.append("\n".join(lines))
    found = (*chosen.lead, *chosen.others)
    for source, heading in (("entry", "references"), ("page", "pages")):
        listed = [_reference(item, phrases) for item in found if item.source == source]
        if listed:
            parts.append("\n".join([f"**{phrases[heading]}**", "", *listed]))
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
        return f"- [{item.number}] {phrases['quoted_page'].format(title=title)}{phrases['colon']}{item.ref}"
    return f"- [{item.number}] {phrases['quoted'].format(title=title)}"


def _one_line(title: str) -> str:
    return " ".join(title.split())


def _nothing(library: Lookup, phrases: Phrases) -> str:
    """Say plainly what was looked at and found empty."""
    match library:
        case LookupFailed():
            return phrases["failed"]
        case NotUsed(why="off"):
            return phrases["off"]
        case _:
            return phrases["nothing"]
