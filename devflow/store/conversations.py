"""Conversations and their trees of messages. Functions take a session to read and a unit to write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, bindparam, case, func, literal_column, select, update
from sqlalchemy.orm import Session, aliased

from devflow.domain.conversation import (
    Conversation,
    Draft,
    Message,
    MessageState,
    ModelChoice,
    Origin,
    Path,
    Role,
    Siblings,
    Usage,
)
from devflow.domain.errors import NotFound
from devflow.domain.events import Aggregate
from devflow.domain.ids import new_id
from devflow.domain.knowledge import Project
from devflow.domain.messages import N_
from devflow.domain.run import ACTIVE_STATES, RunState
from devflow.domain.skill import UsedSkill
from devflow.store import tolerant
from devflow.store.database import Unit
from devflow.store.schema import ConversationRow, MessageRow, ProjectRow, RunRow

CONVERSATION = N_("conversation")
MESSAGE = N_("message")


# conversations ------------------------------------------------------------------------------------------------------


def create(
    unit: Unit,
    *,
    origin: Origin,
    project_id: str | None = None,
    kb_id: str | None = None,
    model: ModelChoice | None = None,
    retrieval: bool = True,
    title: str = "",
) -> Conversation:
    row = ConversationRow(
        id=new_id(),
        title=title,
        title_by_user=False,
        origin=origin.value,
        project_id=project_id,
        kb_id=kb_id,
        retrieval=retrieval,
        provider_id=model.provider_id if model else None,
        model=model.model if model else None,
        draft={},
        queued="",
        created_at=unit.at,
        updated_at=unit.at,
    )
    unit.session.add(row)
    unit.session.flush()
    unit.changed(Aggregate.CONVERSATION, row.id)
    return get(unit.session, row.id)


def get(session: Session, id: str) -> Conversation:
    """One conversation, deleted ones too; raises NotFound."""
    row = session.execute(_select().where(ConversationRow.id == id)).one_or_none()
    if row is None:
        raise NotFound(CONVERSATION, id)
    return _to_conversation(row)


def list_all(
    session: Session, *conditions: ColumnElement[bool], deleted: bool = False, limit: int | None = None
) -> tuple[Conversation, ...]:
    """Pinned ones first, then the newest; only the deleted ones with `deleted`."""
    there = ConversationRow.deleted_at.is_not(None) if deleted else ConversationRow.deleted_at.is_(None)
    ordered = (
        _select()
        .where(there, *conditions)
        .order_by(ConversationRow.pinned.desc(), ConversationRow.updated_at.desc(), ConversationRow.id)
    )
    return tuple(_to_conversation(row) for row in session.execute(ordered.limit(limit)))


def set_fields(unit: Unit, id: str, **values: Any) -> Conversation:
    """Write columns of one conversation. `updated_at` moves only with messages: renaming does not sort it up."""
    done = unit.session.execute(update(ConversationRow).where(ConversationRow.id == id).values(**values))
    if done.rowcount == 0:  # type: ignore[attr-defined]  # a CursorResult, as of every UPDATE
        raise NotFound(CONVERSATION, id)
    unit.changed(Aggregate.CONVERSATION, id)
    return get(unit.session, id)


def next_seq(unit: Unit, id: str) -> int:
    """Take the next number of the conversation's own counter."""
    seq = unit.session.execute(
        update(ConversationRow)
        .where(ConversationRow.id == id)
        .values(seq=ConversationRow.seq + 1)
        .returning(ConversationRow.seq)
    ).scalar_one_or_none()
    if seq is None:
        raise NotFound(CONVERSATION, id)
    return seq


# messages -----------------------------------------------------------------------------------------------------------


def insert_message(
    unit: Unit,
    *,
    conversation_id: str,
    parent_id: str | None,
    role: Role,
    content: str,
    run_id: str | None = None,
    state: MessageState = MessageState.COMPLETE,
    choice: ModelChoice | None = None,
) -> Message:
    """Append a node to the tree; the active leaf is moved by whoever knows that it should (`move_leaf`)."""
    row = MessageRow(
        id=new_id(),
        conversation_id=conversation_id,
        parent_id=parent_id,
        run_id=run_id,
        role=role.value,
        content=content,
        reasoning="",
        seq=next_seq(unit, conversation_id),
        state=state.value,
        provider_id=choice.provider_id if choice else None,
        model=choice.model if choice else None,
        created_at=unit.at,
    )
    unit.session.add(row)
    unit.session.flush()
    unit.changed(Aggregate.CONVERSATION, conversation_id)
    return to_message(row)


