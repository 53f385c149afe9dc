"""What a turn was given: each entry and page with its number, why it was found, and whether it helped."""

from __future__ import annotations

import re

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QEnterEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget
from shiboken6 import isValid

from devflow.domain.errors import NotFound
from devflow.domain.knowledge import Entry, Kind, Status
from devflow.ui.context import UiContext
from devflow.ui.models.why import page_reason, why_item
from devflow.ui.models.words import kind_name
from devflow.ui.pages.chat.clamped import Clamped
from devflow.ui.pages.chat.turn_views import Source
from devflow.ui.widgets import Chip, EmptyState, Hairline, IconButton, Label, Pane
from devflow.ui.widgets.painting import fill_round
from devflow.ui.widgets.why import WhyButton, WhyFacts

_EDGE = 16


class SourcesPanel(Pane):
    """276 px, closable. A press on a block opens the entry; the thumbs are kept per source and lookup."""

    closed = Signal()
    opened = Signal(str)
    judged = Signal(str, str, object)
    """Receipt id, the source's ref, +1, -1 or None."""

    def __init__(self, ctx: UiContext) -> None:
        super().__init__("surface", "left")
        self._ctx = ctx
        t = ctx.t
        self._sources: tuple[Source, ...] = ()
        self._blocks: list[SourceBlock] = []
        self.setObjectName("sourcesPanel")
        self.setAccessibleName(t("Sources"))
        self._title = Label(t("Sources"), "section")
        self._count = Label("", "ui", "faint")
        self.close_button = IconButton(ctx, "cross", t("Close the sources"))
        self.close_button.setObjectName("closeSourcesButton")
        self.close_button.clicked.connect(self.closed)
        bar = QHBoxLayout()
        bar.setContentsMargins(_EDGE, 0, 12, 0)
        bar.setSpacing(5)
        bar.addWidget(self._title)
        bar.addWidget(self._count)
        bar.addStretch(1)
        bar.addWidget(self.close_button)
        head = QWidget()
        head.setFixedHeight(47)
        head.setLayout(bar)
        self._list = QVBoxLayout()
        self._list.setContentsMargins(0, 0, 0, _EDGE)
        self._list.setSpacing(0)
        self._list.addStretch(1)
        inside = QWidget()
        inside.setProperty("role", "page")
        inside.setLayout(self._list)
        self._area = QScrollArea()
        self._area.setWidgetResizable(True)
        self._area.setFrameShape(QFrame.Shape.NoFrame)
        self._area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._area.setWidget(inside)
        self._area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.nothing = EmptyState(ctx, "quote", t("No sources"), t("Nothing was found, or nothing was asked yet."))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(head)
        column.addWidget(Hairline())
        column.addWidget(self._area, 1)
        column.addWidget(self.nothing, 1)
        ctx.events.entries_changed.connect(self._entries_changed)
        self._show_count()

    @property
    def blocks(self) -> tuple[SourceBlock, ...]:
        return tuple(self._blocks)

    def show_sources(self, sources: tuple[Source, ...]) -> None:
        """Blocks that stay are kept: a thumb that was pressed does not lose the keyboard."""
        if sources == self._sources:
            return
        same = [(each.item, each.receipt_id) for each in sources] == [
            (each.item, each.receipt_id) for each in self._sources
        ]
        self._sources = sources
        if same:
            for block, source in zip(self.blocks, sources, strict=True):
                block.show_source(source)
            return
        while self._blocks:
            block = self._blocks.pop()
            self._list.removeWidget(block)
            block.hide()
            block.deleteLater()
        for place, source in enumerate(sources):
            block = SourceBlock(self._ctx, source, line=place > 0)
            block.opened.connect(self.opened)
            block.judged.connect(self.judged)
            self._list.insertWidget(place, block)
            self._blocks.append(block)
        self._show_count()
        self._read()

    def _show_count(self) -> None:
        self._count.setText(str(len(self._sources)) if self._sources else "")
        self._area.setVisible(bool(self._sources))
        self.nothing.setVisible(not self._sources)

    def _entries_changed(self, ids: object) -> None:
        shown = {source.item.ref for source in self._sources if source.item.source == "entry"}
        if isinstance(ids, frozenset) and ids & shown:
            self._read()

    def _read(self) -> None:
        self._ctx.tasks.launch(self._read_entries(), what="read sources", owner=self)

    async def _read_entries(self) -> None:
        """How often each was reused, and whether it is still in the library."""
        for block in self.blocks:
            if block.source.item.source != "entry":
                continue
            try:
                entry = await self._ctx.services.knowledge.knowledge_get(block.source.item.ref)
            except NotFound:
                entry = None
            if isValid(block):  # other sources may be shown by now
                block.show_entry(entry)


