"""A new conversation from a path of an old one: messages, runs, calls, receipts and entry numbers, each a copy."""

from __future__ import annotations

from typing import Any, TypeVar

from sqlalchemy import select

from devflow.domain.conversation import Conversation, Message, MessageState
from devflow.domain.ids import new_id
from devflow.domain.run import SETTLED, CallState, RunState
from devflow.store import conversations
from devflow.store.database import Unit
from devflow.store.schema import (
    Base,
    ConversationRow,
    EntryNumberRow,
    MessageRow,
    ReceiptRow,
    RunRow,
    ToolCallRow,
)

Row = TypeVar("Row", bound=Base)


def branch(unit: Unit, message_id: str) -> Conversation:
    """Everything from the root down to `message_id`; messages that were extracted already stay marked so."""
    path = conversations.path_to(unit.session, conversations.message(unit.session, message_id).id)
    source = conversations.get(unit.session, path[-1].conversation_id)
    made = conversations.create(
        unit,
        origin=source.origin,
        project_id=source.project.id if source.project else None,
        model=source.model,
        retrieval=source.retrieval,
        title=source.title,
    )
    _copy(unit, source.id, made.id, path)
    return conversations.get(unit.session, made.id)


def _copy(unit: Unit, source_id: str, made_id: str, path: tuple[Message, ...]) -> None:
    session = unit.session
    ids = {message.id: new_id() for message in path}
    runs = {message.run_id: new_id() for message in path if message.run_id}
    for run in session.scalars(select(RunRow).where(RunRow.id.in_(runs))):
        session.add(_copied_run(run, runs[run.id], made_id, path, ids))
    for message in session.scalars(select(MessageRow).where(MessageRow.id.in_(ids))):
        session.add(_copied_message(message, made_id, ids, runs))
    session.flush()
    for call in session.scalars(select(ToolCallRow).where(ToolCallRow.message_id.in_(ids))):
        state = call.state if call.state in SETTLED else CallState.CANCELLED.value
        session.add(_copied(call, id=new_id(), message_id=ids[call.message_id], run_id=runs[call.run_id], state=state))
    for receipt in session.scalars(select(ReceiptRow).where(ReceiptRow.run_id.in_(runs))):
        session.add(_copied(receipt, id=new_id(), conversation_id=made_id, run_id=runs[receipt.run_id]))
    for number in session.scalars(select(EntryNumberRow).where(EntryNumberRow.conversation_id == source_id)):
        session.add(_copied(number, conversation_id=made_id))
    old, made = session.get_one(ConversationRow, source_id), session.get_one(ConversationRow, made_id)
    made.leaf_id, made.seq, made.kb_id = ids[path[-1].id], old.seq, old.kb_id
    session.flush()


def _copied_run(row: RunRow, id: str, made_id: str, path: tuple[Message, ...], ids: dict[str, str]) -> RunRow:
    """The run as it ended; one that is still open, or waits to be continued there, is over here."""
    question = ids[row.user_message_id]
    newest = [ids[message.id] for message in path if message.run_id == row.id]
    ended = row.state if row.state in (RunState.FAILED, RunState.CANCELLED) else RunState.COMPLETED.value
    return _copied(
        row,
        id=id,
        conversation_id=made_id,
        owner=None,
        user_message_id=question,
        options={**row.options, "tip": newest[-1] if newest else question},
        state=ended,
    )


def _copied_message(row: MessageRow, made_id: str, ids: dict[str, str], runs: dict[str, str]) -> MessageRow:
    return _copied(
        row,
        id=ids[row.id],
        conversation_id=made_id,
        parent_id=ids[row.parent_id] if row.parent_id else None,
        run_id=runs[row.run_id] if row.run_id else None,
        state=MessageState.PARTIAL.value if row.state == MessageState.STREAMING else row.state,
    )


def _copied(row: Row, **changed: Any) -> Row:
    values = {column.key: getattr(row, column.key) for column in row.__table__.columns}
    return type(row)(**{**values, **changed})
