"""The samples, after the first page is gone: load them, or take them out of the library again."""

from __future__ import annotations

from devflow.ui.context import UiContext
from devflow.ui.samples import load_samples, remove_samples
from devflow.ui.widgets import Button, OptionRow


class SamplesRow(OptionRow):
    """Acts at once; what the library holds is read again after every change."""

    def __init__(self, ctx: UiContext) -> None:
        self.button = Button(ctx, "")
        self.button.setObjectName("samplesButton")
        super().__init__(ctx, ctx.t("Samples"), "", self.button)
        self._ctx = ctx
        self._loaded = False
        self.button.setEnabled(False)
        self.button.clicked.connect(self._act)
        ctx.events.entries_changed.connect(self._refresh)
        ctx.events.bases_changed.connect(self._refresh)
        ctx.events.settings_changed.connect(self._refresh)
        self._refresh()

    def _refresh(self, _ids: object = None) -> None:
        self._ctx.tasks.launch(self._read(), what="look for the samples", owner=self)

    async def _read(self) -> None:
        t = self._ctx.t
        self._loaded = await self._ctx.services.samples.state()
        if self._loaded:
            words, act = t("12 entries and a small wiki about DevFlow are there."), t("Remove")
        else:
            words, act = t("12 entries and a small wiki about DevFlow, to try it with."), t("Load")
        self.set_words(self.title.text(), words)
        self.button.set_label(act)
        self.button.setAccessibleName(f"{self.title.text()}: {act}")
        self.button.setEnabled(True)

    def _act(self) -> None:
        self.button.setEnabled(False)
        if self._loaded:
            self._ctx.tasks.launch(remove_samples(self._ctx), what="remove the samples")
        else:
            self._ctx.tasks.launch(load_samples(self._ctx), what="load the samples")
