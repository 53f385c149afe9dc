"""Which knowledge base a conversation belongs to: the first picker at the composer's foot."""

from __future__ import annotations

import asyncio
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from devflow.domain.errors import UserFacing
from devflow.domain.knowledge_base import KnowledgeBase
from devflow.ui.context import UiContext
from devflow.ui.widgets import Choice, Picker
from devflow.wiki.founding import Survey, WouldOverwrite, is_base, survey
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
        self.setToolTip(self._base.path if self._base is not None else t("Answer from a folder of Markdown pages"))

    def _picked(self, data: object) -> None:
        if data == _OPEN:
            self.open_folder()
        elif data == _NONE:
            self.base_chosen.emit(None)
        else:
            self.base_chosen.emit(next((base for base, _ in self._bases if base.id == data), None))

    async def _open_folder(self) -> None:
        start = str(Path(self._base.path).parent) if self._base is not None else str(Path.home())
        chosen = await self._ctx.dialogs.choose_folder(self._ctx.t("Choose a folder"), start)
        if chosen is None:
            return
        folder = Path(chosen)
        base = None
        if await asyncio.to_thread(is_base, folder):
            base = await self._ctx.services.bases.open(folder)
        else:
            base = await found_base(self._ctx, folder)
        if base is not None:
            self.base_chosen.emit(base)


async def found_base(ctx: UiContext, folder: Path) -> KnowledgeBase | None:
    """Ask what the folder is to be for, and make it a knowledge base; None where the user would rather not."""
    t, bases = ctx.t, ctx.services.bases
    found = await asyncio.to_thread(survey, folder)
    purpose = ""
    while True:
        answer = await ctx.dialogs.prompt(
            t("Make {name} a knowledge base", name=folder.name),
            f"{survey_sentence(ctx, found)}\n{t('What is it for? One sentence; it goes into purpose.md.')}",
            value=purpose,
            act=t("Make it one"),
        )
        if answer is None:
            return None
        purpose = answer
        try:
            return await bases.initialise(folder, purpose)
        except WouldOverwrite as problem:
            replace = await ctx.dialogs.confirm(
                t("Replace files that are there?"),
                t(
                    "{files} would be replaced. Copies go into a backup folder first.",
                    files=", ".join(problem.files),
                ),
                act=t("Replace"),
            )
            return await bases.initialise(folder, purpose, overwrite=True) if replace else None
        except UserFacing as problem:
            await ctx.dialogs.tell(problem.render(t), problem.render_hint(t))


def survey_sentence(ctx: UiContext, found: Survey) -> str:
    """What a folder holds that can be digested."""
    t = ctx.t
    if not found.counts:
        return t("The folder holds nothing that can be digested yet.")
    kinds = ", ".join(f"{count} {suffix}" for suffix, count in sorted(found.counts.items()))
    names = ", ".join(found.samples)
    return t("It holds {kinds}: {names}", kinds=kinds, names=names) + ("…" if _more(found) else "")


def _more(found: Survey) -> bool:
    return found.more or sum(found.counts.values()) > len(found.samples)
