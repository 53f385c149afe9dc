"""Finding conversations and messages by what was said in them: a plain scan, in which nothing is a wildcard."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import exists, or_, select
from sqlalchemy.orm import Session

from devflow.domain.conversation import Conversation, Origin, Role
from devflow.store import conversations
from devflow.store.schema import ConversationRow, MessageRow


@dataclass(frozen=True, slots=True)
class MessageHit:
    """A message that contains what was searched for; `excerpt` surrounds the first place."""

    conversation_id: str
    message_id: str
    title: str
    role: Role
    excerpt: str
    created_at: datetime


PATTERN_MAX = 50_000  # bytes; SQLITE_MAX_LIKE_PATTERN_LENGTH


def list_matching(
    session: Session, query: str, *, deleted: bool = False, limit: int | None = None
) -> tuple[Conversation, ...]:
    """Those whose title or any message contains `query`, in the order of `list_all`."""
    if (pattern := _contains(query)) is None:
        return ()
    said = exists().where(
        MessageRow.conversation_id == ConversationRow.id, MessageRow.content.ilike(pattern, escape="\\")
    )
    matches = or_(ConversationRow.title.ilike(pattern, escape="\\"), said)
    return conversations.list_all(session, matches, deleted=deleted, limit=limit)


def newest_of_base(session: Session, kb_id: str | None) -> Conversation | None:
    """The newest conversation of that knowledge base that has a message; None as `kb_id`: of no base."""
    spoken_in = (
        ConversationRow.origin == Origin.WINDOW.value,
        ConversationRow.leaf_id.is_not(None),
        ConversationRow.kb_id == kb_id if kb_id is not None else ConversationRow.kb_id.is_(None),
    )
    found = conversations.list_all(session, *spoken_in)
    return max(found, key=lambda each: each.updated_at, default=None)


def search_messages(session: Session, query: str, limit: int = 50) -> tuple[MessageHit, ...]:
    """Messages that contain `query`, newest first."""
    if (pattern := _contains(query)) is None:
        return ()
    rows = session.execute(
        select(
            MessageRow.conversation_id,
            MessageRow.id,
            ConversationRow.title,
            MessageRow.role,
            MessageRow.content,
            MessageRow.created_at,
        )
        .join(ConversationRow, ConversationRow.id == MessageRow.conversation_id)
        .where(ConversationRow.deleted_at.is_(None), MessageRow.content.ilike(pattern, escape="\\"))
        .order_by(MessageRow.created_at.desc())
        .limit(limit)
    )
    return tuple(MessageHit(row[0], row[1], row[2], Role(row[3]), _excerpt(row[4], query), row[5]) for row in rows)


def _contains(query: str) -> str | None:
    """The pattern; None where nothing can match: too long for SQLite (a file pasted into the field), or with a NUL."""
    if "\x00" in query:
        return None
    escaped = query.strip().replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    pattern = f"%{escaped}%"
    return pattern if len(pattern.encode("utf-8", "replace")) <= PATTERN_MAX else None


def _excerpt(content: str, query: str, around: int = 60) -> str:
    at = max(content.lower().find(query.strip().lower()), 0)
    start, end = max(at - around, 0), at + len(query) + around
    text = " ".join(content[start:end].split())
    return ("…" if start else "") + text + ("…" if end < len(content) else "")
