"""A conversation as `/sediment` reads it: the finished messages of the active path, clean and without secrets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from devflow.domain.conversation import Conversation, Message, MessageState, Role
from devflow.domain.errors import Refused
from devflow.domain.messages import N_
from devflow.domain.redaction import redact
from devflow.domain.request import Injected
from devflow.domain.text.language import Language, language_of
from devflow.domain.tokens import estimate_tokens
from devflow.retrieval.answers import named_pages
from devflow.store import conversations, receipts, runs
from devflow.store.database import Session

TITLE_CHARS = 80
_LONGEST, _SHORTEST = 16_000, 200
"""Characters of one message that a model is shown: at most, and where many have to fit."""


@dataclass(frozen=True, slots=True)
class Said:
    """One message, secrets replaced. `cut`: it was stopped, or broke off."""

    role: Role
    text: str
    at: datetime
    cut: bool = False


@dataclass(frozen=True, slots=True)
class UsedPage:
    path: str
    title: str


@dataclass(frozen=True, slots=True)
class Talk:
    """`until` is its newest message, `ids` are all of the active path. `pages` stood before the model; those that an
    answer names come first."""

    conversation: Conversation
    said: tuple[Said, ...]
    ids: frozenset[str]
    until: str
    pages: tuple[UsedPage, ...]

    @property
    def questions(self) -> tuple[str, ...]:
        return tuple(each.text for each in self.said if each.role is Role.USER)

    @property
    def language(self) -> Language:
        return language_of("\n".join(self.questions))


@dataclass(frozen=True, slots=True)
class Rows:
    """What the database has of a conversation: its active path, and the pages that its runs were given."""

    conversation: Conversation
    messages: tuple[Message, ...]
    given: tuple[UsedPage, ...]


def read_rows(session: Session, conversation_id: str) -> Rows:
    """Raises `Refused` while it is being answered, or where nothing is answered yet."""
    conversation = conversations.get(session, conversation_id)
    if runs.open_run(session, conversation_id) is not None:
        raise Refused(
            N_("The conversation is still being answered."),
            N_("Wait for the end of the answer, or stop it, then try again."),
        )
    messages = conversations.path_to(session, conversation.leaf_id)
    if not any(each.role is Role.ASSISTANT for each in _told(messages)):
        raise Refused(
            N_("There is no answer yet: nothing is settled that could be written down."),
            N_("Ask a question first."),
        )
    return Rows(conversation, messages, _given(session, conversation_id, messages))


def talk_of(rows: Rows) -> Talk:
    """Finds and replaces secrets, which takes its time: run it on a thread that is not the store's."""
    told = _told(rows.messages)
    return Talk(
        conversation=rows.conversation,
        said=tuple(_said(each) for each in told),
        ids=frozenset(each.id for each in rows.messages),
        until=told[-1].id,
        pages=_named_first(rows),
    )


def shown_to_model(talk: Talk, tokens: float) -> str:
    """The conversation as text of about so many estimated tokens: long messages are shortened first, then the oldest
    are left out; the first question always stays."""
    longest = _LONGEST
    lines = _lines(talk.said, longest)
    while _tokens(lines) > tokens and longest > _SHORTEST:
        longest //= 2
        lines = _lines(talk.said, longest)
    sizes = [estimate_tokens(line) for line in lines]
    total, left_out = sum(sizes), 0
    while total > tokens and left_out < len(lines) - 2:
        left_out += 1
        total -= sizes[left_out]
    if left_out:
        lines[1 : left_out + 1] = [f"[… {left_out} messages …]"]
    return "\n\n".join(lines)


def shortened(text: str, limit: int) -> str:
    """Beginning and end, where a message says what it is about and what came of it."""
    if len(text) <= limit:
        return text
    head = limit * 2 // 3
    return f"{text[:head]}\n[… {len(text) - limit:,} …]\n{text[len(text) - (limit - head) :]}"


def _tokens(lines: Sequence[str]) -> int:
    return sum(estimate_tokens(line) for line in lines)


def _lines(said: Sequence[Said], longest: int) -> list[str]:
    return [f"{'User' if each.role is Role.USER else 'Assistant'}: {shortened(each.text, longest)}" for each in said]


def _said(message: Message) -> Said:
    text = redact(message.content.replace("\r\n", "\n").replace("\r", "\n")).text.strip("\n")
    return Said(message.role, text, message.created_at, message.state is MessageState.PARTIAL)


def _told(messages: Sequence[Message]) -> list[Message]:
    return [each for each in messages if each.content.strip() and each.state is not MessageState.STREAMING]


def _given(session: Session, conversation_id: str, messages: Sequence[Message]) -> tuple[UsedPage, ...]:
    """What the receipts of these runs gave, each page once."""
    of_path = {message.run_id for message in messages if message.run_id is not None}
    given: dict[str, UsedPage] = {}
    for receipt in receipts.of_conversation(session, conversation_id, of_path):
        if isinstance(receipt.pages, Injected):
            for item in receipt.pages.items:
                given.setdefault(item.ref, UsedPage(item.ref, " ".join(item.title.split())))
    return tuple(given.values())


def _named_first(rows: Rows) -> tuple[UsedPage, ...]:
    given = {page.path: page for page in rows.given}
    named = [path for each in rows.messages if each.role is Role.ASSISTANT for path in named_pages(each.content)]
    first = [path for path in dict.fromkeys(named) if path in given]
    return tuple(given[path] for path in (*first, *(path for path in given if path not in first)))
