"""Runs and their tool calls. A run's state and a call's state are written here alone."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from devflow.domain.conversation import Message, MessageState, ModelChoice
from devflow.domain.errors import NotFound
from devflow.domain.events import Aggregate
from devflow.domain.ids import new_id
from devflow.domain.messages import N_
from devflow.domain.request import Measure
from devflow.domain.run import (
    OPEN_STATES,
    CallState,
    Problem,
    Risk,
    Run,
    RunState,
    ToolCall,
    Transcript,
    arguments_hash,
)
from devflow.domain.skill import UsedSkill
from devflow.store import conversations, run_json, tolerant
from devflow.store.database import Unit
from devflow.store.schema import RunRow, ToolCallRow

RUN = N_("run")
CALL = N_("tool call")

_TIP = "tip"  # in `options`: the message that the run's next one follows
_CUT = "cut"  # in `options` of a Retry that is open: the cut answer that its own is to stand beside
_BESIDE = "beside"  # in `options` of a run that answers anew: where the conversation stood before
_TOOLS = "tools"  # in `options`: the only tools offered (`devflow ask --allow`); absent: the conversation's own
_MEASURE = "measure"  # in `options`: what the newest request was made of


@dataclass(frozen=True, slots=True)
class NewCall:
    """A tool call as it is first written, with the message that asks for it."""

    wire_id: str
    tool: str
    arguments: str
    state: CallState
    risk: Risk
    preview: Mapping[str, Any] | None = None
    error: str = ""


# runs ---------------------------------------------------------------------------------------------------------------


def insert(
    unit: Unit,
    *,
    conversation_id: str,
    user_message_id: str,
    choice: ModelChoice,
    owner: str,
    tools: Sequence[str] | None = None,
    beside: str | None = None,
    skill: UsedSkill | None = None,
) -> Run:
    """`beside`: where the conversation stands, and stands again should the run end without a word."""
    options: dict[str, Any] = {_TIP: user_message_id}
    if beside is not None:
        options[_BESIDE] = beside
    if tools is not None:
        options[_TOOLS] = list(tools)
    row = RunRow(
        id=new_id(),
        conversation_id=conversation_id,
        user_message_id=user_message_id,
        state=RunState.QUEUED.value,
        steps=0,
        owner=owner,
        provider_id=choice.provider_id,
        model=choice.model,
        options=options,
        skill=skill.as_json() if skill is not None else None,
        recovered_seq=0,
        created_at=unit.at,
    )
    unit.session.add(row)
    unit.session.flush()
    _changed(unit, row)
    return to_run(row)


def get(session: Session, id: str) -> Run:
    return to_run(row_of(session, id))


def row_of(session: Session, id: str) -> RunRow:
    row = session.get(RunRow, id)
    if row is None:
        raise NotFound(RUN, id)
    return row


def of_conversation(
    session: Session, conversation_id: str, questions: Collection[str] | None = None
) -> tuple[Run, ...]:
    """Its runs, oldest first; with `questions` only those on these user messages."""
    chosen = select(RunRow).where(RunRow.conversation_id == conversation_id)
    if questions is not None:
        chosen = chosen.where(RunRow.user_message_id.in_(questions))
    return tuple(to_run(row) for row in session.scalars(chosen.order_by(RunRow.created_at, RunRow.id)))


def open_run(session: Session, conversation_id: str) -> Run | None:
    """The run of that conversation that is not finished, awaiting ones too. There is at most one."""
    row = session.scalars(
        select(RunRow).where(
            RunRow.conversation_id == conversation_id, RunRow.state.in_([state.value for state in OPEN_STATES])
        )
    ).first()
    return to_run(row) if row else None


def all_open(session: Session) -> tuple[Run, ...]:
    rows = session.scalars(
        select(RunRow).where(RunRow.state.in_([state.value for state in OPEN_STATES])).order_by(RunRow.created_at)
    )
    return tuple(to_run(row) for row in rows)


def set_state(
    unit: Unit, id: str, state: RunState, *, owner: str | None, problem: Problem | None = None, step: bool = False
) -> Run:
    """Write the run's state, owner and problem; `step` counts a provider call."""
    row = row_of(unit.session, id)
    if state not in OPEN_STATES:
        _show_cut_answer_again(unit, row)
        _show_former_answer_again(unit, row)
    row.state, row.owner = state.value, owner
    row.problem = run_json.of_problem(problem) if problem else None
    row.finished_at = None if state in OPEN_STATES else unit.at
    if step:
        row.steps += 1
    _changed(unit, row)
    return to_run(row)


