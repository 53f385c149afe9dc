"""What was looked up for a run, and when: the row behind "Sources" and behind the lookup rule (KP-3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from devflow.domain.request import Lookup


class Phase(StrEnum):
    """What made the lookup necessary: a user message, a decision, or a recovery (Retry and Continue count as one)."""

    TURN = "turn"
    RESUME = "resume"
    RETRY = "retry"


@dataclass(frozen=True, slots=True)
class Receipt:
    """One lookup of a run. Tool steps resend its blocks byte for byte, so its fences' `nonce` is one for all of them.

    `seq` is the conversation's counter, never a clock. `feedback` maps a source's ref to +1 or -1.
    """

    id: str
    conversation_id: str
    run_id: str
    seq: int
    phase: Phase
    nonce: str
    library: Lookup
    pages: Lookup
    created_at: datetime
    feedback: Mapping[str, int] = field(default_factory=dict)
