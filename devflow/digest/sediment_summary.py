"""Title and summary of a conversation: by a model, or, without one, from the conversation's own words."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Collection
from contextlib import aclosing
from dataclasses import dataclass
from typing import assert_never

from devflow.digest.answer import heading_of
from devflow.digest.sediment_talk import TITLE_CHARS, Talk, shortened, shown_to_model
from devflow.digest.subagent import NotAPage
from devflow.domain.conversation import Role
from devflow.domain.errors import ProviderFailed
from devflow.domain.fences import fenced, new_nonce
from devflow.domain.messages import N_
from devflow.domain.redaction import redact
from devflow.domain.request import (
    CallChunk,
    FinishReason,
    ModelRequest,
    ReasoningChunk,
    ReplayChunk,
    StreamEnd,
    TextChunk,
    UsageChunk,
)
from devflow.domain.text.hidden import with_hidden_shown
from devflow.prompt.compose import Place, compose_sediment
from devflow.prompt.templates import Templates
from devflow.providers.protocol import Provider
from devflow.retrieval.references import REFERENCE
from devflow.wiki.page import without_comments

log = logging.getLogger(__name__)

LONGEST = 100_000
"""Characters of an answer or of its thinking; an endless one is left there."""
SUMMARY_MAX = 12_000
UNKNOWN_ROOM = 10_000
"""Estimated tokens for the conversation where the window is not known."""
SHARE = 0.7
"""Of the room; the rest is for the answer, and for tokens that were estimated too low."""
ANSWER_ROOM = 700
QUESTIONS_MAX = 12

_LABELS = {"zh": ("问过的问题：", "最后的回答："), "en": ("What was asked:", "The last answer:")}
"""What an extract says before the questions, and before the newest answer."""
_THOUGHT = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)
_WHOLE_BLOCK = re.compile(r"\A\s*(`{3,}|~{3,})(?:markdown|md)?[ \t]*\n(.*)\n\1[ \t]*\Z", re.DOTALL | re.IGNORECASE)
_TITLE = re.compile(r"^ {0,3}#{1,3}[ \t]+\S.*$", re.MULTILINE)
_LABEL = re.compile(r"^(?:标题|题目|title)[ \t]*[:：][ \t]*", re.IGNORECASE)
_MARKS = re.compile(r"[*_`]+")
_HEADING = re.compile(r"^ {0,3}#{1,2}[ \t]+(?=\S)")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_RAW = re.compile(r"^( {0,3})<(?=[!?/A-Za-z])")
_RULE = re.compile(r"^ {0,3}(?:=+|-+)[ \t]*$")


@dataclass(frozen=True, slots=True)
class Summary:
    """`model` is empty where none wrote it."""

    title: str
    markdown: str
    model: str = ""

    @property
    def line(self) -> str:
        """The first words, for the index; without a model those of the answer."""
        text = self.markdown
        for asked, answered in _LABELS.values():
            if text.startswith(asked):
                text = text.partition(f"\n\n{answered}\n\n")[2] or text
        for each in text.split("\n"):
            if words := " ".join(_MARKS.sub("", each).strip(" -*>#\t").split()):
                return words if len(words) <= 160 else f"{words[:159]}…"
        return ""


@dataclass(frozen=True, slots=True)
class Asked:
    """Who is asked; `learn` is told what a request was counted as."""

    provider: Provider
    place: Place
    learn: Callable[[ModelRequest, int | None], Awaitable[None]]


async def summarised(asked: Asked, talk: Talk, templates: Templates) -> Summary:
    """Ask the model; an answer that is no note is asked for once more.

    Raises `NotAPage`, or what the provider raises.
    """
    problem = ""
    for _ in range(2):
        request = await asyncio.to_thread(_request, asked.place, talk, templates, problem)
        text, end = await _answer(asked, request)
        found = parse_note(text)
        if end is FinishReason.LENGTH:
            problem = "it was cut off"
        elif isinstance(found, Summary):
            known = {page.path for page in talk.pages}
            return Summary(found.title, _without_unknown(found.markdown, known), asked.place.model)
        else:
            problem = found
        log.info("the answer of %s is no note: %s", asked.place.model, problem)
    raise NotAPage(
        N_("What {model} wrote has no title or no summary, even when asked once more."),
        N_("Try again, or choose a larger model for digests in Settings."),
        model=asked.place.model,
    )


def extractive(talk: Talk) -> Summary:
    """Without a model: the questions, and the beginning of the newest answer."""
    asked, answered = _LABELS[talk.language]
    questions = [f"- {_line(text, 200)}" for text in talk.questions[:QUESTIONS_MAX]]
    newest = next(each.text for each in reversed(talk.said) if each.role is Role.ASSISTANT)
    title = _line(talk.conversation.title or talk.questions[0], TITLE_CHARS)
    parts = (asked, "\n".join(questions), answered, quoted_lines(shortened(newest.strip(), 1_200)))
    return Summary(redact(title).text, "\n\n".join(parts))


def parse_note(text: str) -> Summary | str:
    """Title and summary of an answer; else what is wrong with it. What a model wraps around it is left out."""
    body = _THOUGHT.sub("", text.replace("\r\n", "\n"), count=1)
    wrapped = _WHOLE_BLOCK.match(body)
    body = (wrapped[2] if wrapped else body).strip()
    found = _TITLE.search(body)
    if found is None:
        return "it has no title"
    heading = heading_of(found[0])
    words = heading[1] if heading is not None else ""
    title = " ".join(_MARKS.sub("", _LABEL.sub("", words)).split())
    summary = without_comments(body[found.end() :]).strip()
    if not title:
        return "it has no title"
    if not any(line.strip() and heading_of(f"{line} ") is None for line in summary.split("\n")):
        return "it has no summary"  # or one of headings alone
    if len(summary) > SUMMARY_MAX:
        return "it is too long"
    return Summary(_line(redact(title).text, TITLE_CHARS), _contained(with_hidden_shown(redact(summary).text)))


def quoted_lines(text: str) -> str:
    """The text as a Markdown quotation: whatever it opens (a fence, a heading, front matter) ends with it."""
    lines = with_hidden_shown(text).replace("<!--", "<\\!--").split("\n")
    return "\n".join(f"> {line}".rstrip() for line in lines)


def _contained(markdown: str) -> str:
    """The summary so that it ends where it ends: no open code block or HTML runs on, no heading rivals the page's."""
    out: list[str] = []
    fence = ""
    for line in markdown.split("\n"):
        mark = _FENCE.match(line)
        if mark is not None and not fence:
            fence = mark[1]
        elif mark is not None and mark[1].startswith(fence) and not line[mark.end() :].strip():
            fence = ""
        elif not fence and _RULE.match(line):
            continue
        elif not fence:
            line = _RAW.sub(r"\1\\<", _HEADING.sub("### ", line))
        out.append(line)
    return "\n".join((*out, fence) if fence else out)


