"""The entries that resemble the one that is read: how much, by which words, and ways to compare and to merge."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from devflow.knowledge.similar import Likeness
from devflow.ui.context import UiContext
from devflow.ui.models.likeness import address, flag, how_alike, shared
from devflow.ui.models.words import kind_name
from devflow.ui.widgets import Button, Card, Chip, Label, Paragraph
from devflow.ui.widgets.cards import section_title
from devflow.ui.widgets.entry_parts import Link


class SimilarList(QWidget):
    """Hidden while nothing resembles the entry. Both signals carry the Likeness."""

    compare_asked = Signal(object)
    merge_asked = Signal(object)

    def __init__(self, ctx: UiContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._ctx = ctx
        self._similar: tuple[Likeness, ...] = ()
        self._may_merge = False
        self.setObjectName("similarEntries")
        self.setAccessibleName(ctx.t("Similar entries"))
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 20)
        self._column.setSpacing(8)
        self._card: Card | None = None
        self._column.addWidget(section_title(ctx.t("Similar entries")))
        self.hide()

    @property
    def similar(self) -> tuple[Likeness, ...]:
        return self._similar

    def show_similar(self, similar: Sequence[Likeness], *, may_merge: bool) -> None:
        """Most alike first; an archived entry is not merged."""
        if (tuple(similar), may_merge) == (self._similar, self._may_merge):
            return
        self._similar, self._may_merge = tuple(similar), may_merge
        if self._card is not None:
            self._card.hide()
            self._card.deleteLater()
        self._card = Card(padding=14)
        for likeness in self._similar:
            row = _Row(self._ctx, likeness, may_merge)
            row.compare_asked.connect(self.compare_asked)
            row.merge_asked.connect(self.merge_asked)
            self._card.add_row(row)
        self._column.addWidget(self._card)
        self.setVisible(bool(self._similar))


class _Row(QWidget):
    compare_asked = Signal(object)
    merge_asked = Signal(object)

    def __init__(self, ctx: UiContext, likeness: Likeness, may_merge: bool) -> None:
        super().__init__()
        t, entry = ctx.t, likeness.entry
        self._ctx = ctx
        self._likeness = likeness
        self.setObjectName("similarEntry")
        chip = Chip("", "tag")
        chip.show_kind(kind_name(t, entry.kind), entry.kind.value)
        self.title = Link(ctx, role="ui-strong")
        self.title.show_link(entry.title, address(likeness))
        self.title.clicked.connect(self._open)
        compare = Button(ctx, t("Compare"), variant="link", small=True)
        compare.setObjectName("compareSimilarButton")
        compare.setAccessibleName(t("Compare with “{title}”", title=entry.title))
        compare.clicked.connect(self._compare)
        head = QHBoxLayout()
        head.setSpacing(8)
        head.addWidget(chip)
        head.addWidget(self.title)
        head.addStretch(1)
        head.addWidget(Label(how_alike(t, likeness), "small", "muted"))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 8, 0, 8)
        column.setSpacing(2)
        column.addLayout(head)
        foot = QHBoxLayout()
        foot.setSpacing(12)
        words = flag(t, likeness) or shared(t, likeness)
        foot.addWidget(Paragraph(ctx, words, "small", "warning" if likeness.contradicts else "text-muted"), 1)
        foot.addWidget(compare)
        if may_merge:
            merge = Button(ctx, t("Merge…"), variant="link", small=True)
            merge.setObjectName("mergeSimilarButton")
            merge.setAccessibleName(t("Merge with “{title}”", title=entry.title))
            merge.clicked.connect(self._merge)
            foot.addWidget(merge)
        column.addLayout(foot)

    def _open(self) -> None:
        self._ctx.shell.open_link(self.title.address)

    def _compare(self) -> None:
        self.compare_asked.emit(self._likeness)

    def _merge(self) -> None:
        self.merge_asked.emit(self._likeness)