def recover(unit: Unit, id: str, *, owner: str, choice: ModelChoice, tip: str | None = None) -> Run:
    """Retry or Continue: queue the run again, from `tip` where one is given. Counts as recovery for the lookup rule."""
    row = row_of(unit.session, id)
    row.recovered_seq = conversations.next_seq(unit, row.conversation_id)
    row.steps = 0
    row.provider_id, row.model = choice.provider_id, choice.model
    conversations.move_leaf(unit, row.conversation_id, before=stands_at(row), to=tip_of(row))
    if tip is not None:
        cut = tip_of(row)
        conversations.move_leaf(unit, row.conversation_id, before=cut, to=tip)
        row.options = {**row.options, _TIP: tip, _CUT: cut}
    return set_state(unit, id, RunState.QUEUED, owner=owner)


def _show_cut_answer_again(unit: Unit, row: RunRow) -> None:
    """A Retry that ends before any text leaves the run, and what is shown, at the cut answer it began beside."""
    cut = row.options.get(_CUT)
    if cut is None:
        return
    row.options = {key: value for key, value in row.options.items() if key != _CUT}
    start = conversations.message(unit.session, cut).parent_id
    tip = conversations.message(unit.session, tip_of(row))
    thought_only = tip.parent_id == start and tip.state is MessageState.PARTIAL and not tip.content.strip()
    if tip.id == start or thought_only:
        append_message(unit, row.id, cut)


def _show_former_answer_again(unit: Unit, row: RunRow) -> None:
    """A run that was to answer anew and ends without a word leaves what was shown before, its own end below it."""
    if _BESIDE not in tolerant.mapping(row.options):
        return
    tip = conversations.message(unit.session, tip_of(row))
    wordless = tip.parent_id == row.user_message_id and tip.state is MessageState.PARTIAL and not tip.content.strip()
    if wordless:
        row.options = {**row.options, _TIP: row.user_message_id}
    if wordless or tip.id == row.user_message_id:
        conversations.move_leaf(unit, row.conversation_id, before=tip.id, to=stands_at(row))


def append_message(unit: Unit, id: str, message_id: str) -> None:
    """Make `message_id` the run's newest message; the conversation's leaf follows if it stood on the one before."""
    row = row_of(unit.session, id)
    conversations.move_leaf(unit, row.conversation_id, before=tip_of(row), to=message_id)
    row.options = {**row.options, _TIP: message_id}


def write_measure(unit: Unit, id: str, measure: Measure) -> None:
    row = row_of(unit.session, id)
    row.options = {**row.options, _MEASURE: asdict(measure)}


def tip_of(row: RunRow) -> str:
    return str(tolerant.mapping(row.options).get(_TIP, row.user_message_id))


def stands_at(row: RunRow) -> str:
    """Where the conversation stands once the run has ended as its newest: its own last message, or the former answer's
    where it has none."""
    return _beside(row) or tip_of(row)


def _beside(row: RunRow) -> str | None:
    """The former answer that a run without a word leaves shown."""
    beside = tolerant.mapping(row.options).get(_BESIDE)
    return beside if isinstance(beside, str) and tip_of(row) == row.user_message_id else None


def tools_of(session: Session, id: str) -> tuple[str, ...] | None:
    """The only tools this run is offered, or None for all of the conversation's."""
    tools = row_of(session, id).options.get(_TOOLS)
    return None if tools is None else tuple(tools)


def skill_of_question(session: Session, message_id: str) -> UsedSkill | None:
    """The skill that this user message was asked with, if any."""
    asked = select(RunRow.skill).where(RunRow.user_message_id == message_id)
    return UsedSkill.of_json(session.scalars(asked.order_by(RunRow.created_at.desc(), RunRow.id).limit(1)).first())


def skills_of(session: Session, ids: Collection[str]) -> tuple[UsedSkill, ...]:
    """The skills that these runs were carried out with."""
    rows = session.scalars(select(RunRow.skill).where(RunRow.id.in_(ids), RunRow.skill.is_not(None)))
    return tuple(skill for row in rows if (skill := UsedSkill.of_json(row)) is not None)


def transcript(session: Session, id: str) -> Transcript:
    """The run's rows as `next_step` reads them."""
    row = row_of(session, id)
    messages: list[Message] = []
    at: str | None = tip_of(row)
    seen: set[str] = set()
    while at is not None and at not in seen:
        seen.add(at)
        messages.append(conversations.message(session, at))
        at = None if at == row.user_message_id else messages[-1].parent_id
    messages.reverse()
    return Transcript(to_run(row), tuple(messages), calls_of(session, [each.id for each in messages]))


# tool calls ---------------------------------------------------------------------------------------------------------


