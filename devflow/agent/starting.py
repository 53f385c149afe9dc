"""What a run starts from: a message sent, edited or answered again, a run gone on with. One transaction each."""

from __future__ import annotations

from typing import Any

from devflow.domain.conversation import MESSAGE_MAX, Conversation, MessageState, ModelChoice, Role
from devflow.domain.errors import InvalidInput, Refused
from devflow.domain.messages import N_
from devflow.domain.run import OPEN_STATES, Run, RunState
from devflow.domain.skill import UsedSkill
from devflow.domain.text.storable import is_storable
from devflow.retrieval.references import with_page_names
from devflow.store import conversations, runs
from devflow.store.database import Session, Unit

TITLE_CHARS = 60


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


def title_from(text: str) -> str:
    """The first message on one line, at most 60 characters; a page it names as the user named it: `@page`."""
    line = " ".join(with_page_names(text).split())
    return line if len(line) <= TITLE_CHARS else f"{line[: TITLE_CHARS - 1].rstrip()}…"


def send(
    unit: Unit,
    conversation_id: str,
    text: str,
    *,
    choice: ModelChoice,
    owner: str,
    tools: tuple[str, ...] | None = None,
    skill: UsedSkill | None = None,
) -> tuple[Run, bool]:
    """The message's run and whether it is new; while one is open the message is queued, and that run returned."""
    conversation = conversations.get(unit.session, conversation_id)
    cleared: dict[str, Any] = {"draft": {}, "deleted_at": None}
    if open_run := runs.open_run(unit.session, conversation_id):
        queued = f"{conversation.queued}\n\n{text}" if conversation.queued else text
        waiting = _skill_of_both(conversation, skill)
        conversations.set_fields(unit, conversation_id, queued=queued, queued_skill=waiting, **cleared)
        return open_run, False
    conversations.set_fields(unit, conversation_id, **cleared)
    parent = conversation.leaf_id
    run = _record(unit, conversation_id, text, parent_id=parent, choice=choice, owner=owner, tools=tools, skill=skill)
    return run, True


def _skill_of_both(conversation: Conversation, skill: UsedSkill | None) -> dict[str, str] | None:
    """What waits becomes one message, so it is carried out with one skill."""
    waiting = conversation.queued_skill if conversation.queued.strip() else None
    if waiting is not None and skill is not None and waiting != skill:
        raise Refused(
            N_("A message with the skill {name} waits already."),
            N_("Wait until it is sent, then use another skill."),
            name=waiting.name,
        )
    used = waiting or skill
    return used.as_json() if used is not None else None


def take_queued(unit: Unit, conversation_id: str, *, choice: ModelChoice, owner: str) -> Run | None:
    """The run of the message typed meanwhile; None where there is none, or another run is open already."""
    conversation = conversations.get(unit.session, conversation_id)
    if not conversation.queued.strip() or runs.open_run(unit.session, conversation_id):
        return None
    conversations.set_fields(unit, conversation_id, queued="", queued_skill=None)
    text, skill, parent = conversation.queued, conversation.queued_skill, conversation.leaf_id
    return _record(unit, conversation_id, text, parent_id=parent, choice=choice, owner=owner, skill=skill)


def regenerate(unit: Unit, message_id: str, *, choice: ModelChoice, owner: str) -> Run:
    """A new run on the question above that message, with the skill that it was asked with."""
    message = conversations.message(unit.session, message_id)
    _refuse_while_open(unit.session, message.conversation_id)
    above = [each for each in conversations.path_to(unit.session, message_id) if each.role is Role.USER]
    if not above:
        raise Refused(N_("There is no question to answer again."), N_("Send a message instead."))
    question = above[-1].id
    shown = conversations.get(unit.session, message.conversation_id).leaf_id
    conversations.set_fields(unit, message.conversation_id, leaf_id=question)
    return runs.insert(
        unit,
        conversation_id=message.conversation_id,
        user_message_id=question,
        choice=choice,
        owner=owner,
        beside=shown if shown != question else None,
        skill=runs.skill_of_question(unit.session, question),
    )


def resend(unit: Unit, message_id: str, text: str, *, choice: ModelChoice, owner: str) -> Run:
    """A new message with its run, beside the user's own one of that id; the skill stays."""
    message = conversations.message(unit.session, message_id)
    if message.role is not Role.USER:
        raise Refused(N_("Only your own messages can be edited."), N_("Regenerate the answer instead."))
    _refuse_while_open(unit.session, message.conversation_id)
    skill = runs.skill_of_question(unit.session, message_id)
    parent = message.parent_id
    return _record(unit, message.conversation_id, text, parent_id=parent, choice=choice, owner=owner, skill=skill)


def go_on(unit: Unit, run_id: str, *, choice: ModelChoice, owner: str, from_start: bool) -> Run:
    """Queue a run again that has failed or was stopped; `from_start` leaves a cut answer beside the new one."""
    run = runs.get(unit.session, run_id)
    if run.state in OPEN_STATES or run.state is RunState.COMPLETED:
        raise Refused(
            N_("There is nothing to go on with: the run is {state}."),
            N_("Send a message instead."),
            state=run.state.value,
        )
    _refuse_while_open(unit.session, run.conversation_id)
    _refuse_unless_newest(conversations.get(unit.session, run.conversation_id), unit.session, run_id)
    tip = _before_cut_answer(unit.session, run_id) if from_start else None
    return runs.recover(unit, run_id, owner=owner, choice=choice, tip=tip)


def _record(
    unit: Unit,
    conversation_id: str,
    text: str,
    *,
    parent_id: str | None,
    choice: ModelChoice,
    owner: str,
    tools: tuple[str, ...] | None = None,
    skill: UsedSkill | None = None,
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
        skill=skill,
    )


def _refuse_while_open(session: Session, conversation_id: str) -> None:
    if runs.open_run(session, conversation_id) is not None:
        raise Refused(
            N_("The conversation is still being answered."),
            N_("Stop the run, or decide its tool calls, then try again."),
        )


def _refuse_unless_newest(conversation: Conversation, session: Session, run_id: str) -> None:
    """Retry and Continue act on the end of what is shown; anything else would go on where nobody looks."""
    if conversation.leaf_id != runs.stands_at(runs.row_of(session, run_id)):
        raise Refused(
            N_("The conversation has gone on since this answer."),
            N_("Regenerate the answer, or edit the question and resend it."),
        )


def _before_cut_answer(session: Session, run_id: str) -> str | None:
    """Where a new attempt starts: before a cut answer, which stays as an alternative. None: where the run stands."""
    last = runs.transcript(session, run_id).messages[-1]
    return last.parent_id if last.state is MessageState.PARTIAL else None
