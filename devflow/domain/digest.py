"""A batch digest: the files that were chosen, and how far each has come (spec 02, Batch digest)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from devflow.domain.conversation import ModelChoice
from devflow.domain.errors import UserFacing

CONCURRENCIES = (1, 3, 5)
DEFAULT_CONCURRENCY = 3


class BatchState(StrEnum):
    """A batch whose process has ended is still `running`: it was cut off, and can be resumed."""

    RUNNING = "running"
    DONE = "done"
    CANCELLED = "cancelled"


class FileState(StrEnum):
    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    SKIPPED = "skipped"  # a page with the same content's hash is there already
    FAILED = "failed"
    CANCELLED = "cancelled"


class Doing(StrEnum):
    """What is being done about a file that is running."""

    READING = "reading"  # its text is taken out of it
    ASKING = "asking"  # the model has it, and has written nothing yet
    WRITING = "writing"  # the model writes; the detail is the section (`digest.answer.SECTIONS`)
    PAUSED = "paused"  # the server asked for a pause
    KEEPING = "keeping"  # the page is written down


UNFINISHED = (FileState.WAITING, FileState.RUNNING, FileState.CANCELLED)


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why a file failed, kept so that it can be told in any language."""

    code: str
    message: str
    hint: str = ""
    params: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, failure: UserFacing) -> Trouble:
        return cls(failure.code, failure.message, failure.hint, {k: str(v) for k, v in failure.params.items()})

    def as_failure(self) -> UserFacing:
        """The same sentences, to be translated and shown."""
        return UserFacing(self.message, self.hint, **self.params)


@dataclass(frozen=True, slots=True)
class DigestFile:
    """`path` is absolute; `page` is relative to the knowledge base, and known before it is written.

    `read_percent` is how much of the text the model was shown. Tokens are those of all its requests.
    """

    id: str
    batch_id: str
    position: int
    path: str
    state: FileState
    sha256: str = ""
    page: str = ""
    title: str = ""
    trouble: Trouble | None = None
    attempts: int = 0
    read_percent: int = 0
    input_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True, slots=True)
class DigestBatch:
    """`owner` is the process that carries it out; `choice` the model it was started with."""

    id: str
    kb_id: str
    state: BatchState
    owner: str | None
    concurrency: int
    force: bool
    choice: ModelChoice
    created_at: datetime
    updated_at: datetime
    files: tuple[DigestFile, ...] = ()

    def of(self, *states: FileState) -> tuple[DigestFile, ...]:
        """Its files in any of these states, in their order."""
        return tuple(file for file in self.files if file.state in states)

    @property
    def input_tokens(self) -> int:
        return sum(file.input_tokens for file in self.files)

    @property
    def output_tokens(self) -> int:
        return sum(file.output_tokens for file in self.files)