def insert_calls(unit: Unit, run_id: str, message_id: str, calls: Iterable[NewCall]) -> tuple[ToolCall, ...]:
    rows = [
        ToolCallRow(
            id=new_id(),
            run_id=run_id,
            message_id=message_id,
            position=position,
            wire_id=call.wire_id,
            tool=call.tool,
            arguments=call.arguments,
            arguments_hash=arguments_hash(call.tool, call.arguments),
            state=call.state.value,
            risk=call.risk.value,
            preview=dict(call.preview) if call.preview is not None else None,
            error=call.error,
            reason="",
            result="",
            edited=False,
        )
        for position, call in enumerate(calls)
    ]
    unit.session.add_all(rows)
    unit.session.flush()
    return tuple(to_call(row) for row in rows)


def call(session: Session, id: str) -> ToolCall:
    row = session.get(ToolCallRow, id)
    if row is None:
        raise NotFound(CALL, id)
    return to_call(row)


def calls_of(session: Session, message_ids: Sequence[str]) -> dict[str, tuple[ToolCall, ...]]:
    """Calls by message, in the order in which the model asked; messages without any are left out."""
    found: dict[str, tuple[ToolCall, ...]] = {}
    for start in range(0, len(message_ids), 500):
        rows = session.scalars(
            select(ToolCallRow)
            .where(ToolCallRow.message_id.in_(message_ids[start : start + 500]))
            .order_by(ToolCallRow.message_id, ToolCallRow.position)
        )
        for row in rows:
            found[row.message_id] = (*found.get(row.message_id, ()), to_call(row))
    return found


def calls_of_run(session: Session, run_id: str) -> tuple[ToolCall, ...]:
    rows = session.scalars(
        select(ToolCallRow).where(ToolCallRow.run_id == run_id).order_by(ToolCallRow.message_id, ToolCallRow.position)
    )
    return tuple(to_call(row) for row in rows)


def compare_and_set_call(unit: Unit, id: str, before: CallState, after: CallState, **values: Any) -> bool:
    """Move a call from one state to another, writing `values` with it; False if it is not in that state (any more).

    The only writer of a call's state: of two claims, two windows or two clicks exactly one succeeds.
    """
    done = unit.session.execute(
        update(ToolCallRow)
        .where(ToolCallRow.id == id, ToolCallRow.state == before.value)
        .values(state=after.value, **values)
        .execution_options(synchronize_session="fetch")
    )
    if done.rowcount == 0:  # type: ignore[attr-defined]  # a CursorResult, as of every UPDATE
        return False
    row = unit.session.get(ToolCallRow, id)
    assert row is not None
    _changed(unit, row_of(unit.session, row.run_id))
    return True


def settle_open_calls(unit: Unit, run_id: str) -> tuple[ToolCall, ...]:
    """Cancel what has not begun and mark what was running as interrupted (its effect is unverified). What changed."""
    settled = []
    for each in calls_of_run(unit.session, run_id):
        match each.state:
            case CallState.AWAITING | CallState.APPROVED:
                compare_and_set_call(unit, each.id, each.state, CallState.CANCELLED)
            case CallState.EXECUTING:
                compare_and_set_call(unit, each.id, each.state, CallState.INTERRUPTED)
            case _:
                continue
        settled.append(call(unit.session, each.id))
    return tuple(settled)


# helpers ------------------------------------------------------------------------------------------------------------


def to_run(row: RunRow) -> Run:
    options = tolerant.mapping(row.options)
    return Run(
        id=row.id,
        conversation_id=row.conversation_id,
        user_message_id=row.user_message_id,
        state=RunState(row.state),
        steps=row.steps,
        owner=row.owner,
        choice=ModelChoice(row.provider_id, row.model),
        recovered_seq=row.recovered_seq,
        problem=run_json.problem_of(row.problem) if row.problem else None,
        created_at=row.created_at,
        finished_at=row.finished_at,
        measure=run_json.measure_of(options.get(_MEASURE)),
        beside=_beside(row),
        skill=UsedSkill.of_json(row.skill),
    )


def to_call(row: ToolCallRow) -> ToolCall:
    return ToolCall(
        id=row.id,
        run_id=row.run_id,
        message_id=row.message_id,
        position=row.position,
        wire_id=row.wire_id,
        tool=row.tool,
        arguments=row.arguments,
        arguments_hash=row.arguments_hash,
        state=CallState(row.state),
        risk=Risk(row.risk),
        preview=row.preview,
        edited=row.edited,
        decided_by=row.decided_by,
        decided_seq=row.decided_seq,
        reason=row.reason,
        result=row.result,
        error=row.error,
        duration_ms=row.duration_ms,
    )


def _changed(unit: Unit, row: RunRow) -> None:
    unit.changed(Aggregate.RUN, row.id)
    unit.changed(Aggregate.CONVERSATION, row.conversation_id)