def write_message(
    unit: Unit,
    id: str,
    *,
    content: str,
    reasoning: str,
    state: MessageState,
    usage: Usage | None = None,
    replay: Mapping[str, Any] | None = None,
    announce: bool = True,
) -> None:
    """Write a streamed message's text and state. `announce` False is a checkpoint, of which nobody need be told."""
    row = unit.session.get(MessageRow, id)
    if row is None:
        raise NotFound(MESSAGE, id)
    row.content, row.reasoning, row.state = content, reasoning, state.value
    if usage is not None:
        row.usage = {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens}
    if replay is not None:
        row.replay = dict(replay)
    if announce:
        unit.changed(Aggregate.CONVERSATION, row.conversation_id)


def move_leaf(unit: Unit, conversation_id: str, *, before: str | None, to: str | None) -> None:
    """Move the active leaf if it still is `before`: a reader who chose another branch stays there."""
    unit.session.execute(
        update(ConversationRow)
        .where(ConversationRow.id == conversation_id, ConversationRow.leaf_id.is_not_distinct_from(before))
        .values(leaf_id=to, updated_at=unit.at)
    )
    unit.changed(Aggregate.CONVERSATION, conversation_id)


def message(session: Session, id: str) -> Message:
    row = session.get(MessageRow, id)
    if row is None:
        raise NotFound(MESSAGE, id)
    return to_message(row)


def replays(session: Session, conversation_id: str, choice: ModelChoice) -> dict[str, Mapping[str, Any]]:
    """What that very model wants back verbatim, by message: signatures hold for the model that gave them alone."""
    rows = session.execute(
        select(MessageRow.id, MessageRow.replay).where(
            MessageRow.conversation_id == conversation_id,
            MessageRow.provider_id == choice.provider_id,
            MessageRow.model == choice.model,
            MessageRow.replay.is_not(None),
        )
    )
    return {id: value for id, value in rows if isinstance(value, Mapping)}


def path_to(session: Session, message_id: str | None) -> tuple[Message, ...]:
    """The messages from the root down to `message_id`."""
    if message_id is None:
        return ()
    rows = session.execute(_path_up(), {"leaf": message_id})
    by_id = {row[0]: _message_of(row) for row in rows}
    found: list[Message] = []
    at: str | None = message_id
    while at is not None and at in by_id:
        found.append(by_id.pop(at))
        at = found[-1].parent_id
    return tuple(reversed(found))


def path(session: Session, conversation_id: str) -> Path:
    """The active path, with the alternatives at each message that has any."""
    conversation = get(session, conversation_id)
    messages = path_to(session, conversation.leaf_id)
    branching = (
        select(MessageRow.parent_id)
        .where(MessageRow.conversation_id == conversation_id)
        .group_by(MessageRow.parent_id)
        .having(func.count() > 1)
    )
    parents = set(session.scalars(branching))
    families: dict[str | None, list[str]] = {}
    if parents:
        rows = session.execute(
            select(MessageRow.id, MessageRow.parent_id)
            .where(MessageRow.conversation_id == conversation_id)
            .order_by(MessageRow.seq)
        )
        for id, parent in rows:
            if parent in parents:
                families.setdefault(parent, []).append(id)
    siblings = {
        each.id: Siblings(tuple(families[each.parent_id]), families[each.parent_id].index(each.id))
        for each in messages
        if each.parent_id in families
    }
    return Path(conversation, messages, siblings)


def newest_leaf_below(session: Session, message_id: str) -> str:
    """Follow the newest child from `message_id` down to a leaf."""
    top = message(session, message_id)
    rows = session.execute(
        select(MessageRow.id, MessageRow.parent_id)
        .where(MessageRow.conversation_id == top.conversation_id, MessageRow.seq > top.seq)
        .order_by(MessageRow.seq)
    )
    newest = {parent: id for id, parent in rows}
    at = message_id
    while at in newest:
        at = newest.pop(at)
    return at


