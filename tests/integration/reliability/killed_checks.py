"""What must be true of a conversation whose windows were killed, counted from rows, requests, ledger and files."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from devflow.app.core import Core, opened
from devflow.app.paths import app_paths
from devflow.domain.conversation import Message, MessageState, Role
from devflow.domain.health import Health
from devflow.domain.knowledge import Status
from devflow.domain.receipt import Receipt
from devflow.domain.request import Injected
from devflow.domain.run import OPEN_STATES, SETTLED, CallState, Run, RunState, ToolCall
from devflow.store import conversations, health, receipts, runs
from devflow.store.database import Session
from tests.fakes.openai_server import Request
from tests.integration.reliability.campaign import Lost
from tests.integration.reliability.killed_model import EDITED, QUESTION, SECOND, SHARED, Model, mark_of, marks_in

LEDGER, SAID, COMMANDS, ASKED = "ledger.jsonl", "said.txt", "commands.txt", "asked.json"
"""In a story's folder: decisions and effects, what the windows printed, what run_command's commands write, and all
requests that the server got.
"""

ASKS_FIRST = frozenset({"write_file", "edit_file", "run_command"})
UNVERIFIED = "effect is unverified"
NEVER_TOLD = "This call was not decided."
"""The composer's word for a call without a decision: no request may ever carry it (rule 1)."""


async def check(folder: Path, conversation_id: str, model: Model, requests: Sequence[Request]) -> int:
    """Raise `Lost` for the first thing that is not true; the number of effects there were."""
    home = app_paths(folder / "home")
    if wrong := [str(finding) for finding in health.examine(home) if finding.health is not Health.OK]:
        raise Lost(f"the doctor says: {wrong}")
    with closing(sqlite3.connect(home.database)) as connection:
        if (found := connection.execute("PRAGMA integrity_check").fetchall()) != [("ok",)]:
            raise Lost(f"integrity_check says {found}")
    async with opened(home, background=True) as core:
        rows = await core.db.read(lambda session: _rows(session, conversation_id))
        rules = (await core.settings.get("tool_rules")).get("rules", [])
        titles = [entry.title for entry in (await core.knowledge.knowledge_list(statuses=frozenset(Status))).entries]
        again = await _seen_again(core)
    if left := [file.name for file in home.locks.glob("*.lock")]:
        raise Lost(f"locks of dead processes are left: {left}")
    said = (folder / SAID).read_text(encoding="utf-8", errors="replace")
    if "Traceback" in said:
        raise Lost(f"a window said: {said[-3_000:]}")
    ledger = [json.loads(line) for line in (folder / LEDGER).read_text(encoding="utf-8").splitlines()]
    _everything_is_settled(rows)
    _texts_are_what_was_sent(rows, model)
    effects = _each_effect_at_most_once(rows, ledger)
    _only_what_was_allowed(rows, ledger)
    _no_rule_but_those_given(rules, ledger)
    _files_tell_the_same(folder, rows, titles, again)
    for request in requests:
        _well_formed(request)
    _told_the_truth(rows, requests)
    _every_request_has_its_receipt(rows, requests)
    return effects


@dataclass(frozen=True)
class Rows:
    runs: tuple[Run, ...]
    messages: tuple[Message, ...]
    calls: tuple[ToolCall, ...]
    receipts: tuple[Receipt, ...]
    queued: str

    @property
    def by_mark(self) -> dict[int, ToolCall]:
        found: dict[int, ToolCall] = {}
        for call in self.calls:
            mark = mark_of(call.arguments)
            if mark is None:
                continue
            if mark in found:
                raise Lost(f"call {mark}, which the model made once, has two rows")
            found[mark] = call
        return found


def _rows(session: Session, conversation_id: str) -> Rows:
    from sqlalchemy import select

    from devflow.store.schema import MessageRow

    ids = session.scalars(select(MessageRow.id).where(MessageRow.conversation_id == conversation_id)).all()
    every = runs.of_conversation(session, conversation_id)
    return Rows(
        every,
        tuple(conversations.message(session, id) for id in ids),
        tuple(call for run in every for call in runs.calls_of_run(session, run.id)),
        receipts.of_conversation(session, conversation_id),
        conversations.get(session, conversation_id).queued,
    )


async def _seen_again(core: Core) -> list[str]:
    """Titles of entries that were proposed again: a second effect of the same call would be one."""
    found = []
    for entry in (await core.knowledge.knowledge_list(statuses=frozenset(Status))).entries:
        timeline = await core.knowledge.knowledge_timeline(entry.id)
        found += [entry.title for event in timeline if "again" in event.event.value]
    return found


