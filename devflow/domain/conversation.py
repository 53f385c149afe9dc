"""Conversations and their messages: a tree with one active leaf (spec 08, Data model)."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from devflow.domain.knowledge import Project
from devflow.domain.skill import UsedSkill


class Role(StrEnum):
    USER = "user"
    ASSISTANT = "assistant"


class Origin(StrEnum):
    """Where a conversation was started. `CLI` ones are never extracted by themselves."""

    WINDOW = "window"
    CLI = "cli"


class MessageState(StrEnum):
    """`STREAMING` is being written now; `PARTIAL` was cut (stopped, failed, killed) and says so."""

    COMPLETE = "complete"
    STREAMING = "streaming"
    PARTIAL = "partial"


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the provider counted them; None where it did not say."""

    input_tokens: int | None = None
    output_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Message:
    """One node of the conversation's tree. `seq` orders events within the conversation, never by clock.

    `content` is what the user typed or the model said, clean: injected context is never stored here. Tool calls of an
    assistant message are rows of their own (`devflow.domain.run.ToolCall`).
    """

    id: str
    conversation_id: str
    parent_id: str | None
    run_id: str | None
    role: Role
    content: str
    seq: int
    created_at: datetime
    state: MessageState = MessageState.COMPLETE
    reasoning: str = ""
    provider_id: str | None = None
    model: str | None = None
    usage: Usage | None = None
    extracted_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Draft:
    """What stands unsent in the composer."""

    text: str = ""
    references: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """A provider's id and one of its models. The built-in assistant is `OFFLINE`."""

    provider_id: str
    model: str


OFFLINE = ModelChoice("offline", "offline")

MESSAGE_MAX = 1_000_000
"""Characters of one user message; more is a file that was piped or pasted by mistake, and fits no model."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """`queued` is the message typed while a run streams, `queued_skill` what it is to be answered with; `model` None
    means the main role's model.

    `project` is the workspace; it may change. `kb_id` is fixed at the first message. `retrieval` is the conversation's
    own switch. `running` and `awaiting` are read with the row for the list's marks.
    """

    id: str
    title: str
    title_by_user: bool
    origin: Origin
    project: Project | None
    kb_id: str | None
    leaf_id: str | None
    pinned: bool
    retrieval: bool
    model: ModelChoice | None
    draft: Draft
    queued: str
    created_at: datetime
    updated_at: datetime
    deleted_at: datetime | None = None
    running: bool = False
    awaiting: bool = False
    queued_skill: UsedSkill | None = None

    @property
    def queued_words(self) -> str:
        """The waiting message as it would be typed, with the command of its skill."""
        command = f"/{self.queued_skill.name}" if self.queued_skill is not None else ""
        if not command or not self.queued.strip() or self.queued.strip() == command:
            return self.queued
        return f"{command} {self.queued}"


@dataclass(frozen=True, slots=True)
class Siblings:
    """Where a message stands among the alternatives at its place: ‹index + 1 / len(ids)›."""

    ids: tuple[str, ...]
    index: int


@dataclass(frozen=True, slots=True)
class Path:
    """The active path from the root to the leaf, with the alternatives at each message that has any."""

    conversation: Conversation
    messages: tuple[Message, ...]
    siblings: dict[str, Siblings] = field(default_factory=dict)
