"""Which knowledge base a conversation belongs to: the first picker at the composer's foot."""

from __future__ import annotations

import asyncio

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from devflow.domain.knowledge_base import KnowledgeBase
from devflow.ui.bases import choose_base
from devflow.ui.context import UiContext
from devflow.ui.widgets import Choice, Picker
from devflow.wiki.registry import is_there

_OPEN = "open"
_NONE = "none"


class KbPicker(Picker):
    """One of those that were opened, another folder, or none. A folder that is none yet is made one on the user's word.

    `base_chosen(KnowledgeBase | None)`.
    """

    base_chosen = Signal(object)

    def __init__(self, ctx: UiContext, parent: QWidget | None = None) -> None:
        super().__init__(ctx, ctx.t("Knowledge base"), icon="book", upwards=True, parent=parent)
        self.setObjectName("kbPicker")
        self._ctx = ctx
        self._bases: tuple[tuple[KnowledgeBase, bool], ...] = ()
        self._base: KnowledgeBase | None = None
        self.chosen.connect(self._picked)
        ctx.events.bases_changed.connect(self._changed)
        self.about_to_open.connect(self._changed)
        self.show_base(None)
        self._changed()

    @property
    def base(self) -> KnowledgeBase | None:
        return self._base

    @property
    def bases(self) -> tuple[tuple[KnowledgeBase, bool], ...]:
        """Those that were opened, and whether each is there now."""
        return self._bases

    def show_base(self, base: KnowledgeBase | None) -> None:
        self._base = base
        self._rebuild()

    def open_folder(self) -> None:
        """Ask for a folder; one that is no knowledge base yet is offered to be made one."""
        self._ctx.tasks.launch(self._open_folder(), what="open a knowledge base", owner=self)

    def _changed(self, _ids: object = None) -> None:
        self._ctx.tasks.launch(self._read(), what="list knowledge bases", owner=self)

    async def _read(self) -> None:
        bases = await self._ctx.services.bases.list()
        self._bases = await asyncio.to_thread(lambda: tuple((base, is_there(base)) for base in bases))
        self._rebuild()

    def _rebuild(self) -> None:
        t = self._ctx.t
        gone = t("Folder not found")
        choices: list[Choice | None] = [
            Choice(base.id, base.name, "" if there else gone, "book", enabled=there) for base, there in self._bases
        ]
        if self._base is not None and self._base.id not in [base.id for base, _ in self._bases]:
            choices.insert(0, Choice(self._base.id, self._base.name, "", "book"))
        if choices:
            choices.append(None)
        choices.append(Choice(_OPEN, t("Open a folder…")))
        choices.append(Choice(_NONE, t("No knowledge base")))
        self.set_choices(choices, self._base.id if self._base is not None else _NONE)
        if self._base is None:
            self.set_label(t("No KB"))  # three pickers and a meter share a narrow foot
        self.setToolTip(self._base.path if self._base is not None else t("Answer from a folder of Markdown pages"))

    def _picked(self, data: object) -> None:
        if data == _OPEN:
            self.open_folder()
        elif data == _NONE:
            self.base_chosen.emit(None)
        else:
            self.base_chosen.emit(next((base for base, _ in self._bases if base.id == data), None))

    async def _open_folder(self) -> None:
        base = await choose_base(self._ctx, self._ctx.t("Choose a folder"), self._base)
        if base is not None:
            self.base_chosen.emit(base)
