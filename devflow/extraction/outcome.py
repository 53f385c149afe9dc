"""What came of an extraction, and where extraction stands."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from devflow.domain.errors import UserFacing


class State(StrEnum):
    """Of one extraction, in the words of `ExtractionChanged`, and of what could not even begin."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    NOTHING_NEW = "nothing_new"
    NO_MODEL = "no_model"
    NO_CONVERSATION = "no_conversation"
    DROPPED = "dropped"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class ExtractionOutcome:
    """`created` and `repeated` count candidates and entries that were seen again; `entry_ids` are the new ones.

    `detail` is English, for the log and `--json`; `problem` is the failure to show, where there was one.
    """

    created: int
    repeated: int
    state: State
    detail: str = ""
    conversation_id: str = ""
    entry_ids: tuple[str, ...] = ()
    problem: UserFacing | None = None

    def as_json(self) -> dict[str, Any]:
        """For `--json` and for other programs; the problem is not in it, for it is raised."""
        return {
            "state": self.state.value,
            "created": self.created,
            "repeated": self.repeated,
            "conversation_id": self.conversation_id,
            "entry_ids": list(self.entry_ids),
            "detail": self.detail,
        }


class Phase(StrEnum):
    """Where extraction as a whole stands."""

    IDLE = "idle"
    WAITING = "waiting"
    RUNNING = "running"
    PAUSED = "paused"  # after repeated failures
    CAPPED = "capped"  # the day's calls are used up
    NO_MODEL = "no_model"
    OFF = "off"
    MANUAL_ONLY = "manual_only"


@dataclass(frozen=True, slots=True)
class ExtractionStatus:
    """For the status line. `due_at` is when it goes on; `last` is the newest outcome of this process."""

    phase: Phase
    conversation_id: str = ""
    due_at: datetime | None = None
    last: ExtractionOutcome | None = None


@dataclass(frozen=True, slots=True)
class PendingConversation:
    """A conversation that was never read, and will not be by itself; the inbox offers it on a click."""

    conversation_id: str
    title: str
    new_messages: int