class SourceBlock(QFrame):
    """Reference, kind and score; title; two lines; reason and the two feedback buttons."""

    opened = Signal(str)
    judged = Signal(str, str, object)

    def __init__(self, ctx: UiContext, source: Source, *, line: bool) -> None:
        super().__init__()
        self._ctx = ctx
        self.source = source
        t = ctx.t
        item = source.item
        self.setObjectName("source")
        self.setProperty("focusRadius", 6)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleName(f"{source.label} {item.title}")
        head = QHBoxLayout()
        head.setSpacing(6)
        head.addWidget(Chip(source.label, "reference"))
        kind = kind_name(t, Kind(item.kind)) if item.kind else t("Page")
        head.addWidget(Chip(kind, item.kind or "tag"))
        head.addStretch(1)
        head.addWidget(Label(f"{item.score:.2f}", "small", "faint"))
        self.title = Clamped(ctx, item.title, role="ui-strong", color="text")
        self.excerpt = Clamped(ctx, plain_excerpt(item.excerpt, item.title))
        self.reason = WhyButton(ctx)
        self.facts = WhyFacts(ctx)
        self.reason.toggled.connect(self.facts.setVisible)
        self.helpful = IconButton(ctx, "thumbs-up", t("Helpful"), small=True, checkable=True)
        self.helpful.setObjectName("helpfulButton")
        self.unhelpful = IconButton(ctx, "thumbs-down", t("Not helpful"), small=True, checkable=True)
        self.unhelpful.setObjectName("notHelpfulButton")
        self.helpful.clicked.connect(self._liked)
        self.unhelpful.clicked.connect(self._disliked)
        foot = QHBoxLayout()
        foot.setSpacing(0)
        foot.addWidget(self.reason)
        foot.addStretch(1)
        foot.addWidget(self.helpful)
        foot.addWidget(self.unhelpful)
        column = QVBoxLayout(self)
        column.setContentsMargins(_EDGE, 0, _EDGE - 4, 10)
        column.setSpacing(0)
        if line:
            ruled = QHBoxLayout()
            ruled.setContentsMargins(0, 0, 4, 0)
            ruled.addWidget(Hairline())
            column.addLayout(ruled)
        column.addSpacing(13)
        head.setContentsMargins(0, 0, 4, 0)
        column.addLayout(head)
        column.addSpacing(7)
        words = QVBoxLayout()
        words.setContentsMargins(0, 0, 4, 0)
        words.setSpacing(0)
        words.addWidget(self.title)
        words.addWidget(self.excerpt)
        column.addLayout(words)
        column.addSpacing(4)
        column.addLayout(foot)
        column.addWidget(self.facts)
        self.show_entry(None, known=False)
        self.show_source(source)

    def show_source(self, source: Source) -> None:
        self.source = source
        self.helpful.setChecked(source.verdict > 0)
        self.unhelpful.setChecked(source.verdict < 0)

    def show_entry(self, entry: Entry | None, *, known: bool = True) -> None:
        """What is true of the entry now; `known` False: not read yet."""
        t = self._ctx.t
        words = [reason_words(self._ctx, self.source)]
        gone = known and self.source.item.source == "entry" and (entry is None or entry.status is not Status.PUBLISHED)
        if gone:
            words = [t("No longer in the library")]
        elif entry is not None and entry.reuse_count:
            words.append(t.n("reused {count}×", "reused {count}×", entry.reuse_count))
        why = why_item(t, self.source.item)
        self.reason.say(" · ".join(words), why.line)
        self.facts.show_facts(why.facts)
        self.title.set_color("text-muted" if gone else "text")

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self.rect().contains(event.position().toPoint()):
            self._open()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self._open()
            return
        super().keyPressEvent(event)

    def enterEvent(self, event: QEnterEvent) -> None:
        self.update()

    def leaveEvent(self, event: object) -> None:
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        if self.underMouse():
            area = self.rect().adjusted(6, 5, -6, -4).toRectF()
            fill_round(QPainter(self), area, 6, self._ctx.theme.color("surface-hover"))

    def _open(self) -> None:
        self.opened.emit(self.source.address)

    def _liked(self, on: bool) -> None:
        self.unhelpful.setChecked(False)
        self.judged.emit(self.source.receipt_id, self.source.item.ref, 1 if on else None)

    def _disliked(self, on: bool) -> None:
        self.helpful.setChecked(False)
        self.judged.emit(self.source.receipt_id, self.source.item.ref, -1 if on else None)


def plain_excerpt(text: str, title: str = "") -> str:
    """Markdown as plain words: two lines have no room for its marks, nor for the title that stands above them."""
    first, _, rest = text.lstrip().partition("\n")
    if title and rest.strip() and re.sub(r"^#{1,6}\s+", "", first).strip() == title:
        text = rest
    lines = [re.sub(r"^\s*(?:#{1,6}\s+|>\s?|[-*+]\s+|`{3,}.*$)", "", line) for line in text.splitlines()]
    return " ".join(" ".join(lines).replace("`", "").replace("**", "").split())


def reason_words(ctx: UiContext, source: Source) -> str:
    """Where the question's words stand in it; the search's own word where that cannot be told."""
    t = ctx.t
    if source.item.source == "page":
        return page_reason(t, source.item.reason)
    if source.item.reason == "meaning":
        return t("Near in meaning")
    title = source.item.title.casefold()
    if any(term.casefold() in title for term in source.item.matched if term):
        return t("Title match")
    if source.item.matched or source.item.reason in ("like", "term"):
        return t("Body match")
    return source.item.reason