def to_message(row: MessageRow) -> Message:
    return _message_of(
        (
            row.id,
            row.conversation_id,
            row.parent_id,
            row.run_id,
            row.role,
            row.content,
            row.seq,
            row.created_at,
            row.state,
            row.reasoning,
            row.provider_id,
            row.model,
            row.usage,
            row.extracted_at,
        )
    )


# helpers ------------------------------------------------------------------------------------------------------------


# Statements are made once: putting one together takes longer than SQLite takes to answer it.


@cache
def _select() -> Select[*tuple[Any, ...]]:
    """Conversations with their project and the two marks of the list, in one statement."""
    states = (
        select(
            RunRow.conversation_id.label("conversation_id"),
            func.max(case((RunRow.state.in_([state.value for state in ACTIVE_STATES]), 1), else_=0)).label("running"),
            func.max(case((RunRow.state == RunState.AWAITING_APPROVAL.value, 1), else_=0)).label("awaiting"),
        )
        .where(RunRow.state.in_([*(state.value for state in ACTIVE_STATES), RunState.AWAITING_APPROVAL.value]))
        .group_by(RunRow.conversation_id)
        .subquery()
    )
    return (
        select(
            *ConversationRow.__table__.columns,
            ProjectRow.name.label("project_name"),
            ProjectRow.path.label("project_path"),
            func.coalesce(states.c.running, literal_column("0")).label("running"),
            func.coalesce(states.c.awaiting, literal_column("0")).label("awaiting"),
        )
        .outerjoin(ProjectRow, ProjectRow.id == ConversationRow.project_id)
        .outerjoin(states, states.c.conversation_id == ConversationRow.id)
    )


def _to_conversation(row: Row[Any]) -> Conversation:
    draft = tolerant.mapping(row.draft)
    return Conversation(
        id=row.id,
        title=row.title,
        title_by_user=row.title_by_user,
        origin=Origin(row.origin),
        project=Project(row.project_id, row.project_name, row.project_path) if row.project_id else None,
        kb_id=row.kb_id,
        leaf_id=row.leaf_id,
        pinned=row.pinned,
        retrieval=row.retrieval,
        model=ModelChoice(row.provider_id, row.model) if row.provider_id and row.model else None,
        draft=Draft(tolerant.text(draft.get("text")), tolerant.texts(draft.get("references"))),
        queued=row.queued,
        created_at=row.created_at,
        updated_at=row.updated_at,
        deleted_at=row.deleted_at,
        running=bool(row.running),
        awaiting=bool(row.awaiting),
        queued_skill=UsedSkill.of_json(row.queued_skill),
    )


@cache
def _message_columns() -> Select[*tuple[Any, ...]]:
    return select(
        MessageRow.id,
        MessageRow.conversation_id,
        MessageRow.parent_id,
        MessageRow.run_id,
        MessageRow.role,
        MessageRow.content,
        MessageRow.seq,
        MessageRow.created_at,
        MessageRow.state,
        MessageRow.reasoning,
        MessageRow.provider_id,
        MessageRow.model,
        MessageRow.usage,
        MessageRow.extracted_at,
    )


@cache
def _path_up() -> Select[*tuple[Any, ...]]:
    """The messages from `:leaf` up to the root, in no order."""
    ids = select(MessageRow.id, MessageRow.parent_id).where(MessageRow.id == bindparam("leaf"))
    up = ids.cte("up", recursive=True)
    above = aliased(MessageRow)
    up = up.union(select(above.id, above.parent_id).join(up, above.id == up.c.parent_id))  # a ring ends too
    return _message_columns().join(up, up.c.id == MessageRow.id)


def _message_of(row: Sequence[Any]) -> Message:
    id, conversation_id, parent_id, run_id, role, content, seq, created_at, state, reasoning, provider, model = row[:12]
    usage, extracted_at = row[12:]
    return Message(
        id=id,
        conversation_id=conversation_id,
        parent_id=parent_id,
        run_id=run_id,
        role=Role(role),
        content=content,
        seq=seq,
        created_at=created_at,
        state=MessageState(state),
        reasoning=reasoning,
        provider_id=provider,
        model=model,
        usage=Usage(usage.get("input_tokens"), usage.get("output_tokens")) if isinstance(usage, Mapping) else None,
        extracted_at=extracted_at,
    )
