"""What happened, for whoever watches: typed events of runs and background work, and changes of stored rows.

The hub belongs to one process and one event loop; everything is published on that loop's thread. Rows changed by
another process arrive here too, as `Changes` with `foreign` set (store/watch).
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

from devflow.domain.run import RunState

log = logging.getLogger(__name__)


class Aggregate:
    """Names of the aggregates in `changes` rows."""

    ENTRY = "entry"
    CONVERSATION = "conversation"
    RUN = "run"
    PROVIDER = "provider"
    SETTING = "setting"
    PROJECT = "project"
    KNOWLEDGE_BASE = "knowledge_base"
    EXTRACTION = "extraction"
    DIGEST = "digest"


@dataclass(frozen=True, slots=True)
class Change:
    """One changed row: `seq` grows over the life of the database."""

    seq: int
    aggregate: str
    id: str


@dataclass(frozen=True, slots=True)
class Changes:
    """One committed transaction's changes; `foreign` when another process made them."""

    items: tuple[Change, ...]
    foreign: bool = False

    def of(self, aggregate: str) -> frozenset[str]:
        """Ids of that aggregate's changed rows."""
        return frozenset(item.id for item in self.items if item.aggregate == aggregate)


@dataclass(frozen=True, slots=True)
class RunChanged:
    run_id: str
    conversation_id: str
    state: RunState


@dataclass(frozen=True, slots=True)
class LibrarySearchDone:
    """The library's lookup for a run's step is finished; `ids` are the injected entries', best first."""

    run_id: str
    conversation_id: str
    count: int
    ids: tuple[str, ...]
    outcome: str  # "injected", "nothing", "not_used", "failed"


@dataclass(frozen=True, slots=True)
class KnowledgeSearchStart:
    """The knowledge base is being searched for a run; exactly one of the three below follows."""

    run_id: str
    conversation_id: str


@dataclass(frozen=True, slots=True)
class KnowledgeSearchDone:
    """Pages were found; `paths` are those in the prompt, best first."""

    run_id: str
    conversation_id: str
    count: int
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class KnowledgeSearchEmpty:
    run_id: str
    conversation_id: str


@dataclass(frozen=True, slots=True)
class KnowledgeSearchError:
    """The search failed as a whole and the turn goes on without it; `message` is English, for the log."""

    run_id: str
    conversation_id: str
    message: str


@dataclass(frozen=True, slots=True)
class MessageStarted:
    """An assistant message begins to stream; its row exists."""

    run_id: str
    conversation_id: str
    message_id: str


@dataclass(frozen=True, slots=True)
class TextArrived:
    """More text of a streaming message (`reasoning`: of its folded thinking)."""

    run_id: str
    conversation_id: str
    message_id: str
    text: str
    reasoning: bool = False


@dataclass(frozen=True, slots=True)
class MessageEnded:
    """The message's row is final: complete, or partial."""

    run_id: str
    conversation_id: str
    message_id: str


@dataclass(frozen=True, slots=True)
class CallsChanged:
    """Tool calls of a message changed state."""

    run_id: str
    conversation_id: str
    message_id: str


@dataclass(frozen=True, slots=True)
class CallOutput:
    """The newest output of a tool that runs, in place of what came before; at most ten in a second, never stored."""

    run_id: str
    conversation_id: str
    call_id: str
    text: str


@dataclass(frozen=True, slots=True)
class ExtractionChanged:
    """A distillation's progress: `state` is waiting, running, done, nothing_new, dropped, failed, cancelled."""

    conversation_id: str
    state: str
    created: int = 0
    detail: str = ""


@dataclass(frozen=True, slots=True)
class DigestChanged:
    """A batch digest's progress: `state` is that of the file, or without a file that of the batch."""

    batch_id: str
    state: str
    file_id: str = ""


@dataclass(frozen=True, slots=True)
class DigestStep:
    """What is being done about a file of a batch, never stored: `doing` is a `domain.digest.Doing`."""

    batch_id: str
    file_id: str
    doing: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class ToolServersChanged:
    """A configured MCP server was started, ended, failed, was changed, or offers other tools."""


@dataclass(frozen=True, slots=True)
class EmbeddingChanged:
    """The background work on vectors, or the embedding of queries, goes another way; `phase` is a stable word."""

    phase: str


@dataclass(frozen=True, slots=True)
class IndexFilled:
    """The search index is being made anew, in the background: so many of the entries are in it again."""

    done: int
    total: int


Event = (
    Changes
    | RunChanged
    | LibrarySearchDone
    | KnowledgeSearchStart
    | KnowledgeSearchDone
    | KnowledgeSearchEmpty
    | KnowledgeSearchError
    | MessageStarted
    | TextArrived
    | MessageEnded
    | CallsChanged
    | CallOutput
    | ExtractionChanged
    | DigestChanged
    | DigestStep
    | ToolServersChanged
    | EmbeddingChanged
    | IndexFilled
)


class Hub:
    """Delivers each event to every subscriber, in the order of publication, on the publisher's thread (the loop's)."""

    def __init__(self) -> None:
        self._subscribers: list[Callable[[Event], None]] = []

    def subscribe(self, receive: Callable[[Event], None]) -> Callable[[], None]:
        """Register `receive`; the returned function takes it off again."""
        self._subscribers.append(receive)

        def unsubscribe() -> None:
            if receive in self._subscribers:
                self._subscribers.remove(receive)

        return unsubscribe

    def publish(self, event: Event) -> None:
        """A subscriber that fails is logged and does not keep the others from hearing."""
        for receive in tuple(self._subscribers):
            try:
                receive(event)
            except Exception:
                log.exception("a subscriber failed on %s", type(event).__name__)
