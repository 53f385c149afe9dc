"""What a run starts from: the rows of a user message and of its run, in one transaction."""

from __future__ import annotations

from devflow.domain.conversation import MESSAGE_MAX, Conversation, MessageState, ModelChoice, Role
from devflow.domain.errors import InvalidInput, Refused
from devflow.domain.messages import N_
from devflow.domain.run import Run
from devflow.domain.text.storable import is_storable
from devflow.store import conversations, runs
from devflow.store.database import Session, Unit

TITLE_CHARS = 60


def record_message(
    unit: Unit,
    conversation_id: str,
    text: str,
    *,
    parent_id: str | None,
    choice: ModelChoice,
    owner: str,
    tools: tuple[str, ...] | None = None,
) -> Run:
    """Add a user message below `parent_id`, make it the leaf, queue its run. The first one names the conversation."""
    conversation = conversations.get(unit.session, conversation_id)
    message = conversations.insert_message(
        unit, conversation_id=conversation_id, parent_id=parent_id, role=Role.USER, content=text
    )
    conversations.move_leaf(unit, conversation_id, before=conversation.leaf_id, to=message.id)
    if not conversation.title:
        conversations.set_fields(unit, conversation_id, title=title_from(text))
    return runs.insert(
        unit,
        conversation_id=conversation_id,
        user_message_id=message.id,
        choice=choice,
        owner=owner,
        tools=tools,
    )


def title_from(text: str) -> str:
    """The first message on one line, at most 60 characters."""
    line = " ".join(text.split())
    return line if len(line) <= TITLE_CHARS else f"{line[: TITLE_CHARS - 1].rstrip()}…"


def checked_text(text: str) -> str:
    """A user message as it is stored: as typed, but something; raises InvalidInput."""
    if not text.strip():
        raise InvalidInput("message", N_("The message is empty."), N_("Write a question first."))
    if len(text) > MESSAGE_MAX:
        raise InvalidInput(
            "message",
            N_("The message has {length} characters; at most {limit} fit."),
            N_("Shorten it, or let the model read the file."),
            length=f"{len(text):,}",
            limit=f"{MESSAGE_MAX:,}",
        )
    if not is_storable(text):
        raise InvalidInput(
            "message",
            N_("The message holds a character that cannot be stored (NUL or half of a surrogate pair)."),
            N_("Remove it; it is often left by a broken copy or a binary file."),
        )
    return text


def refuse_while_open(session: Session, conversation_id: str) -> None:
    if runs.open_run(session, conversation_id) is not None:
        raise Refused(
            N_("The conversation is still being answered."),
            N_("Stop the run, or decide its tool calls, then try again."),
        )


def refuse_unless_newest(conversation: Conversation, session: Session, run_id: str) -> None:
    """Retry and Continue act on the end of what is shown; anything else would go on where nobody looks."""
    if conversation.leaf_id != runs.tip_of(runs.row_of(session, run_id)):
        raise Refused(
            N_("The conversation has gone on since this answer."),
            N_("Regenerate the answer, or edit the question and resend it."),
        )


def retry_from(session: Session, run_id: str) -> str | None:
    """Where a new attempt starts: before a cut answer, which stays as an alternative. None: where the run stands."""
    last = runs.transcript(session, run_id).messages[-1]
    return last.parent_id if last.state is MessageState.PARTIAL else None
