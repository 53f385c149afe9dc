"""Which folder and which model a conversation works with: the two pickers at the composer's foot."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from devflow.domain.conversation import OFFLINE, ModelChoice
from devflow.domain.knowledge import Project
from devflow.ui.context import UiContext
from devflow.ui.widgets import Choice, Picker

_RECENT = 8
_BROWSE = "browse"
_NONE = "none"
_CONNECT = "connect"


class WorkspacePicker(Picker):
    """The project folder: one of the recent ones, another one, or none."""

    project_chosen = Signal(object)

    def __init__(self, ctx: UiContext, parent: QWidget | None = None) -> None:
        super().__init__(ctx, ctx.t("Project folder"), icon="folder", upwards=True, parent=parent)
        self.setObjectName("workspacePicker")
        self._ctx = ctx
        self._projects: tuple[Project, ...] = ()
        self._project: Project | None = None
        self.chosen.connect(self._picked)
        ctx.events.projects_changed.connect(self._changed)
        self.show_project(None)
        self._changed()

    def show_project(self, project: Project | None) -> None:
        self._project = project
        self._rebuild()

    def browse(self) -> None:
        """Ask for a folder."""
        self._ctx.tasks.launch(self._browse(), what="choose project folder", owner=self)

    def _changed(self, _ids: object = None) -> None:
        self._ctx.tasks.launch(self._read(), what="list projects", owner=self)

    async def _read(self) -> None:
        self._projects = await self._ctx.services.projects.with_folder()
        self._rebuild()

    def _rebuild(self) -> None:
        t = self._ctx.t
        choices: list[Choice | None] = [
            Choice(each, each.name, _short_path(each.path), "folder") for each in self._projects[:_RECENT]
        ]
        if self._project is not None and self._project not in self._projects[:_RECENT]:
            choices.insert(0, Choice(self._project, self._project.name, _short_path(self._project.path), "folder"))
        if choices:
            choices.append(None)
        choices.append(Choice(_BROWSE, t("Choose a folder…")))
        choices.append(Choice(_NONE, t("No project")))
        self.set_choices(choices, self._project or _NONE)
        if self._project is not None:
            self.setToolTip(self._project.path)

    def _picked(self, data: object) -> None:
        if data == _BROWSE:
            self.browse()
        elif data == _NONE:
            self.project_chosen.emit(None)
        else:
            self.project_chosen.emit(data)

    async def _browse(self) -> None:
        start = self._project.path if self._project is not None else str(Path.home())
        folder = await self._ctx.dialogs.choose_folder(self._ctx.t("Choose the project folder"), start)
        if folder:
            self.project_chosen.emit(await self._ctx.services.projects.ensure(folder))


class ModelPicker(Picker):
    """The offline assistant and every model that was set up."""

    model_chosen = Signal(object)

    def __init__(self, ctx: UiContext, parent: QWidget | None = None) -> None:
        super().__init__(ctx, ctx.t("Model"), icon="cpu", upwards=True, max_width=230, parent=parent)
        self.setObjectName("modelPicker")
        self._ctx = ctx
        self._wanted: ModelChoice | None = None
        self._main = OFFLINE
        self._models: tuple[tuple[ModelChoice, str], ...] = ()
        self.chosen.connect(self._picked)
        ctx.events.providers_changed.connect(self._changed)
        ctx.events.settings_changed.connect(self._changed)
        self._rebuild()
        self._changed()

    @property
    def shown(self) -> ModelChoice:
        """The model the next message goes to."""
        return self._wanted or self._main

    @property
    def models(self) -> tuple[tuple[ModelChoice, str], ...]:
        """Every model that can be chosen, with its provider's name."""
        return self._models

    known = Signal()
    """The main model or the list of models was read again."""

    def show_choice(self, choice: ModelChoice | None) -> None:
        """The conversation's own model, or None for the main one."""
        self._wanted = choice
        self._rebuild()

    def _changed(self, _ids: object = None) -> None:
        self._ctx.tasks.launch(self._read(), what="list models", owner=self)

    async def _read(self) -> None:
        models = self._ctx.services.models
        names = {provider.id: provider.name for provider in await models.list()}
        self._main = await models.main_choice()
        self._models = tuple((choice, names.get(choice.provider_id, "")) for choice in await models.choices())
        self._rebuild()
        self.known.emit()

    def _rebuild(self) -> None:
        t = self._ctx.t
        listed = [(choice, provider) for choice, provider in self._models if choice != OFFLINE]
        if self.shown != OFFLINE and self.shown not in [choice for choice, _ in listed]:
            listed.insert(0, (self.shown, ""))
        choices: list[Choice | None] = [Choice(choice, choice.model, provider) for choice, provider in listed]
        if choices:
            choices.append(None)
        choices.append(Choice(OFFLINE, t("Offline assistant")))
        choices.append(None)
        choices.append(Choice(_CONNECT, t("Connect a model…")))
        self.set_choices(choices, self.shown)

    def _picked(self, data: object) -> None:
        if data == _CONNECT:
            self._ctx.shell.open_settings("providers")
        else:
            self.model_chosen.emit(data)


def _short_path(path: str) -> str:
    """The folder above, which tells two of the same name apart."""
    parts = [part for part in path.replace("\\", "/").split("/") if part]
    return parts[-2] if len(parts) > 1 else ""
