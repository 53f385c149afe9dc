"""Entries that resemble the candidate, one at a time, as a diff from what is there to what is proposed."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from devflow.domain.knowledge import Entry
from devflow.ui.context import UiContext
from devflow.ui.models.alike import Alike
from devflow.ui.models.words import kind_name, status_name
from devflow.ui.widgets import Card, Chip, Hairline, IconButton, Label
from devflow.ui.widgets.diff import ProseDiff
from devflow.ui.widgets.entry_parts import Link


class SimilarPanel(QWidget):
    """Hidden while nothing resembles the candidate."""

    def __init__(self, ctx: UiContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._ctx = ctx
        self._entry: Entry | None = None
        self._hits: tuple[Alike, ...] = ()
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
        card.column.addSpacing(2)
        card.column.addWidget(self._diff)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 28, 0, 0)
        column.setSpacing(10)
        column.addLayout(heading)
        column.addWidget(card)
        self.hide()

    def show_similar(self, entry: Entry, hits: Sequence[Alike]) -> None:
        hits = tuple(hits)
        if entry == self._entry and hits == self._hits:
            return
        self._entry, self._hits, self._at = entry, hits, 0
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
        page = "entry" if hit.entry.status.value in ("published", "archived") else "inbox"
        self._title.show_link(hit.entry.title, f"devflow:{page}/{hit.entry.id}")
        status = status_name(t, hit.entry.status)
        self._where.setText(t("{status} · {score} similar", status=status, score=f"{hit.score:.2f}"))
        self._place.setText(f"{self._at + 1}/{len(self._hits)}")
        for widget in (self._back, self._place, self._forth):
            widget.setVisible(several)
        self._diff.set_texts(hit.entry.content, self._entry.content)

    def _previous(self) -> None:
        self._at = (self._at - 1) % len(self._hits)
        self._show()

    def _next(self) -> None:
        self._at = (self._at + 1) % len(self._hits)
        self._show()

    def _open(self) -> None:
        self._ctx.shell.open_link(self._title.address)
