"""Where an entry's vectors stand, and the button that makes them anew (KP-6)."""

from __future__ import annotations

from PySide6.QtWidgets import QHBoxLayout, QWidget

from devflow.domain.knowledge import EmbeddingStatus, Entry, Status
from devflow.knowledge.embedding_state import EmbeddingState, Phase
from devflow.ui.context import UiContext
from devflow.ui.models.embedding_words import entry_words
from devflow.ui.models.refresh import Refresher
from devflow.ui.widgets import Button
from devflow.ui.widgets.entry_parts import Link


class EmbeddingFact(QWidget):
    """Follows the entry, and what the background work says."""

    def __init__(self, ctx: UiContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._ctx = ctx
        self._entry: Entry | None = None
        self._state = EmbeddingState(Phase.OFF)
        self.words = Link(ctx)
        self.words.setObjectName("embeddingState")
        self.again = Button(ctx, ctx.t("Regenerate"), variant="link", small=True)
        self.again.setObjectName("regenerateEmbeddingButton")
        self.again.setToolTip(ctx.t("Make the vectors of this entry anew"))
        self.again.clicked.connect(self._make_anew)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        row.addWidget(self.words)
        row.addWidget(self.again)
        row.addStretch(1)
        self._reread = Refresher(ctx.tasks, self._read, "read the state of the vectors", self)
        ctx.events.embedding_changed.connect(self._reread.ask)
        ctx.events.settings_changed.connect(self._reread.ask)
        self._show()
        self._reread.ask()

    def show_entry(self, entry: Entry) -> None:
        self._entry = entry
        self._show()

    async def _read(self) -> None:
        self._state = await self._ctx.services.embeddings.state()
        self._show()

    def _show(self) -> None:
        entry, t = self._entry, self._ctx.t
        if entry is None:
            self.again.hide()
            return
        self.words.show_link(entry_words(t, entry, self._state))
        due = entry.status is Status.PUBLISHED and self._state.phase not in (Phase.OFF, Phase.NO_MODEL)
        self.again.setVisible(due)
        self.again.setEnabled(entry.embedding.status is not EmbeddingStatus.PENDING)

    def _make_anew(self) -> None:
        if self._entry is not None:
            work = self._ctx.services.knowledge.knowledge_reembed(self._entry.id)
            self._ctx.tasks.launch(work, what="make an entry's vectors anew")
