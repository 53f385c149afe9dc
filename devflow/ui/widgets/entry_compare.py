"""Two texts of one entry, the stored one and the typed one: compare, then choose or merge."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from devflow.ui.context import UiContext
from devflow.ui.models.words import kind_name, listed
from devflow.ui.widgets.buttons import Button
from devflow.ui.widgets.cards import Card
from devflow.ui.widgets.chips import Label
from devflow.ui.widgets.diff import ProseDiff
from devflow.ui.widgets.entry_form import Fields


class EntryCompare(QWidget):
    """Nothing is lost by any of the three choices: the typed text stays at hand."""

    keep_mine = Signal()
    take_other = Signal()
    merge = Signal()

    def __init__(self, ctx: UiContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._ctx = ctx
        self.setObjectName("compareTexts")
        t = ctx.t
        self.diff = ProseDiff(ctx)
        card = Card(padding=0)
        card.column.setContentsMargins(1, 1, 1, 1)
        card.column.addWidget(self.diff)
        page = QWidget()
        page.setProperty("role", "page")
        inner = QVBoxLayout(page)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.addWidget(card)
        inner.addStretch(1)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setWidget(page)
        row = QHBoxLayout()
        row.setSpacing(8)
        for name, text, variant, signal in (
            ("keepMineButton", t("Keep mine"), "primary", self.keep_mine),
            ("takeOtherButton", t("Take the other"), "default", self.take_other),
            ("mergeByHandButton", t("Merge by hand"), "default", self.merge),
        ):
            button = Button(ctx, text, variant=variant)
            button.setAutoDefault(False)
            button.setObjectName(name)
            button.clicked.connect(signal)
            row.addWidget(button)
        row.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(10)
        column.addWidget(Label(t("This entry changed elsewhere while you edited it."), "ui-strong", wrap=True))
        column.addWidget(Label(t("Red is what is stored now, green is yours."), "small", "muted", wrap=True))
        column.addWidget(area, 1)
        column.addLayout(row)

    def show_texts(self, other: Fields, mine: Fields) -> None:
        self.diff.set_texts(self._whole(other, mine), self._whole(mine, other))

    def _whole(self, fields: Fields, beside: Fields) -> str:
        """Everything that differs, as one text: heading lines for the short fields, then the content."""
        t = self._ctx.t
        parts = [fields.title]
        if fields.kind != beside.kind:
            parts.append(t("{field}: {value}", field=t("Kind"), value=kind_name(t, fields.kind)))
        if fields.tags != beside.tags:
            parts.append(t("{field}: {value}", field=t("Tags"), value=listed(t, fields.tags)))
        return "\n".join((*parts, fields.content))
