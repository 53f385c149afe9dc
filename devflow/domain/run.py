"""A run is rows, nothing else; `next_step` says from the rows alone what happens next (ARCHITECTURE, One path).

There is no resume: sending inserts a message, deciding updates a call, recovery mends stale rows, and all three then
call `agent.loop.advance`, which asks `next_step` again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from devflow.domain.conversation import Message, ModelChoice
from devflow.domain.request import Measure
from devflow.domain.skill import UsedSkill

MAX_STEPS = 50  # provider calls in one run (spec 03, rule 5)


class RunState(StrEnum):
    QUEUED = "queued"
    CALLING_MODEL = "calling_model"
    EXECUTING = "executing"
    AWAITING_APPROVAL = "awaiting_approval"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"


ACTIVE_STATES = frozenset({RunState.QUEUED, RunState.CALLING_MODEL, RunState.EXECUTING})
OPEN_STATES = ACTIVE_STATES | {RunState.AWAITING_APPROVAL}


class CallState(StrEnum):
    AWAITING = "awaiting"
    APPROVED = "approved"
    DENIED = "denied"
    EXECUTING = "executing"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"


SETTLED = frozenset({CallState.DENIED, CallState.DONE, CallState.FAILED, CallState.CANCELLED, CallState.INTERRUPTED})


class Risk(StrEnum):
    """What a tool call could do, shown on its card."""

    READS = "reads"
    WRITES = "writes"
    RUNS = "runs"
    REACHES_OUT = "reaches_out"


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a run failed, in the terms of `UserFacing` so that any edge can render it."""

    code: str
    message: str
    hint: str = ""
    params: Mapping[str, Any] | None = None
    retryable: bool = True


@dataclass(frozen=True, slots=True)
class Run:
    """The agent's work on one user message until it is done.

    `recovered_seq` is the newest recovery, Retry or Continue; `steps` counts provider calls since then. `measure` is
    what the newest request was made of. `beside` is the message at which the conversation stands again when a run that
    was to answer anew has ended without a word of its own. `skill` is what the user put before the message.
    """

    id: str
    conversation_id: str
    user_message_id: str
    state: RunState
    steps: int
    owner: str | None
    choice: ModelChoice
    recovered_seq: int
    problem: Problem | None
    created_at: datetime
    finished_at: datetime | None = None
    measure: Measure | None = None
    beside: str | None = None
    skill: UsedSkill | None = None


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call the model asked for. `arguments` is the JSON text that runs; its hash is what an approval covers.

    `preview` is what the card shows (for a file edit: path, unified diff, and the hash of the file the diff was made
    from). `decided_seq` orders the decision in the conversation. `duration_ms` is in milliseconds.
    """

    id: str
    run_id: str
    message_id: str
    position: int
    wire_id: str
    tool: str
    arguments: str
    arguments_hash: str
    state: CallState
    risk: Risk
    preview: Mapping[str, Any] | None = None
    edited: bool = False
    decided_by: str | None = None
    decided_seq: int | None = None
    reason: str = ""
    result: str = ""
    error: str = ""
    duration_ms: int | None = None

    @property
    def shown_hash(self) -> str:
        """What its card shows, these arguments with this preview: a decision names it, and covers nothing else."""
        preview = json.dumps(self.preview, sort_keys=True)
        return hashlib.sha256(f"{self.arguments_hash}\n{preview}".encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Transcript:
    """What `next_step` decides on: the run, its messages from the user's to its newest, and each message's calls."""

    run: Run
    messages: tuple[Message, ...]
    calls: Mapping[str, tuple[ToolCall, ...]]


@dataclass(frozen=True, slots=True)
class CallModel:
    """Ask the provider for the next assistant message."""


@dataclass(frozen=True, slots=True)
class ExecuteTools:
    """Run these approved calls, in this order."""

    call_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AskApproval:
    """Pause: these calls wait for a human."""

    call_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Finish:
    """Nothing is left to do; `state` is the run's last."""

    state: RunState
    problem: Problem | None = None


Step = CallModel | ExecuteTools | AskApproval | Finish


def arguments_hash(tool: str, arguments: str) -> str:
    """What an approval covers: exactly this tool with exactly these argument bytes (spec 03, rule 2)."""
    return hashlib.sha256(f"{tool}\n{arguments}".encode()).hexdigest()