def _everything_is_settled(rows: Rows) -> None:
    for run in rows.runs:
        if run.state in OPEN_STATES or run.owner is not None:
            raise Lost(f"run {run.id} is {run.state}, owned by {run.owner}")
        if run.problem is not None and run.problem.code == "internal":
            raise Lost(f"run {run.id} met a bug: {run.problem}")
    if rows.runs[-1].state is not RunState.COMPLETED:
        raise Lost(f"the newest run is {rows.runs[-1].state}")
    for call in rows.calls:
        if call.state not in SETTLED:
            raise Lost(f"call {call.id} is {call.state} in the end")
        if "unexpectedly" in call.error:
            raise Lost(f"{call.tool} met a bug: {call.error}")
    if streaming := [message.id for message in rows.messages if message.state is MessageState.STREAMING]:
        raise Lost(f"messages still stream: {streaming}")
    said = sorted(message.content for message in rows.messages if message.role is Role.USER)
    if said != sorted([QUESTION, SECOND]) or rows.queued:
        raise Lost(f"the user's messages are {said}, queued is {rows.queued!r}")


def _texts_are_what_was_sent(rows: Rows, model: Model) -> None:
    for message in rows.messages:
        if message.role is Role.USER:
            continue
        content, state = message.content, message.state
        whole = next((text for text in model.texts.values() if content and text.startswith(content)), None)
        if content and whole is None:
            raise Lost(f"an answer holds what was never sent: {content!r}")
        if state is MessageState.COMPLETE and content and content != whole:
            raise Lost(f"a cut answer is not marked: {content!r}")


def _each_effect_at_most_once(rows: Rows, ledger: Sequence[dict[str, Any]]) -> int:
    began = Counter(line["began"] for line in ledger if line.get("began") is not None)
    voided = Counter(line["voided"] for line in ledger if line.get("voided") is not None)
    for mark, times in began.items():
        if times - voided[mark] > 1:
            raise Lost(f"effect {mark} began {times} times, of which {voided[mark]} did nothing")
    for mark, call in rows.by_mark.items():
        happened = began[mark] - voided[mark]
        if call.state is CallState.DONE and happened != 1:
            raise Lost(f"call {mark} is done, and its effect began {happened} times")
        if _never_ran(call) and happened:
            raise Lost(f"call {mark} is {call.state}, and its effect began")
    if strange := set(began) - set(rows.by_mark):
        raise Lost(f"effects of calls without a row: {strange}")
    return sum(began.values()) - sum(voided.values())


def _never_ran(call: ToolCall) -> bool:
    """A cancelled call with a result is a command that was stopped while it ran."""
    return call.state is CallState.DENIED or (call.state is CallState.CANCELLED and not call.result)


def _only_what_was_allowed(rows: Rows, ledger: Sequence[dict[str, Any]]) -> None:
    """Each effect of a tool that asks had exactly the arguments and the preview that a human had said yes to before, or
    a rule for its file that a human had given before.
    """
    allowed: set[tuple[int, str]] = set()
    ruled: set[tuple[str, str]] = set()
    denied = {line["decided"] for line in ledger if "decided" in line and not line["allow"]}
    for line in ledger:
        if "over_a_change" in line:
            raise Lost(f"effect {line['over_a_change']} went over a file that had changed since its diff was shown")
        if line.get("decides") is not None and line["allow"]:
            allowed.add((line["decides"], line["shown"]))
        if "rules" in line:
            ruled.add((line["tool"], line["path"]))
        asked = line.get("began") is not None and line["tool"] in ASKS_FIRST
        if asked and (line["began"], line["shown"]) not in allowed and _target(rows, line["began"]) not in ruled:
            raise Lost(f"effect {line['began']} ran with what nobody had allowed")
    for mark, call in rows.by_mark.items():
        if mark in denied and call.state is not CallState.DENIED:
            raise Lost(f"call {mark} was denied, and is {call.state}")


def _target(rows: Rows, mark: int) -> tuple[str, str | None]:
    call = rows.by_mark[mark]
    return call.tool, json.loads(call.arguments).get("path")


def _no_rule_but_those_given(rules: Sequence[dict[str, Any]], ledger: Sequence[dict[str, Any]]) -> None:
    given = {(line["tool"], line["path"]) for line in ledger if "rules" in line}
    for rule in rules:
        if (rule["tool"], rule["pattern"]) not in given:
            raise Lost(f"a rule that nobody gave: {rule}")


