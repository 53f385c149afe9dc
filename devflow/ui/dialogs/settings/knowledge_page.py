"""Settings, Knowledge: how entries are learnt and used."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from devflow.domain.config import MIN_MESSAGES_RANGE, TriggerMode
from devflow.domain.errors import UserFacing
from devflow.ui.context import UiContext
from devflow.ui.dialogs.settings.drafts import Drafts
from devflow.ui.dialogs.settings.idle_box import IdleBox
from devflow.ui.dialogs.settings.meaning_rows import MeaningRows
from devflow.ui.dialogs.settings.page import SettingsPage, reason_row
from devflow.ui.widgets import ComboBox, OptionRow, SpinBox, Switch


class KnowledgePage(SettingsPage):
    def __init__(self, ctx: UiContext, drafts: Drafts) -> None:
        t = ctx.t
        super().__init__(
            ctx,
            "settingsKnowledge",
            t("Knowledge"),
            t("What is learnt in conversations goes to the inbox first; you decide what is published."),
        )
        self._drafts = drafts
        self.auto_extract = Switch(ctx, t("Extract automatically"))
        self.auto_extract.setObjectName("autoExtract")
        self.trigger_mode = ComboBox(ctx, name=t("When to extract"), width=190)
        self.trigger_mode.setObjectName("triggerMode")
        self.trigger_mode.add(t("When the run ends"), TriggerMode.ON_COMPLETE)
        self.trigger_mode.add(t("When the chat is quiet"), TriggerMode.ON_IDLE)
        self.trigger_mode.add(t("By hand only"), TriggerMode.MANUAL_ONLY)
        low, high = MIN_MESSAGES_RANGE
        self.min_messages = SpinBox(name=t("Fewest messages"), low=low, high=high, width=88)
        self.min_messages.setObjectName("minMessages")
        self.idle_timeout = IdleBox(ctx, t("Quiet time"))
        self.idle_timeout.setFixedWidth(104)
        self.idle_timeout.setObjectName("idleTimeoutMs")
        self.auto_inject = Switch(ctx, t("Use knowledge in answers"))
        self.auto_inject.setObjectName("autoInject")
        self._idle_row = OptionRow(ctx, t("Quiet time"), "", self.idle_timeout)
        self._idle_words = t("A conversation that nobody touched for so long is extracted.")
        self.add_section(
            t("Extraction"),
            OptionRow(
                ctx,
                t("Extract automatically"),
                t("In the background after the run ends; the chat does not wait."),
                self.auto_extract,
            ),
            OptionRow(
                ctx,
                t("When to extract"),
                t("By hand, “Extract now” works in every mode."),
                self.trigger_mode,
            ),
            OptionRow(ctx, t("Fewest messages"), t("Those of the user and of the assistant count."), self.min_messages),
            self._idle_row,
        )
        self.add_section(
            t("Use"),
            OptionRow(
                ctx,
                t("Use knowledge in answers"),
                t("Up to 3 matching entries in every turn, also when a run goes on after an approval."),
                self.auto_inject,
            ),
        )
        self.meaning = MeaningRows(ctx, drafts, self)
        self.add_section(t("Search by meaning"), *self.meaning.rows)
        self.finish()
        self.show_values()
        self.auto_extract.toggled.connect(self._auto_extract)
        self.trigger_mode.currentIndexChanged.connect(self._trigger_mode)
        self.min_messages.valueChanged.connect(self._min_messages)
        self.idle_timeout.valueChanged.connect(self._idle_timeout)
        self.auto_inject.toggled.connect(self._auto_inject)
        drafts.changed.connect(self.show_values)

    def first_field(self) -> QWidget | None:
        return self.auto_extract

    def show_wrong(self, field: str, error: UserFacing) -> QWidget | None:
        return self.meaning.show_wrong(error) if field.startswith("embedding_") else None

    def show_values(self) -> None:
        """Show what the drafts hold; what is shown already is left alone, the cursor with it."""
        values, t = self._drafts.knowledge, self._ctx.t
        self.auto_extract.setChecked(values["auto_extract"])
        self.trigger_mode.select_data(values["trigger_mode"])
        for box, name in ((self.min_messages, "min_messages"), (self.idle_timeout, "idle_timeout_ms")):
            if box.value() != values[name]:
                box.setValue(values[name])
        self.auto_inject.setChecked(values["auto_inject"])
        idle = values["trigger_mode"] == TriggerMode.ON_IDLE
        reason_row(self._idle_row, idle, self._idle_words, t("Available with “When the chat is quiet”."))

    def _auto_extract(self, on: bool) -> None:
        self._set("auto_extract", on)

    def _trigger_mode(self, _index: int) -> None:
        self._set("trigger_mode", TriggerMode(self.trigger_mode.currentData()))

    def _min_messages(self, value: int) -> None:
        self._set("min_messages", value)

    def _idle_timeout(self, value: int) -> None:
        self._set("idle_timeout_ms", value)

    def _auto_inject(self, on: bool) -> None:
        self._set("auto_inject", on)

    def _set(self, name: str, value: object) -> None:
        self._drafts.set(self._drafts.knowledge, name, value)
