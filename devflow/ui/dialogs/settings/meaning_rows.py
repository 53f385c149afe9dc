"""Settings, Knowledge: search by meaning — the switch, the embedding model, and how far its vectors are."""

from __future__ import annotations

from PySide6.QtCore import QObject

from devflow.domain.errors import UserFacing
from devflow.knowledge.embedding_state import EmbeddingState, Phase
from devflow.models.registry import BUILTIN
from devflow.providers import embedded
from devflow.ui.context import UiContext
from devflow.ui.dialogs.settings.drafts import Drafts
from devflow.ui.dialogs.settings.page import reason_row, sentence_of
from devflow.ui.models.embedding_words import progress_words
from devflow.ui.models.refresh import Refresher
from devflow.ui.widgets import Button, ComboBox, OptionRow, Switch

LIKELY = ("embed", "bge", "e5", "gte", "minilm", "nomic")
"""Parts of the names of embedding models: they come first among a provider's models."""


class MeaningRows(QObject):
    """`rows` go into one card. The switch and the model wait for Save; the buttons act at once, on what is stored."""

    def __init__(self, ctx: UiContext, drafts: Drafts, parent: QObject) -> None:
        super().__init__(parent)
        self._ctx = ctx
        self._drafts = drafts
        self._installed = tuple(model.name for model in embedded.installed())
        self._state = EmbeddingState(Phase.OFF)
        t = ctx.t
        self.on = Switch(ctx, t("Search by meaning"))
        self.on.setObjectName("vectorEnabled")
        self.provider = ComboBox(ctx, name=t("Where vectors are made"), width=150)
        self.provider.setObjectName("embeddingProvider")
        self.model = ComboBox(ctx, name=t("Embedding model"), width=190)
        self.model.setObjectName("embeddingModel")
        self.again = Button(ctx, t("Make all anew"))
        self.again.setObjectName("reembedButton")
        self.stop = Button(ctx, t("Stop"))
        self.stop.setObjectName("stopEmbeddingButton")
        self.go_on = Button(ctx, t("Go on"))
        self.go_on.setObjectName("resumeEmbeddingButton")
        self._on_row = OptionRow(ctx, t("Search by meaning"), "", self.on)
        self._on_words = t("Beside keywords; where it fails, keywords alone are used.")
        self._model_row = OptionRow(ctx, t("Embedding model"), "", self.provider, self.model)
        self._state_row = OptionRow(ctx, t("Vectors"), "", self.go_on, self.stop, self.again)
        self.rows = (self._on_row, self._model_row, self._state_row)
        self._reread = Refresher(ctx.tasks, self._read, "read the state of the vectors", self)
        self.on.toggled.connect(self._switched)
        self.provider.activated.connect(self._provider_chosen)
        self.model.activated.connect(self._model_chosen)
        self.model.editTextChanged.connect(self._model_typed)
        self.again.clicked.connect(self._make_anew)
        self.stop.clicked.connect(self._stop)
        self.go_on.clicked.connect(self._resume)
        drafts.changed.connect(self.show_values)
        ctx.events.embedding_changed.connect(self._reread.ask)
        ctx.events.entries_changed.connect(self._reread.ask)
        ctx.events.settings_changed.connect(self._reread.ask)
        self.show_values()
        self._reread.ask()

    def show_values(self) -> None:
        """Show what the drafts hold."""
        values, t = self._drafts.knowledge, self._ctx.t
        on, provider = bool(values["vector_enabled"]), values["embedding_provider_id"]
        places = self._places()
        _fill(self.provider, places, provider, t("Choose"))
        self.on.setChecked(on)
        reason_row(self._on_row, on or bool(places), self._on_words, self._what_to_do())
        chosen = self.provider.currentData()
        self._show_models(chosen, values["embedding_model"])
        if on and chosen is None:
            words = t("Choose where vectors are made.")
        elif chosen == BUILTIN:
            words = t("Runs on this machine, without network. Another model makes all vectors anew.")
        else:
            words = t("Texts of published entries go to this provider. Another model makes all vectors anew.")
        reason_row(self._model_row, on, words, t("Available with “Search by meaning”."))
        self._show_state()

    def show_wrong(self, error: UserFacing) -> ComboBox:
        self._model_row.set_words(self._model_row.title.text(), sentence_of(self._ctx.t, error))
        return self.model if self.provider.currentData() else self.provider

    # what can be chosen

    def _places(self) -> list[tuple[str, str]]:
        t = self._ctx.t
        found = [(t("Built in · offline"), BUILTIN)] if self._installed else []
        found += [
            (edit.name, edit.id) for edit in self._drafts.providers.edits if edit.name and edit.adapter != "anthropic"
        ]
        return found

    def _models_of(self, provider: str | None) -> tuple[str, ...]:
        if provider == BUILTIN:
            return self._installed
        edit = next((edit for edit in self._drafts.providers.edits if edit.id == provider), None)
        names = dict.fromkeys((*edit.models, *edit.offered)) if edit is not None else ()
        return tuple(sorted(names, key=lambda name: not any(part in name.lower() for part in LIKELY)))

    def _show_models(self, provider: str | None, chosen: str | None) -> None:
        """A provider's list need not name its embedding models, so a name can be typed too."""
        self.model.blockSignals(True)
        typed = provider not in (None, BUILTIN)
        if self.model.isEditable() != typed:
            self.model.setEditable(typed)
            if (line := self.model.lineEdit()) is not None:
                line.setPlaceholderText(self._ctx.t("Name of the model"))
        names = self._models_of(provider)
        wanted = [(name, name) for name in names]
        if chosen and chosen not in names and not typed:
            wanted.insert(0, (chosen, chosen))
        shown = [(self.model.itemText(place), self.model.itemData(place)) for place in range(self.model.count())]
        if shown != wanted:
            self.model.clear()
            for text, data in wanted:
                self.model.add(text, data)
        if typed:
            if self.model.currentText() != (chosen or ""):
                self.model.setEditText(chosen or "")
        else:
            self.model.select_data(chosen)
        self.model.setEnabled(provider is not None and self._model_row.isEnabled())
        self.model.blockSignals(False)

    def _what_to_do(self) -> str:
        """Neither an embedded model nor a provider is there."""
        return self._ctx.t(
            "Install the embedded model with {command} and start DevFlow again, or add a provider under Providers.",
            command=embedded.INSTALL,
        )

    # what is done

    def _switched(self, on: bool) -> None:
        self._set("vector_enabled", on)
        if on and self._drafts.knowledge["embedding_provider_id"] is None and self._installed:
            self._choose(BUILTIN)

    def _provider_chosen(self, _index: int) -> None:
        self._choose(self.provider.currentData())

    def _choose(self, provider: str | None) -> None:
        if provider == self._drafts.knowledge["embedding_provider_id"]:
            return
        names = self._models_of(provider)
        likely = [name for name in names if provider == BUILTIN or any(part in name.lower() for part in LIKELY)]
        self._drafts.knowledge.set("embedding_model", likely[0] if likely else None)
        self._set("embedding_provider_id", provider)

    def _model_chosen(self, _index: int) -> None:
        self._set("embedding_model", self.model.currentText().strip() or None)

    def _model_typed(self, text: str) -> None:
        if self.model.isEditable():
            self._set("embedding_model", text.strip() or None)

    def _set(self, name: str, value: object) -> None:
        self._drafts.set(self._drafts.knowledge, name, value)

    def _make_anew(self) -> None:
        self._ctx.tasks.launch(self._ctx.services.embeddings.again(), what="make all vectors anew")

    def _stop(self) -> None:
        self._ctx.tasks.launch(self._ctx.services.embeddings.stop(), what="stop making vectors")

    def _resume(self) -> None:
        self._ctx.tasks.launch(self._ctx.services.embeddings.resume(), what="go on making vectors")

    # how far the vectors are

    async def _read(self) -> None:
        self._state = await self._ctx.services.embeddings.state()
        self._show_state()

    def _show_state(self) -> None:
        state, t = self._state, self._ctx.t
        said = progress_words(t, state)
        problem = state.problem or state.unheard
        if problem is not None:
            said = sentence_of(t, problem) if state.phase is Phase.NO_MODEL else f"{said} {sentence_of(t, problem)}"
        self._state_row.set_words(self._state_row.title.text(), said)
        self.stop.setVisible(state.phase in (Phase.WORKING, Phase.WAITING))
        self.go_on.setVisible(state.phase in (Phase.STOPPED, Phase.PAUSED))
        self.again.setVisible(state.phase not in (Phase.OFF, Phase.NO_MODEL))


def _fill(box: ComboBox, rows: list[tuple[str, str]], chosen: str | None, nothing: str) -> None:
    wanted: list[tuple[str, str | None]] = [(nothing, None), *rows]
    if chosen is not None and chosen not in [data for _, data in rows]:
        wanted.append((chosen, chosen))  # not there any more, and still what is stored
    shown = [(box.itemText(place), box.itemData(place)) for place in range(box.count())]
    if shown != wanted:
        box.clear()
        for text, data in wanted:
            box.add(text, data)
    box.select_data(chosen)
