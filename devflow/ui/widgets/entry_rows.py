"""How entries are painted in lists: the inbox's rows of three lines, the library's of two."""

from __future__ import annotations

from PySide6.QtCore import QRectF
from PySide6.QtGui import QPen
from PySide6.QtWidgets import QAbstractItemView

from devflow.domain.knowledge import Status
from devflow.domain.text.passages import best_passages, spans
from devflow.ui.look import Look
from devflow.ui.models.entries import EntryItem, excerpt
from devflow.ui.models.moments import age, changed, local_now
from devflow.ui.models.words import kind_name, source_word, status_name
from devflow.ui.widgets.chips import paint_confidence
from devflow.ui.widgets.entry_list import EntryList
from devflow.ui.widgets.lists import OBJECT_ROLE, Index, Row, RowDelegate
from devflow.ui.widgets.painting import fill_round, text_width

_SEEN = 48  # characters of an excerpt that surely fit a row
_TEXT = 15  # from the row's text edge, behind the kind's square


class _EntryDelegate(RowDelegate):
    """`terms` are marked where they stand in titles and excerpts."""

    def __init__(self, look: Look, view: QAbstractItemView, height: int) -> None:
        super().__init__(look, view, height=height, gap=2)
        self._terms: tuple[str, ...] = ()
        self._passages: dict[tuple[str, int], str] = {}

    def set_terms(self, terms: tuple[str, ...]) -> None:
        if terms != self._terms:
            self._terms = terms
            self._passages.clear()
            self._view.viewport().update()

    def paint_row(self, row: Row, index: Index) -> None:
        item = index.data(OBJECT_ROLE)
        if isinstance(item, EntryItem):
            self.paint_entry(row, item)
        else:
            self._paint_awaited(row)
        if isinstance(self._view, EntryList) and self._view.marking and index == self._view.currentIndex():
            self._paint_current(row)

    def paint_entry(self, row: Row, item: EntryItem) -> None:
        raise NotImplementedError

    def _excerpt(self, item: EntryItem) -> str:
        """The first words; while something is searched for, the words around it."""
        if not self._terms or spans(item.excerpt[:_SEEN], self._terms):
            return item.excerpt
        key = (item.entry.id, item.entry.version)
        if key not in self._passages:
            self._passages[key] = excerpt(best_passages(item.entry.content, self._terms, _SEEN)) or item.excerpt
        return self._passages[key]

    def _marked(
        self, row: Row, x: float, y: float, height: float, text: str, role: str, color: str, until: float
    ) -> None:
        """One line of text with the searched terms on the match ground."""
        font = row.look.theme.font(role)
        for start, end in spans(text, self._terms) if self._terms else ():
            left = x + text_width(text[:start], font)
            right = min(x + text_width(text[:end], font), until)
            if left < until:
                middle = row.rect.top() + y + height / 2
                ground = QRectF(left - 1, middle - 8, right - left + 2, 16)
                fill_round(row.painter, ground, 2, row.look.theme.color("match"))
        row.text(x, y, height, text, role, color, until=until)

    def _paint_awaited(self, row: Row) -> None:
        """A row that is still being read: where its words will stand."""
        colour = row.look.theme.color("hairline")
        for y, width in ((13, 0.5), (34, 0.8)):
            line = QRectF(row.left + _TEXT, row.rect.top() + y, (row.right - row.left - _TEXT) * width, 8)
            fill_round(row.painter, line, 4, colour)

    def _paint_current(self, row: Row) -> None:
        """Among marked rows the current one has the ring."""
        row.painter.setPen(QPen(row.look.theme.color("focus-ring"), 2))
        row.painter.drawRoundedRect(row.rect.adjusted(1, 1, -1, -1), 6, 6)


class CandidateDelegate(_EntryDelegate):
    """84 px: title and age; the first words; kind, confidence, source, how many are alike."""

    def __init__(self, look: Look, view: QAbstractItemView) -> None:
        super().__init__(look, view, 84)

    def paint_entry(self, row: Row, item: EntryItem) -> None:
        entry, t, x = item.entry, row.look.t, row.left + _TEXT
        until = row.text_right(9, 20, age(t, entry.created_at, local_now()))
        row.dot(row.left + 4, 19, f"kind-{entry.kind.value}-dot")
        self._marked(row, x, 9, 20, entry.title, "ui-strong", "text", until - 10)
        self._marked(row, x, 30, 20, self._excerpt(item), "small", "text-muted", row.right)
        x = row.text(x, 53, 20, kind_name(t, entry.kind), "small", f"kind-{entry.kind.value}")
        band = QRectF(row.rect.left(), row.rect.top() + 53, row.rect.width(), 20)
        x = paint_confidence(row.painter, row.look, x + 12, band, entry.confidence)
        x = row.text(x + 14, 53, 20, source_word(t, entry.source_ref), "small", "text-faint")
        if item.alike is not None and item.alike.similar:
            words = t("≈ {count} similar", count=item.alike.similar)
            if item.alike.contradicting:
                words = t("{similar}, may contradict", similar=words)
            x = row.text(x + 14, 53, 20, words, "small", "warning")
        if entry.status is Status.PENDING_REVIEW:
            row.text(x + 14, 53, 20, status_name(t, entry.status), "small", "status-pending_review")


class LibraryDelegate(_EntryDelegate):
    """56 px: title and when it changed; the first words and how often it was used."""

    def __init__(self, look: Look, view: QAbstractItemView) -> None:
        super().__init__(look, view, 56)

    def paint_entry(self, row: Row, item: EntryItem) -> None:
        entry, t, x = item.entry, row.look.t, row.left + _TEXT + 1
        until = row.text_right(7, 20, changed(t, entry.updated_at, local_now()))
        row.dot(row.left + 4, 17, f"kind-{entry.kind.value}-dot")
        self._marked(row, x, 7, 20, entry.title, "ui-strong", "text", until - 10)
        used = t("used {count}", count=entry.reuse_count) if entry.reuse_count else ""
        until = row.text_right(28, 20, used)
        self._marked(row, x, 28, 20, self._excerpt(item), "small", "text-muted", until - (10 if used else 0))
