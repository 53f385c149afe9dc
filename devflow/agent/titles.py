"""A conversation's title by the model, in the background, after its first answer (spec 05, Chat)."""

from __future__ import annotations

import contextlib
import logging

from devflow.agent.engine import Engine
from devflow.agent.starting import TITLE_CHARS, title_from
from devflow.domain.conversation import OFFLINE, Origin, Role
from devflow.domain.errors import UserFacing
from devflow.domain.request import ReasoningChunk, TextChunk
from devflow.domain.run import Run, RunState
from devflow.domain.text.hidden import hidden_characters
from devflow.prompt.compose import compose_title
from devflow.store import conversations
from devflow.store.database import Session, Unit

log = logging.getLogger(__name__)

_LONGEST, _LONGEST_THOUGHT = 4_000, 200_000  # characters
_QUOTES = "\"'“”‘’「」『』《》*#`"


async def suggest_title(engine: Engine, run: Run) -> None:
    """Replace the title made from the first message; never one that the user gave. A failure leaves it as it is."""
    if run.state is not RunState.COMPLETED or run.choice == OFFLINE:
        return
    exchange = await engine.db.read(lambda session: _first_exchange(session, run))
    if exchange is None:
        return
    question, answer = exchange
    try:
        title = _clean(await _ask(engine, run, question, answer))
    except UserFacing as error:
        log.info("no title from the model: %s", error)
        return
    if title:
        await engine.db.write(lambda unit: _apply(unit, run.conversation_id, title, instead_of=title_from(question)))


def _first_exchange(session: Session, run: Run) -> tuple[str, str] | None:
    """The first question and answer, if the run answered the conversation's first question and the title is ours."""
    question = conversations.message(session, run.user_message_id)
    conversation = conversations.get(session, run.conversation_id)
    first = question.parent_id is None
    if (
        not first
        or conversation.origin is Origin.CLI
        or conversation.title_by_user
        or conversation.title != title_from(question.content)
    ):
        return None
    path = conversations.path_to(session, conversation.leaf_id)
    answer = next((message.content for message in reversed(path) if message.role is Role.ASSISTANT), "")
    return question.content, answer


async def _ask(engine: Engine, run: Run, question: str, answer: str) -> str:
    provider = await engine.models.resolve(run.choice)
    request = compose_title(run.choice.model, question, answer, engine.templates)
    text, thought = "", 0
    async with contextlib.aclosing(provider.stream(request)) as events:
        async for event in events:
            match event:
                case TextChunk(piece):
                    text += piece
                case ReasoningChunk(piece):
                    thought += len(piece)
                case _:
                    pass
            if len(text) > _LONGEST or thought > _LONGEST_THOUGHT:
                break  # it does not stop by itself
    return text


def _clean(text: str) -> str:
    """The last line that says something, without quotation marks; empty if it is no title."""
    text = "".join(char for char in text if char in "\n\r\t" or not hidden_characters(char))
    lines = [line.strip().strip(_QUOTES).strip() for line in text.strip().splitlines()]
    line = next((line for line in reversed(lines) if line), "")
    line = line.removeprefix("Title:").removeprefix("标题：").strip().rstrip(".。").strip(_QUOTES)
    return line if 0 < len(line) <= TITLE_CHARS else ""


def _apply(unit: Unit, conversation_id: str, title: str, *, instead_of: str) -> None:
    now = conversations.get(unit.session, conversation_id)
    if not now.title_by_user and now.title == instead_of:
        conversations.set_fields(unit, conversation_id, title=title)
