"""Domain events as Qt signals: the only place where the hub meets Qt."""

from __future__ import annotations

from typing import assert_never

from PySide6.QtCore import QObject, Signal

from devflow.domain import events as ev


class Events(QObject):
    """One signal per event of `devflow.domain.events`, each with the event itself as its argument.

    Also, for views of stored rows: `entries_changed`, `conversations_changed`, … with a frozenset of ids.
    """

    changes = Signal(object)
    entries_changed = Signal(object)
    conversations_changed = Signal(object)
    runs_changed = Signal(object)
    providers_changed = Signal(object)
    settings_changed = Signal(object)
    projects_changed = Signal(object)
    bases_changed = Signal(object)
    base_chosen = Signal(object)
    """Not of the hub: the human has made this knowledge base (None: none) the current one, elsewhere in this window."""

    run_changed = Signal(object)
    library_searched = Signal(object)
    knowledge_searched = Signal(object)
    """The beginning of a search in a knowledge base, and its one outcome."""
    message_started = Signal(object)
    text_arrived = Signal(object)
    message_ended = Signal(object)
    calls_changed = Signal(object)
    call_output = Signal(object)
    extraction_changed = Signal(object)
    digest_changed = Signal(object)
    digest_step = Signal(object)
    digests_changed = Signal(object)
    """Ids of batches whose rows were changed, by whatever process."""
    tool_servers_changed = Signal(object)
    embedding_changed = Signal(object)
    index_filled = Signal(object)

    def __init__(self, hub: ev.Hub, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._unsubscribe = hub.subscribe(self._receive)

    def close(self) -> None:
        """Hear nothing more."""
        self._unsubscribe()

    def _receive(self, event: ev.Event) -> None:
        match event:
            case ev.Changes():
                self._changes(event)
            case ev.RunChanged():
                self.run_changed.emit(event)
            case ev.LibrarySearchDone():
                self.library_searched.emit(event)
            case (
                ev.KnowledgeSearchStart()
                | ev.KnowledgeSearchDone()
                | ev.KnowledgeSearchEmpty()
                | ev.KnowledgeSearchError()
            ):
                self.knowledge_searched.emit(event)
            case ev.MessageStarted():
                self.message_started.emit(event)
            case ev.TextArrived():
                self.text_arrived.emit(event)
            case ev.MessageEnded():
                self.message_ended.emit(event)
            case ev.CallsChanged():
                self.calls_changed.emit(event)
            case ev.CallOutput():
                self.call_output.emit(event)
            case ev.ExtractionChanged():
                self.extraction_changed.emit(event)
            case ev.DigestChanged():
                self.digest_changed.emit(event)
            case ev.DigestStep():
                self.digest_step.emit(event)
            case ev.ToolServersChanged():
                self.tool_servers_changed.emit(event)
            case ev.EmbeddingChanged():
                self.embedding_changed.emit(event)
            case ev.IndexFilled():
                self.index_filled.emit(event)
            case _:
                assert_never(event)

    def _changes(self, event: ev.Changes) -> None:
        self.changes.emit(event)
        for aggregate, signal in (
            (ev.Aggregate.ENTRY, self.entries_changed),
            (ev.Aggregate.CONVERSATION, self.conversations_changed),
            (ev.Aggregate.RUN, self.runs_changed),
            (ev.Aggregate.PROVIDER, self.providers_changed),
            (ev.Aggregate.SETTING, self.settings_changed),
            (ev.Aggregate.PROJECT, self.projects_changed),
            (ev.Aggregate.KNOWLEDGE_BASE, self.bases_changed),
            (ev.Aggregate.DIGEST, self.digests_changed),
        ):
            ids = event.of(aggregate)
            if ids:
                signal.emit(ids)
