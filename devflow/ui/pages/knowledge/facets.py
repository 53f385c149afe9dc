"""The side of the library: statuses, kinds, tags, sources and what asks for attention, with their counts."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QScrollArea, QVBoxLayout, QWidget

from devflow.domain.knowledge import EmbeddingStatus, Kind, Status
from devflow.store.entry_lists import SOURCES, Facets
from devflow.ui.context import UiContext
from devflow.ui.models.library_view import CONFLICTS, FAILED, PENDING, LibraryView
from devflow.ui.models.words import kind_name, source_word, status_name
from devflow.ui.pages.knowledge.facet_row import Facet, FacetGroup
from devflow.ui.widgets import Pane

TAGS_SHOWN = 5
MENU_MOST = 400
_STATUSES = (Status.PUBLISHED, Status.PENDING_REVIEW, Status.CANDIDATE, Status.ARCHIVED)


class FacetPane(Pane):
    """`chosen(facet, value)`: status, kind, tag, source or attention; the page holds the state. `head` stands above it
    and does not scroll."""

    chosen = Signal(str, object)

    def __init__(self, ctx: UiContext, head: QWidget, parent: QWidget | None = None) -> None:
        super().__init__("sunken", "none", parent)
        self._ctx = ctx
        self._tags: dict[str, int] = {}
        self._tag: str | None = None
        t = ctx.t
        self.statuses = FacetGroup(ctx, "statusFilter", t("Status"))
        self.kinds = FacetGroup(ctx, "kindFilter", t("Kind"))
        self.tags = FacetGroup(ctx, "tagFilter", t("Tags"), most=TAGS_SHOWN)
        self.sources = FacetGroup(ctx, "sourceFilter", t("Source"))
        self.attention = FacetGroup(ctx, "attentionFilter", t("Attention"))
        for facet, group in (
            ("status", self.statuses),
            ("kind", self.kinds),
            ("tag", self.tags),
            ("source", self.sources),
            ("attention", self.attention),
        ):
            group.chosen.connect(partial(self.chosen.emit, facet))
        self.tags.more_asked.connect(self._open_tags)
        page = QWidget()
        page.setProperty("role", "page")
        inner = QVBoxLayout(page)
        inner.setContentsMargins(8, 1, 8, 8)
        inner.setSpacing(0)
        for group in (self.statuses, self.kinds, self.tags, self.sources, self.attention):
            inner.addWidget(group)
        inner.addStretch(1)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setWidget(page)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(head)
        column.addWidget(area, 1)

    def show_facets(self, facets: Facets, view: LibraryView) -> None:
        t = self._ctx.t
        self.statuses.show_facets(
            [
                Facet(status, status_name(t, status), facets.statuses[status], f"status-{status.value}", round=True)
                for status in _STATUSES
            ],
            view.status,
        )
        self.kinds.show_facets(
            [Facet(kind, kind_name(t, kind), facets.kinds[kind], f"kind-{kind.value}-dot") for kind in Kind], view.kind
        )
        self._tags, self._tag = dict(facets.tags), view.tag
        if view.tag is not None and view.tag not in self._tags:
            self._tags[view.tag] = 0
        self.tags.show_facets([Facet(tag, tag, count, "#") for tag, count in self._tags.items()], view.tag)
        sources = {source: facets.sources.get(source, 0) for source in SOURCES}
        self.sources.show_facets(
            [
                Facet(source, source_word(t, source), count)
                for source, count in sources.items()
                if count or source == view.source
            ],
            view.source,
        )
        self._show_attention(facets, view)

    def _show_attention(self, facets: Facets, view: LibraryView) -> None:
        """Only what there is: a library without trouble has no such group."""
        t, vectors = self._ctx.t, facets.embeddings
        rows = (
            Facet(CONFLICTS, t("Conflicts"), facets.conflicts, "warning", icon="warning"),
            Facet(FAILED, t("Embedding failed"), vectors[EmbeddingStatus.FAILED], "danger", icon="cube"),
            Facet(PENDING, t("Embedding pending"), vectors[EmbeddingStatus.PENDING], "text-muted", icon="cube"),
        )
        self.attention.show_facets([row for row in rows if row.count or row.value == view.attention], view.attention)

    def _open_tags(self) -> None:
        """Every tag in one menu, by name."""
        menu = QMenu(self)
        menu.setObjectName("tagMenu")
        for tag in sorted(list(self._tags)[:MENU_MOST], key=str.casefold):
            action = QAction(f"{tag}\t{self._tags[tag]}", menu)
            action.setData(tag)
            action.setCheckable(tag == self._tag)
            action.setChecked(tag == self._tag)
            menu.addAction(action)
        menu.triggered.connect(self._tag_picked)
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(self.tags.more.mapToGlobal(self.tags.more.rect().topRight()))

    def _tag_picked(self, action: QAction) -> None:
        self.chosen.emit("tag", action.data())
