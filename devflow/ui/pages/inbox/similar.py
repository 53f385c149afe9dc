"""Entries that resemble the candidate, one at a time, as a diff from what is there to what is proposed; and whether the
one that is shown may contradict it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from devflow.domain.knowledge import Entry
from devflow.knowledge.similar import Likeness
from devflow.ui.context import UiContext
from devflow.ui.models.likeness import address, how_alike, reasons, shared
from devflow.ui.models.words import kind_name
from devflow.ui.widgets import Button, Card, Chip, Hairline, IconButton, Label, NoticeStrip, Paragraph
from devflow.ui.widgets.diff import ProseDiff
from devflow.ui.widgets.entry_parts import Link


class SimilarPanel(QWidget):
    """Hidden while nothing resembles the candidate. `compare` and `dismiss` are about the one that is shown."""

    compare = Signal()
    dismiss = Signal()

    def __init__(self, ctx: UiContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._ctx = ctx
        self._entry: Entry | None = None
        self._hits: tuple[Likeness, ...] = ()
        self._at = 0
        self.setObjectName("similarPanel")
        self.setAccessibleName(ctx.t("Similar entries"))
        self._count = Label("", "ui", "faint")
        self._chip = Chip("", "tag")
        self._title = Link(ctx, role="ui-strong")
        self._title.clicked.connect(self._open)
        self._where = Label("", "small", "muted")
        self._back = IconButton(ctx, "chevron-left", ctx.t("Previous similar entry"), small=True)
        self._back.clicked.connect(self._previous)
        self._place = Label("", "small", "muted")
        self._forth = IconButton(ctx, "chevron-right", ctx.t("Next similar entry"), small=True)
        self._forth.clicked.connect(self._next)
        self._compare = Button(ctx, ctx.t("Compare"), variant="link", small=True)
        self._compare.setObjectName("compareSimilarButton")
        self._compare.clicked.connect(self.compare)
        self._shared = Paragraph(ctx, "", "small", "text-muted")
        self.contradiction = NoticeStrip(ctx, "", "warning", link=ctx.t("Not a contradiction"))
        self.contradiction.setObjectName("contradictionStrip")
        self.contradiction.link.setObjectName("dismissContradictionButton")
        self.contradiction.acted.connect(self.dismiss)
        self._diff = ProseDiff(ctx)
        heading = QHBoxLayout()
        heading.setSpacing(5)
        heading.addWidget(Label(ctx.t("Similar entries"), "section"))
        heading.addWidget(self._count)
        heading.addStretch(1)
        card = Card(padding=0)
        card.column.setContentsMargins(0, 0, 0, 4)
        card.column.addWidget(self._head())
        card.column.addWidget(Hairline())
        card.column.addLayout(self._notes())
        card.column.addSpacing(2)
        card.column.addWidget(self._diff)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 28, 0, 0)
        column.setSpacing(10)
        column.addLayout(heading)
        column.addWidget(card)
        self.hide()

    @property
    def current(self) -> Likeness | None:
        """The one that is shown."""
        return self._hits[self._at] if self._hits and not self.isHidden() else None

    def show_similar(self, entry: Entry, hits: Sequence[Likeness]) -> None:
        """Those that may contradict it first; the one that is looked at stays."""
        hits = tuple(sorted(hits, key=lambda hit: hit.contradicts is None))
        if entry == self._entry and hits == self._hits:
            return
        looked_at = self.current.entry.id if self.current is not None and entry.id == self._id else None
        places = [place for place, hit in enumerate(hits) if hit.entry.id == looked_at]
        self._entry, self._hits, self._at = entry, hits, places[0] if places else 0
        self.setVisible(bool(hits))
        if hits:
            self._show()

    def _head(self) -> QWidget:
        head = QWidget()
        head.setFixedHeight(38)
        row = QHBoxLayout(head)
        row.setContentsMargins(14, 0, 8, 0)
        row.setSpacing(8)
        row.addWidget(self._chip)
        row.addWidget(self._title)
        row.addStretch(1)
        row.addWidget(self._where)
        row.addWidget(self._compare)
        row.addWidget(self._back)
        row.addWidget(self._place)
        row.addWidget(self._forth)
        return head

    def _show(self) -> None:
        if self._entry is None:
            return
        t, hit, several = self._ctx.t, self._hits[self._at], len(self._hits) > 1
        self._count.setText(str(len(self._hits)))
        self._chip.show_kind(kind_name(t, hit.entry.kind), hit.entry.kind.value)
        self._title.show_link(hit.entry.title, address(hit))
        self._where.setText(how_alike(t, hit))
        words = shared(t, hit)
        self._shared.setText(words)
        self._shared.setVisible(bool(words))
        if hit.contradicts is None:
            self.contradiction.hide()
        else:
            self.contradiction.say("\n".join((t("May contradict this candidate."), *reasons(t, hit.contradicts))))
        self._place.setText(f"{self._at + 1}/{len(self._hits)}")
        for widget in (self._back, self._place, self._forth):
            widget.setVisible(several)
        self._diff.set_texts(hit.entry.content, self._entry.content)

    @property
    def _id(self) -> str | None:
        return None if self._entry is None else self._entry.id

    def _notes(self) -> QVBoxLayout:
        notes = QVBoxLayout()
        notes.setContentsMargins(13, 8, 13, 4)
        notes.setSpacing(8)
        notes.addWidget(self._shared)
        notes.addWidget(self.contradiction)
        return notes

    def _previous(self) -> None:
        self._at = (self._at - 1) % len(self._hits)
        self._show()

    def _next(self) -> None:
        self._at = (self._at + 1) % len(self._hits)
        self._show()

    def _open(self) -> None:
        self._ctx.shell.open_link(self._title.address)
