"""The first page of an empty home: what can be done now, and the composer under it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QSizePolicy, QVBoxLayout, QWidget
from shiboken6 import isValid

from devflow.domain.conversation import OFFLINE, ModelChoice
from devflow.domain.knowledge_base import KnowledgeBase
from devflow.domain.provider import ProviderDraft, Roles
from devflow.ui.bases import choose_base
from devflow.ui.context import UiContext
from devflow.ui.samples import load_samples, remove_samples
from devflow.ui.widgets import Button, Card, FlowLayout, Label, OptionRow, Paragraph

if TYPE_CHECKING:  # httpx loads when servers are looked for, not with the window
    from devflow.providers.discovery import Found

_COLUMN = 640
_ROW = 72


class WelcomeView(QScrollArea):
    """A 640 px column, 88 from the top. `ask(text)` when a suggestion is clicked, `project_chosen(Project)`,
    `base_chosen(KnowledgeBase)`."""

    ask = Signal(str)
    project_chosen = Signal(object)
    base_chosen = Signal(object)

    def __init__(self, ctx: UiContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("welcomePage")
        self._ctx = ctx
        self._found: tuple[Found, ...] = ()
        self._loading = False
        self._column = self._frame()
        t = ctx.t
        self._column.addWidget(Label(t("Start with a question"), "display"))
        self._column.addSpacing(6)
        self._sentence = Paragraph(ctx)
        self._column.addWidget(self._sentence)
        self._column.addSpacing(28)
        self._column.addWidget(self._steps())
        self._column.addSpacing(24)
        self._suggestions = self._suggestion_block()
        self._column.addWidget(self._suggestions)
        self._composer_slot = QVBoxLayout()
        self._column.addLayout(self._composer_slot)
        self._column.addStretch(1)
        ctx.events.entries_changed.connect(self.refresh)
        ctx.events.providers_changed.connect(self.refresh)
        ctx.events.settings_changed.connect(self.refresh)
        ctx.events.bases_changed.connect(self.refresh)
        self._looked = False
        self.refresh()

    def set_composer(self, composer: QWidget) -> None:
        """Take the page's composer into the column."""
        self._composer_slot.addWidget(composer)

    def showEvent(self, event: QShowEvent) -> None:
        """Local servers are looked for when the page is first seen: most starts never show it."""
        super().showEvent(event)
        if not self._looked:
            self._looked = True
            self._ctx.tasks.launch(self._look_for_servers(), what="look for local servers", owner=self)

    def refresh(self, _ids: object = None) -> None:
        """Read again what is set up already."""
        self._ctx.tasks.launch(self._read(), what="read the first steps", owner=self)

    # building

    def _frame(self) -> QVBoxLayout:
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # else a press of a button takes the keyboard from the composer
        page = QWidget()
        page.setProperty("role", "page")
        row = QHBoxLayout(page)
        row.setContentsMargins(24, 88, 24, 24)
        holder = QWidget()
        holder.setMaximumWidth(_COLUMN)
        holder.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        row.addStretch(1)
        row.addWidget(holder, 1000)
        row.addStretch(1)
        self.setWidget(page)
        column = QVBoxLayout(holder)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        return column

    def _steps(self) -> Card:
        t, ctx = self._ctx.t, self._ctx
        card = Card(padding=16)
        self._model = OptionRow(ctx, t("Connect a model"), "", icon="cpu", height=_ROW)
        self._base = OptionRow(
            ctx,
            t("Open a knowledge base"),
            t("A folder whose wiki folder holds Markdown. The files stay yours"),
            self._button(t("Open…"), "openBaseButton", self._open_base),
            self._button(t("Set up…"), "setUpBaseButton", self._set_up_base),
            icon="book",
            height=_ROW,
        )
        self._folder = OptionRow(
            ctx,
            t("Choose a project folder"),
            t("The assistant reads and writes only there"),
            self._button(t("Choose…"), "chooseFolderButton", self._choose_folder),
            icon="folder",
            height=_ROW,
        )
        self._samples = OptionRow(ctx, t("Load the samples"), "", icon="inbox", height=_ROW)
        for row in (self._model, self._base, self._folder, self._samples):
            card.add_row(row)
        return card

    def _suggestion_block(self) -> QWidget:
        block = QWidget()
        column = QVBoxLayout(block)
        column.setContentsMargins(0, 0, 0, 24)
        column.setSpacing(8)
        column.addWidget(Label(self._ctx.t("Try asking"), "small", "muted"))
        holder = QWidget()
        self._questions = FlowLayout(holder, gap=8)
        column.addWidget(holder)
        block.hide()
        return block

    def _button(self, text: str, name: str, act: object, variant: str = "default") -> Button:
        button = Button(self._ctx, text, variant=variant)
        button.setObjectName(name)
        button.clicked.connect(act)
        return button

    # what is set up

    async def _read(self) -> None:
        loaded = await self._ctx.services.samples.state() and not self._loading
        offline = (await self._ctx.services.models.main_choice()) == OFFLINE
        base = await self._ctx.services.bases.current()
        self._show_sentence(offline)
        self._show_base(base)
        self._show_model(offline)
        self._show_samples(loaded)

    def _show_sentence(self, offline: bool) -> None:
        t = self._ctx.t
        if offline:
            text = t(
                "It works right now: the offline assistant answers by quoting entries and pages."
                " The steps below can wait."
            )
        else:
            text = t("A model is connected. What it learns with you goes to the inbox first; you decide what stays.")
        self._sentence.setText(text)

    def _show_model(self, offline: bool) -> None:
        t = self._ctx.t
        if not offline:
            self._mark(self._model, done=True, icon="cpu")
            self._model.set_words(t("A model is connected"), t("Settings hold the others"))
            self._model.set_controls(self._button(t("Change…"), "otherModelButton", self._other_model, "ghost"))
            return
        self._mark(self._model, done=False, icon="cpu")
        other = self._button(t("Another…") if self._found else t("Connect…"), "otherModelButton", self._other_model)
        if self._found:
            server = self._found[0]
            words = t.n(
                "Found {name} on this machine, {count} model",
                "Found {name} on this machine, {count} models",
                len(server.models),
                name=server.name,
            )
            self._model.set_words(t("Connect a model"), words)
            use = self._button(t("Use it"), "useModelButton", self._use_found, "primary")
            use.setEnabled(bool(server.models))
            self._model.set_controls(use, other)
        else:
            self._model.set_words(t("Connect a model"), t("A server on this machine, or a service with a key"))
            self._model.set_controls(other)

    def _show_base(self, base: KnowledgeBase | None) -> None:
        """The current one, by its name: a new conversation asks it."""
        name = base.name if base is not None else self._ctx.t("Open a knowledge base")
        self._mark(self._base, done=base is not None, icon="book")
        self._base.set_words(name, self._ctx.t("A folder whose wiki folder holds Markdown. The files stay yours"))

    def _show_samples(self, loaded: bool) -> None:
        t = self._ctx.t
        samples = self._ctx.services.samples
        questions = (samples.wiki_question(t.language), *samples.questions(t.language))
        about = t("12 entries and a small wiki about DevFlow. One click removes them")
        self._mark(self._samples, done=loaded, icon="inbox")
        if loaded:
            self._samples.set_words(t("Samples loaded"), about)
            remove = self._button(t("Remove"), "removeSamplesButton", self._remove_samples, "ghost")
            self._samples.set_controls(remove)
        else:
            self._samples.set_words(t("Load the samples"), about)
            self._samples.set_controls(self._button(t("Load"), "loadSamplesButton", self._load_samples))
        self._questions.clear()
        for text in filter(None, questions if loaded else ()):
            button = self._button(text, "suggestionButton", self._ask, "suggestion")
            self._questions.addWidget(button)
        self._suggestions.setVisible(loaded and bool(questions))

    def _mark(self, row: OptionRow, *, done: bool, icon: str) -> None:
        assert row.icon is not None
        row.icon.set_icon("check" if done else icon, "success" if done else "text-muted")

    # what the human does

    def _ask(self) -> None:
        button = self.sender()
        if isinstance(button, Button):
            self.ask.emit(button.text())

    def _load_samples(self) -> None:
        self._ctx.tasks.launch(self._load(), what="load the samples")

    async def _load(self) -> None:
        """Questions are suggested when the wiki is there, too: one asked before that would be left behind for it."""
        self._loading = True
        try:
            await load_samples(self._ctx)
        finally:
            self._loading = False
            if isValid(self):
                self.refresh()

    def _remove_samples(self) -> None:
        self._ctx.tasks.launch(remove_samples(self._ctx), what="remove the samples")

    def _other_model(self) -> None:
        self._ctx.shell.open_settings("providers")

    def _use_found(self) -> None:
        self._ctx.tasks.launch(self._connect(self._found[0]), what="connect a local server")

    def _open_base(self) -> None:
        work = self._add_base(self._ctx.t("Open a knowledge base"))
        self._ctx.tasks.launch(work, what="open a knowledge base", owner=self)

    def _set_up_base(self) -> None:
        work = self._add_base(self._ctx.t("Choose the folder to set up"))
        self._ctx.tasks.launch(work, what="set up a knowledge base", owner=self)

    async def _add_base(self, title: str) -> None:
        base = await choose_base(self._ctx, title)
        if base is not None:
            self.base_chosen.emit(base)

    def _choose_folder(self) -> None:
        self._ctx.tasks.launch(self._pick_folder(), what="choose a project folder", owner=self)

    async def _look_for_servers(self) -> None:
        self._found = await self._ctx.services.models.discover()
        await self._read()

    async def _connect(self, server: Found) -> None:
        models = self._ctx.services.models
        draft = ProviderDraft(server.name, server.base_url, server.preset, server.adapter, server.models)
        config = await models.add(draft)
        roles = await models.roles()
        main = ModelChoice(config.id, server.models[0])
        await models.save_roles(Roles(main=main, digest=roles.digest, extraction=roles.extraction))

    async def _pick_folder(self) -> None:
        chosen = await self._ctx.dialogs.choose_folder(self._ctx.t("Choose a project folder"), str(Path.home()))
        if chosen is None:
            return
        project = await self._ctx.services.projects.ensure(chosen)
        self._mark(self._folder, done=True, icon="folder")
        self._folder.set_words(project.name, self._ctx.t("The assistant reads and writes only there"))
        self.project_chosen.emit(project)