def _files_tell_the_same(folder: Path, rows: Rows, titles: Sequence[str], again: Sequence[str]) -> None:
    """The same, counted where effects show by themselves: inserted lines, made files, run commands, candidates."""
    commands = folder / COMMANDS
    lines = {
        "run_command": commands.read_text(encoding="utf-8").splitlines() if commands.exists() else [],
        "edit_file": (folder / "project" / EDITED).read_text(encoding="utf-8").splitlines(),
        "propose_knowledge": [*titles, *again],
    }
    for mark, call in rows.by_mark.items():
        if call.tool == "write_file":
            _file_is_what_was_approved(folder / "project", mark, call)
        if call.tool not in lines:
            continue
        found = [line for line in lines[call.tool] if mark in marks_in(line)]
        if len(found) > 1:
            raise Lost(f"{call.tool} {mark} had its effect {len(found)} times")
        if call.state is CallState.DONE and not found:
            raise Lost(f"{call.tool} {mark} is done, and its effect is not there")
        if _never_ran(call) and found:
            raise Lost(f"{call.tool} {mark} is {call.state}, and its effect is there")
        if found and ("as edited" in found[0]) != ("as edited" in call.arguments):
            raise Lost(f"{call.tool} {mark} had another effect than the one that was approved: {found[0]!r}")


def _file_is_what_was_approved(project: Path, mark: int, call: ToolCall) -> None:
    arguments = json.loads(call.arguments)
    if arguments["path"] == SHARED:
        return
    made = project / arguments["path"]
    if call.state is CallState.DONE and not made.exists():
        raise Lost(f"the file of call {mark}, which is done, is missing")
    if made.exists() and call.state is CallState.DONE and not made.read_text("utf-8").startswith(arguments["content"]):
        raise Lost(f"the file of call {mark} does not hold what was approved")


def _well_formed(request: Request) -> None:
    """One system message, first; every call is answered at once, once, and by nothing else; no user text twice."""
    roles = [message["role"] for message in request.messages]
    if roles.count("system") != 1 or roles[0] != "system":
        raise Lost(f"a request has not one system message at its head but {roles}, for {request.last_user[:200]!r}")
    open_ids: list[str] = []
    before = "system"
    for message in request.messages[1:]:
        role = message["role"]
        if role == "tool":
            if message["tool_call_id"] not in open_ids:
                raise Lost("a tool result answers no open call")
            open_ids.remove(message["tool_call_id"])
            if NEVER_TOLD in message["content"]:
                raise Lost("the model was asked before every call was decided")
        elif open_ids:
            raise Lost(f"calls without an answer before a message of the {role}")
        elif role == before:
            raise Lost(f"two messages of the {role} in a row")
        open_ids += [call["id"] for call in message.get("tool_calls") or ()]
        before = role
    if open_ids:
        raise Lost("a request ends with calls that have no answer")
    if before == "assistant":
        raise Lost("a request ends with the model's own words")


def _told_the_truth(rows: Rows, requests: Sequence[Request]) -> None:
    """Each settled call's answer is the one that its state deserves, in every request that carries it."""
    by_mark = rows.by_mark
    for request in requests:
        asked = {
            call["id"]: mark_of(call["function"]["arguments"])
            for message in request.messages
            for call in message.get("tool_calls") or ()
        }
        for message in request.messages:
            if message["role"] != "tool" or (mark := asked[message["tool_call_id"]]) is None:
                continue
            call, told = by_mark[mark], message["content"]
            match call.state:
                case CallState.INTERRUPTED if UNVERIFIED not in told:
                    raise Lost(f"the model was told of the interrupted call {mark}: {told!r}")
                case CallState.DENIED if call.reason not in told:
                    raise Lost(f"the model was not told why call {mark} was denied")
                case CallState.DONE if UNVERIFIED in told or "did not run" in told:
                    raise Lost(f"the model was told of the call {mark}, which is done: {told!r}")
                case CallState.CANCELLED if ("did not run" in told) is not _never_ran(call):
                    raise Lost(f"the model was told of the cancelled call {mark}: {told!r}")


def _every_request_has_its_receipt(rows: Rows, requests: Sequence[Request]) -> None:
    """What stood in the prompt is what a receipt says, and none is older than the decision or recovery before it."""
    blocks = [receipt.library.block for receipt in rows.receipts if isinstance(receipt.library, Injected)]
    for request in requests:
        if not any(block in request.system for block in blocks):
            raise Lost("a request carries a library that no receipt has")
    questions = {run.id: next(m.seq for m in rows.messages if m.id == run.user_message_id) for run in rows.runs}
    for message in rows.messages:
        if message.role is Role.USER or message.run_id is None:
            continue
        looked_up = [r.seq for r in rows.receipts if r.run_id == message.run_id and r.seq < message.seq]
        decided = [c.decided_seq for c in rows.calls if c.run_id == message.run_id and c.decided_seq is not None]
        newest = max([questions[message.run_id], *(seq for seq in decided if seq < message.seq)])
        if not looked_up or max(looked_up) < newest:
            raise Lost(f"message {message.id} was answered with a receipt from before its decision")
