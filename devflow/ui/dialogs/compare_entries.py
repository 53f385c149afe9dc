"""Two entries side by side: what differs, and why they may contradict each other."""

from __future__ import annotations

from typing import Literal

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from devflow.domain.knowledge import Entry
from devflow.knowledge.contradict import Contradiction
from devflow.ui.context import UiContext
from devflow.ui.models.likeness import reasons
from devflow.ui.models.moments import local_now, moment
from devflow.ui.models.words import kind_name, status_name
from devflow.ui.widgets import Button, Card, Chip, Label, NoticeStrip, Paragraph
from devflow.ui.widgets.diff import ProseDiff
from devflow.ui.widgets.diffing import DiffLine, Side, diff_lines, paragraphs

Choice = Literal["", "merge", "dismiss"]


class CompareEntries(QDialog):
    """The other one left, the entry right. `choice` says what the human wants next: nothing, to merge them, or to say
    that they do not contradict each other."""

    def __init__(
        self,
        ctx: UiContext,
        entry: Entry,
        other: Entry,
        contradiction: Contradiction | None = None,
        *,
        may_merge: bool = True,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        t = ctx.t
        self._ctx = ctx
        self.choice: Choice = ""
        self.setObjectName("compareEntries")
        self.setWindowTitle(t("Compare"))
        self.setMinimumSize(640, 420)
        self.resize(920, 560)
        rows = diff_lines(paragraphs(other.content), paragraphs(entry.content), None)
        pair = QHBoxLayout()
        pair.setSpacing(12)
        pair.addWidget(self._side(other, [row for row in rows if row.side is not Side.ADDED], "compareOther"), 1)
        pair.addWidget(self._side(entry, [row for row in rows if row.side is not Side.REMOVED], "compareThis"), 1)
        page = QWidget()
        page.setProperty("role", "page")
        inner = QVBoxLayout(page)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.addLayout(pair)
        inner.addStretch(1)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidget(page)
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 20, 24, 16)
        column.setSpacing(10)
        column.addWidget(Label(t("Two entries side by side"), "heading"))
        self.reason = NoticeStrip(ctx, "", "warning")
        self.reason.setObjectName("contradictionReason")
        self.reason.hide()
        column.addWidget(self.reason)
        if contradiction is not None:
            self.reason.say("\n".join((t("They may contradict each other."), *reasons(t, contradiction))))
        column.addWidget(area, 1)
        column.addLayout(self._foot(contradiction is not None, may_merge))

    def _side(self, entry: Entry, rows: list[DiffLine], name: str) -> QWidget:
        t, ctx = self._ctx.t, self._ctx
        chip = Chip("", "tag")
        chip.show_kind(kind_name(t, entry.kind), entry.kind.value)
        facts = QHBoxLayout()
        facts.setSpacing(8)
        facts.addWidget(chip)
        when = t("changed {when}", when=moment(t, entry.updated_at, local_now()))
        where = entry.project.name if entry.project is not None else t("All projects")
        facts.addWidget(Label(" · ".join((status_name(t, entry.status), where, when)), "small", "muted"), 1)
        text = ProseDiff(ctx)
        text.show_rows(rows)
        text.setAccessibleName(entry.title)
        card = Card(padding=0)
        card.column.setContentsMargins(1, 1, 1, 1)
        card.column.addWidget(text)
        side = QWidget()
        side.setObjectName(name)
        column = QVBoxLayout(side)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addWidget(Paragraph(ctx, entry.title, "ui-strong", "text"))
        column.addLayout(facts)
        column.addWidget(card)
        if entry.tags:
            column.addWidget(Paragraph(ctx, " ".join(f"#{tag}" for tag in entry.tags), "small", "text-muted"))
        column.addStretch(1)
        return side

    def _foot(self, contradicting: bool, may_merge: bool) -> QHBoxLayout:
        t, ctx = self._ctx.t, self._ctx
        row = QHBoxLayout()
        row.setSpacing(8)
        self.dismiss = Button(ctx, t("Not a contradiction"))
        self.dismiss.setObjectName("dismissContradictionButton")
        self.dismiss.setToolTip(t("They are no longer said to contradict each other, until one of the texts changes"))
        self.dismiss.clicked.connect(self._dismiss)
        self.merge = Button(ctx, t("Merge…"))
        self.merge.setObjectName("compareMergeButton")
        self.merge.clicked.connect(self._merge)
        close = Button(ctx, t("Close"))
        close.setObjectName("closeCompareButton")
        close.clicked.connect(self.reject)
        for button, offered in ((self.dismiss, contradicting), (self.merge, may_merge), (close, True)):
            button.setAutoDefault(False)
            if not offered:
                button.hide()
            row.addWidget(button)
        row.insertStretch(1)
        return row

    def _dismiss(self) -> None:
        self.choice = "dismiss"
        self.accept()

    def _merge(self) -> None:
        self.choice = "merge"
        self.accept()
