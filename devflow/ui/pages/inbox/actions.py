"""The bar under a candidate: decide by click, and which keys do the same."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QHBoxLayout, QWidget

from devflow.domain.knowledge import Entry, Status
from devflow.ui.context import UiContext
from devflow.ui.look import Look
from devflow.ui.widgets import Button, KeyCap, Label, Pane
from devflow.ui.widgets.entry_text import EDGE
from devflow.ui.widgets.painting import baseline, draw_key_cap, draw_text, fill_round, key_cap_width, text_width


class ActionBar(Pane):
    """Signals only; the page acts. With several rows marked it says how many."""

    approve = Signal()
    to_review = Signal()
    edit = Signal()
    merge = Signal()
    reject = Signal()
    keys = Signal()

    def __init__(self, ctx: UiContext, parent: QWidget | None = None) -> None:
        super().__init__("surface", "top", parent)
        self._ctx = ctx
        t = ctx.t
        self.approve_button = Button(ctx, t("Publish"), variant="primary", key="A")
        self.approve_button.setObjectName("approveEntryButton")
        self.approve_button.clicked.connect(self.approve)
        self.review_button = Button(ctx, t("To review"), key="S")
        self.review_button.setObjectName("sendToReviewButton")
        self.review_button.clicked.connect(self.to_review)
        self.edit_button = Button(ctx, t("Edit"), key="E")
        self.edit_button.setObjectName("editCandidateButton")
        self.edit_button.clicked.connect(self.edit)
        self.merge_button = Button(ctx, t("Merge"), key="M")
        self.merge_button.setObjectName("mergeButton")
        self.merge_button.clicked.connect(self.merge)
        self.reject_button = Button(ctx, t("Reject"), variant="danger", key="R")
        self.reject_button.setObjectName("rejectEntryButton")
        self.reject_button.clicked.connect(self.reject)
        self._several = Label("", "small-strong", "accent")
        self._keys = _Keys(ctx)
        self._sheet = _KeysButton(ctx, t("Keys"))
        self._sheet.setObjectName("keySheetButton")
        self._sheet.clicked.connect(self.keys)
        self.setFixedHeight(52)
        row = QHBoxLayout(self)
        row.setContentsMargins(EDGE, 0, 16, 0)
        row.setSpacing(8)
        for button in (self.approve_button, self.review_button, self.edit_button, self.merge_button):
            row.addWidget(button)
        row.addSpacing(4)
        row.addWidget(self._several)
        row.addStretch(1)
        row.addWidget(self._keys)
        row.addWidget(self._sheet)
        row.addWidget(self.reject_button)

    def show_for(self, entries: tuple[Entry, ...], *, may_merge: bool) -> None:
        """What the acts would reach now; `may_merge`: there is something to merge with."""
        count = len(entries)
        self._several.setText(self._ctx.t("{count} selected", count=count) if count > 1 else "")
        self.edit_button.setVisible(count <= 1)
        self.merge_button.setVisible(may_merge)
        self.review_button.setVisible(any(entry.status is Status.CANDIDATE for entry in entries))

    def set_narrow(self, narrow: bool) -> None:
        self._keys.setVisible(not narrow)


class _Keys(QWidget):
    """`J K Move`."""

    def __init__(self, ctx: UiContext) -> None:
        super().__init__()
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(4)
        row.addWidget(KeyCap(ctx, "J"))
        row.addWidget(KeyCap(ctx, "K"))
        row.addSpacing(2)
        row.addWidget(Label(ctx.t("Move"), "small", "faint"))


class _KeysButton(QAbstractButton):
    """`? Keys`, the cap first as in the other hint."""

    def __init__(self, look: Look, text: str) -> None:
        super().__init__()
        self._look = look
        self.setText(text)
        self.setAccessibleName(text)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setProperty("focusRadius", 6)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setFixedHeight(28)

    def sizeHint(self) -> QSize:
        theme = self._look.theme
        return QSize(round(key_cap_width(theme, "?") + 6 + text_width(self.text(), theme.font("small"))) + 12, 28)

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._look.theme
        painter = QPainter(self)
        rect = QRectF(self.rect())
        if self.underMouse():
            fill_round(painter, rect, 6, theme.color("surface-hover"))
        color = theme.color("text-faint")
        x = draw_key_cap(painter, 6, rect.center().y(), "?", theme, color, theme.color("hairline-strong"))
        font = theme.font("small")
        draw_text(painter, x + 6, baseline(rect, font), self.text(), font, color)
