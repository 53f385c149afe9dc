"""Which model does what: one picker for each role."""

from __future__ import annotations

from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from devflow.domain.conversation import OFFLINE, ModelChoice
from devflow.ui.context import UiContext
from devflow.ui.dialogs.settings.drafts import Drafts
from devflow.ui.widgets import ComboBox, Label


class RolesRow(QWidget):
    def __init__(self, ctx: UiContext, drafts: Drafts) -> None:
        super().__init__()
        self._ctx = ctx
        self._drafts = drafts
        t = ctx.t
        self.main = ComboBox(ctx, name=t("Chat"))
        self.main.setObjectName("mainModel")
        self.digest = ComboBox(ctx, name=t("Digest"))
        self.digest.setObjectName("digestModel")
        self.extraction = ComboBox(ctx, name=t("Extraction"))
        self.extraction.setObjectName("extractionModel")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(Label(t("Roles"), "section"))
        column.addSpacing(6)
        row = QHBoxLayout()
        row.setSpacing(12)
        titled = ((t("Chat"), self.main), (t("Digest"), self.digest), (t("Extraction"), self.extraction))
        for title, box in titled:
            box.setSizeAdjustPolicy(ComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
            box.setMinimumContentsLength(12)
            part = QVBoxLayout()
            part.setSpacing(3)
            label = Label(title, "small", "muted")
            label.setBuddy(box)
            part.addWidget(label)
            part.addWidget(box)
            row.addLayout(part, 1)
        column.addLayout(row)
        self.show_values()
        self.main.activated.connect(self._main_chosen)
        self.digest.activated.connect(self._digest_chosen)
        self.extraction.activated.connect(self._extraction_chosen)
        drafts.changed.connect(self.show_values)

    def show_values(self) -> None:
        t, drafts = self._ctx.t, self._drafts
        models = [(_text(choice, edit.name, self._several), choice) for choice, edit in drafts.choices()]
        _fill(self.main, [*models, (t("Offline assistant"), OFFLINE)], drafts.main())
        for box, name in ((self.digest, "digest"), (self.extraction, "extraction")):
            _fill(box, [(t("Same as chat"), None), *models], drafts.role(name))

    @property
    def _several(self) -> bool:
        return len({edit.id for _, edit in self._drafts.choices()}) > 1

    def _main_chosen(self, _index: int) -> None:
        self._drafts.set(self._drafts.roles, "main", self.main.currentData())

    def _digest_chosen(self, _index: int) -> None:
        self._drafts.set(self._drafts.roles, "digest", self.digest.currentData())

    def _extraction_chosen(self, _index: int) -> None:
        self._drafts.set(self._drafts.roles, "extraction", self.extraction.currentData())


def _text(choice: ModelChoice, provider: str, several: bool) -> str:
    return f"{choice.model} · {provider}" if several else choice.model


def _fill(box: ComboBox, rows: list[tuple[str, ModelChoice | None]], chosen: ModelChoice | None) -> None:
    """A stored choice whose provider no longer lists it is shown all the same: it is what is used."""
    if chosen is not None and chosen not in [choice for _, choice in rows]:
        rows = [(chosen.model, chosen), *rows]
    shown = [(box.itemText(place), box.itemData(place)) for place in range(box.count())]
    if shown != rows:
        box.clear()
        for text, choice in rows:
            box.add(text, choice)
    box.select_data(chosen)
