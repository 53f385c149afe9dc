"""The providers as the settings dialog edits them: read, added, asked, tested, saved and removed."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import shiboken6
from PySide6.QtCore import QObject, Signal

from devflow.domain.errors import InvalidInput, NotFound, UserFacing
from devflow.domain.provider import LineState, Probe, ProviderDraft, TestLine
from devflow.providers.presets import Preset
from devflow.ui.context import UiContext
from devflow.ui.dialogs.settings.provider_edit import ProviderEdit, Reach
from devflow.ui.dialogs.settings.provider_words import Standing, standing
from devflow.ui.models.refresh import Refresher
from devflow.ui.models.troubled import Troubled

if TYPE_CHECKING:
    from devflow.models.keys import Place
    from devflow.providers.discovery import Found

LOOK_FOR = 3.0
"""Seconds that a server of this machine has to show that it runs."""
ADOPTED = 12
"""A server that lists at most so many models has all of them taken; from a longer list the user chooses."""


class Providers(QObject):
    """`listed` when there are other providers, `edited(ProviderEdit)` when one of them changed.

    `refused(UserFacing)`: something failed that belongs to no field.
    """

    listed = Signal()
    edited = Signal(object)
    found_changed = Signal()
    keys_known = Signal()
    refused = Signal(object)

    def __init__(self, ctx: UiContext, parent: QObject) -> None:
        super().__init__(parent)
        self._models, self._keys, self._tasks = ctx.services.models, ctx.services.keys, ctx.tasks
        self.presets: tuple[Preset, ...] = ()
        self.edits: list[ProviderEdit] = []
        self.found: tuple[Found, ...] = ()
        self.place: Place | None = None
        """Where keys are kept, once it is known."""
        self._count = 0
        self._busy = False
        self._t, self._troubled = ctx.t, Troubled.of(ctx)
        self._troubled.changed.connect(self.listed)
        self._reread = Refresher(ctx.tasks, self._reload, "read the providers", self)
        ctx.events.providers_changed.connect(self._changed_elsewhere)

    # reading

    async def load(self) -> None:
        self.presets = self._models.presets()
        await self._take(has_keys=False)
        self._launch(self._look_at_keys(), "look for keys")
        self._launch(self._discover(), "look for local servers")
        for edit in self.edits:
            if edit.is_local:
                self._launch(self._look(edit), "look whether a server runs")

    def preset(self, id: str) -> Preset:
        known = {preset.id: preset for preset in self.presets}
        return known.get(id, self.presets[-1])

    def standing(self, edit: ProviderEdit) -> Standing:
        """What the list says of it."""
        return standing(self._t, edit, self.place, troubled=edit.id in self._troubled)

    @property
    def news(self) -> int:
        """How many providers are new or changed."""
        return sum(edit.changed for edit in self.edits)

    def _changed_elsewhere(self, _ids: object = None) -> None:
        if not self._busy:
            self._reread.ask()

    async def _reload(self) -> None:
        await self._take(has_keys=True)
        await self._discover()

    async def _take(self, *, has_keys: bool) -> None:
        """Put what is stored beside what is edited; a new provider that is not stored yet stays at the end."""
        configs = await self._models.list()
        keys = [await self._models.has_key(config.id) if has_keys else False for config in configs]
        if self._busy:
            return
        known = {edit.id: edit for edit in self.edits}
        taken: list[ProviderEdit] = []
        for config, has_key in zip(configs, keys, strict=True):
            edit = known.get(config.id)
            if edit is None:
                edit = ProviderEdit.stored(config, self.preset(config.preset), has_key=has_key)
            else:
                edit.rebase(config, has_key=has_key)
            taken.append(edit)
        self.edits = taken + [edit for edit in self.edits if edit.is_new]
        self.listed.emit()
        for edit in self.edits:
            self.edited.emit(edit)

    async def _look_at_keys(self) -> None:
        self.place = await self._keys.where()
        for edit in self.edits:
            if edit.config is not None:
                edit.has_key = await self._models.has_key(edit.id)
                self._tell(edit)
        if shiboken6.isValid(self):
            self.keys_known.emit()

    async def _discover(self) -> None:
        found = await self._models.discover()
        if shiboken6.isValid(self) and found != self.found:
            self.found = found
            self.found_changed.emit()

    async def _look(self, edit: ProviderEdit) -> None:
        edit.reach = Reach.ASKING
        try:
            async with asyncio.timeout(LOOK_FOR):
                edit.offered = await self._models.fetch_models(edit.to_ask(), key=edit.key)
            edit.reach = Reach.RUNNING
        except (UserFacing, TimeoutError):
            edit.reach = Reach.SILENT
        self._tell(edit)

    # editing

    def add(self, preset: Preset, name: str) -> ProviderEdit:
        """A new provider of a known kind, not stored yet."""
        return self._add(preset, ProviderDraft(self._free(name), preset.base_url))

    def add_found(self, server: Found) -> ProviderEdit:
        """A server that runs on this machine, with every model that it has."""
        edit = self._add(
            self.preset(server.preset), ProviderDraft(self._free(server.name), server.base_url, models=server.models)
        )
        edit.offered, edit.reach = server.models, Reach.RUNNING
        self.found = tuple(other for other in self.found if other != server)
        self.found_changed.emit()
        return edit

    def _add(self, preset: Preset, draft: ProviderDraft) -> ProviderEdit:
        self._count += 1
        edit = ProviderEdit.new(f"new:{self._count}", preset, draft)
        self.edits.append(edit)
        self.listed.emit()
        return edit

    def _free(self, name: str) -> str:
        taken = {edit.name for edit in self.edits}
        names = (name if number == 1 else f"{name} {number}" for number in range(1, len(taken) + 2))
        return next(each for each in names if each not in taken)

    def change(self, edit: ProviderEdit, name: str, value: object) -> None:
        """Type into a field: `name`, `base_url`, `models` or `key`."""
        if name == "key":
            edit.key = value if isinstance(value, str) else None
        else:
            edit.values.set(name, value)
        edit.wrong.pop(name, None)
        if name == "base_url":
            edit.wrong.pop("key", None)
            edit.reach, edit.offered = Reach.UNKNOWN, ()
        self.edited.emit(edit)

    async def remove(self, edit: ProviderEdit) -> None:
        """Forget it, stored or not."""
        self.cancel(edit)
        if edit.config is not None:
            with suppress(NotFound):  # another process was quicker
                await self._models.remove(edit.id)
        self.edits = [other for other in self.edits if other is not edit]
        self.listed.emit()
        self._launch(self._discover(), "look for local servers")

    # asking its server

    def test(self, edit: ProviderEdit) -> None:
        if edit.testing is None:
            edit.lines.clear()
            edit.report = edit.tested = None
            edit.testing = self._launch(self._test(edit), "test a provider")
            self.edited.emit(edit)

    def list_models(self, edit: ProviderEdit) -> None:
        """Ask which models there are."""
        if edit.listing is None:
            edit.wrong.pop("models", None)
            edit.listing = self._launch(self._list(edit), "list models")
            self.edited.emit(edit)

    def cancel(self, edit: ProviderEdit) -> None:
        for task in (edit.testing, edit.listing):
            if task is not None:
                task.cancel()

    async def _test(self, edit: ProviderEdit) -> None:
        def progress(line: TestLine) -> None:
            edit.lines[line.what] = line
            if line.what is Probe.REACHABLE and edit.is_local:
                edit.reach = Reach.RUNNING if line.state is LineState.OK else Reach.SILENT
            self._tell(edit)

        tested = edit.tests()
        try:
            report = await self._models.test(edit.to_ask(), key=edit.key, progress=progress)
            edit.report, edit.tested = report, tested
            edit.lines = {line.what: line for line in report.lines}
            if edit.config is not None and not edit.changed:
                await self._models.save_test(edit.id, report)
                if report.usable:
                    self._troubled.answered(edit.id)
            elif not edit.models and _said_ok(report.lines, Probe.MODELS):
                await self.adopt_models(edit)
                edit.tested = edit.tests()
        except InvalidInput as error:
            edit.wrong[error.field] = error
        finally:
            edit.testing = None
            self._tell(edit)

    async def _list(self, edit: ProviderEdit) -> None:
        try:
            await self.adopt_models(edit)
        except InvalidInput as error:
            edit.wrong[error.field if error.field in ("name", "base_url", "key") else "models"] = error
        except UserFacing as error:
            edit.wrong["models"] = error
        finally:
            edit.listing = None
            self._tell(edit)

    async def adopt_models(self, edit: ProviderEdit) -> None:
        """Read the server's list; a short one is taken whole where none was chosen. Raises what the server said."""
        edit.offered = await self._models.fetch_models(edit.to_ask(), key=edit.key)
        if not edit.models and len(edit.offered) <= ADOPTED:
            edit.values.set("models", edit.offered)
        if edit.is_local:
            edit.reach = Reach.RUNNING

    # saving

    async def save(self, edit: ProviderEdit) -> None:
        """Store one; raises InvalidInput or KeyNeeded, and the edit stays as it was."""
        self._busy = True
        try:
            fresh = edit.report if edit.tested == edit.tests() else None
            if edit.config is None:
                config = await self._models.add(edit.draft(), edit.key or "")
            else:
                config = await self._models.update(edit.id, edit.draft(), key=edit.key)
            edit.id, edit.key = config.id, None
            edit.report, edit.tested = fresh or config.last_test, None
            edit.rebase(config, has_key=await self._models.has_key(config.id))
            if fresh is not None:
                await self._models.save_test(config.id, fresh)
        finally:
            self._busy = False
        self._tell(edit)

    def _launch(self, work: Coroutine[Any, Any, None], what: str) -> asyncio.Task[None]:
        return self._tasks.launch(work, what=what, owner=self, refused=self.refused.emit)

    def _tell(self, edit: ProviderEdit) -> None:
        """A task that ends because the dialog is gone has nobody to tell."""
        if shiboken6.isValid(self):
            self.edited.emit(edit)


def _said_ok(lines: Iterable[TestLine], what: Probe) -> bool:
    return any(line.what is what and line.state is LineState.OK for line in lines)