def _without_unknown(markdown: str, known: Collection[str]) -> str:
    """No link to a page that stood before no answer: the model may have made it up."""
    return REFERENCE.sub(lambda found: found[0] if found[1] in known else found[1], markdown)


def _request(place: Place, talk: Talk, templates: Templates, problem: str) -> ModelRequest:
    language = talk.language
    nonce = new_nonce(each.text for each in talk.said)
    system = templates.fill(language, "sediment", nonce=nonce)
    room = place.room(system, ())
    tokens = UNKNOWN_ROOM if room is None else max(200, SHARE * room - ANSWER_ROOM)
    shown = fenced("conversation", nonce, with_hidden_shown(shown_to_model(talk, tokens)))
    text = templates.fill(language, "sediment_talk", nonce=nonce, talk=shown)
    if problem:
        text += f"\n\n{templates.fill(language, 'sediment_again', problem=problem)}"
    return compose_sediment(place=place, system=system, text=text, templates=templates, language=language)


async def _answer(asked: Asked, request: ModelRequest) -> tuple[str, FinishReason]:
    text, thought, end, counted = "", 0, FinishReason.LENGTH, None
    async with aclosing(asked.provider.stream(request)) as events:
        async for event in events:
            match event:
                case TextChunk(piece):
                    text += piece
                case ReasoningChunk(piece):
                    thought += len(piece)
                case UsageChunk(given, _):
                    counted = given or counted
                case StreamEnd(FinishReason.REFUSED, detail):
                    raise _declined(asked.place.model, detail)
                case StreamEnd(reason):
                    end = reason
                case CallChunk() | ReplayChunk():
                    pass
                case _:
                    assert_never(event)
            if len(text) + thought > LONGEST:
                end = FinishReason.LENGTH
                break
    await asked.learn(request, counted)
    return text, end


def _declined(model: str, words: str) -> ProviderFailed:
    return ProviderFailed(
        N_("{model} declined to summarise this conversation: {words}."),
        N_("Choose another model for digests in Settings."),
        retryable=False,
        model=model,
        words=words or "no reason given",
    )


def _line(text: str, limit: int) -> str:
    line = with_hidden_shown(" ".join(text.split()))
    return line if len(line) <= limit else f"{line[: limit - 1].rstrip()}…"
