"""What the vectors are doing, as the status line, the settings and the command line tell it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from devflow.domain.errors import UserFacing
from devflow.store.vectors import Progress

Vector = Sequence[float]
NOTHING = Progress(0, 0, 0)


class Phase(StrEnum):
    OFF = "off"
    """Search by meaning is switched off."""
    NO_MODEL = "no_model"
    """It is on, and there is no model: none chosen, not installed, its provider removed."""
    READY = "ready"
    WORKING = "working"
    WAITING = "waiting"
    """The chat goes first, on the same machine's server."""
    PAUSED = "paused"
    """It failed, and is tried again by itself."""
    CAPPED = "capped"
    """The day's number of texts is reached."""
    STOPPED = "stopped"
    """Someone cancelled it."""


@dataclass(frozen=True, slots=True)
class EmbeddingState:
    """`again_at`: when a pause ends. `problem`: of the last try. `unheard`: why the last query had no vector."""

    phase: Phase
    model: str = ""
    progress: Progress = NOTHING
    again_at: datetime | None = None
    problem: UserFacing | None = None
    unheard: UserFacing | None = None


class EmbeddingModel(Protocol):
    """A chosen model, made for one job: texts are embedded as texts, queries as queries."""

    @property
    def key(self) -> str:
        """Provider and model: vectors of different keys are never compared."""
        ...

    @property
    def name(self) -> str: ...

    @property
    def is_local(self) -> bool:
        """A server on this machine, where the chat may need the same processor."""
        ...

    @property
    def batch(self) -> int:
        """So many texts are asked for at once."""
        ...

    async def texts(self, texts: Sequence[str]) -> list[Vector]:
        """A vector for each text, in their order; raises `ProviderFailed`."""
        ...

    async def query(self, text: str) -> Vector: ...


class EmbeddingSource(Protocol):
    """Where the chosen model comes from (`devflow.models.embedding`)."""

    async def current(self) -> EmbeddingModel | None:
        """The model in force; None: switched off. Raises UserFacing where it is on and there is none."""
        ...
