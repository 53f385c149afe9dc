"""Whether a conversation may be distilled, and why not."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from devflow.domain.config import KnowledgeConfig, TriggerMode
from devflow.domain.conversation import Conversation, Message, Origin
from devflow.domain.errors import NotFound
from devflow.extraction.transcript import is_new, readable
from devflow.store import conversations
from devflow.store.database import Session


class Reason(StrEnum):
    """Why nothing is extracted; `READY`: nothing stands against it."""

    READY = "ready"
    NO_MODEL = "no_model"
    OFF = "off"
    MANUAL_ONLY = "manual_only"
    TOO_FEW = "too_few"
    NOTHING_NEW = "nothing_new"
    OTHER_ORIGIN = "other_origin"
    NO_CONVERSATION = "no_conversation"


@dataclass(frozen=True, slots=True)
class Verdict:
    """`needed` and `have` count user and assistant messages of the active path."""

    reason: Reason
    needed: int = 0
    have: int = 0


@dataclass(frozen=True, slots=True)
class Situation:
    """A conversation's active path as extraction sees it, root first."""

    conversation: Conversation
    messages: tuple[Message, ...]

    @property
    def last_id(self) -> str:
        return self.messages[-1].id if self.messages else ""

    @property
    def has_new(self) -> bool:
        return any(is_new(message) for message in self.messages)

    def up_to(self, message_id: str) -> Situation:
        """The path down to that message; the whole path if another branch is active now."""
        for place, message in enumerate(self.messages):
            if message.id == message_id:
                return Situation(self.conversation, self.messages[: place + 1])
        return self


def read_situation(session: Session, conversation_id: str) -> Situation | None:
    """The conversation as it is now, or None where there is none any more (deleted ones too)."""
    try:
        conversation = conversations.get(session, conversation_id)
    except NotFound:
        return None
    if conversation.deleted_at is not None:
        return None
    return Situation(conversation, readable(conversations.path_to(session, conversation.leaf_id)))


def judge(situation: Situation | None, config: KnowledgeConfig, *, has_model: bool) -> Verdict:
    """The guard before an automatic extraction (seed, AI 自动提炼流程, 2)."""
    if not has_model:
        return Verdict(Reason.NO_MODEL)
    if not config.auto_extract:
        return Verdict(Reason.OFF)
    if config.trigger_mode is TriggerMode.MANUAL_ONLY:
        return Verdict(Reason.MANUAL_ONLY)
    if situation is None:
        return Verdict(Reason.NO_CONVERSATION)
    if situation.conversation.origin is not Origin.WINDOW:
        return Verdict(Reason.OTHER_ORIGIN)
    if len(situation.messages) < config.min_messages:
        return Verdict(Reason.TOO_FEW, config.min_messages, len(situation.messages))
    if not situation.has_new:
        return Verdict(Reason.NOTHING_NEW)
    return Verdict(Reason.READY)
