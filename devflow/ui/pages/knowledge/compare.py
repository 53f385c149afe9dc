"""Two entries that contradict each other, side by side in one diff."""

from __future__ import annotations

from PySide6.QtWidgets import QDialog, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from devflow.domain.knowledge import Entry
from devflow.ui.context import UiContext
from devflow.ui.models.moments import local_now, moment
from devflow.ui.widgets import Button, Card, Label
from devflow.ui.widgets.diff import ProseDiff


class CompareDialog(QDialog):
    """From the other one to this one, with the dates that chats are given too."""

    def __init__(self, ctx: UiContext, entry: Entry, other: Entry, *, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        t, now = ctx.t, local_now()
        self.setObjectName("compareEntries")
        self.setWindowTitle(t("Compare"))
        self.resize(680, 460)
        diff = ProseDiff(ctx)
        diff.set_texts(f"{other.title}\n{other.content}", f"{entry.title}\n{entry.content}")
        card = Card(padding=0)
        card.column.setContentsMargins(1, 1, 1, 1)
        card.column.addWidget(diff)
        page = QWidget()
        page.setProperty("role", "page")
        inner = QVBoxLayout(page)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.addWidget(card)
        inner.addStretch(1)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setWidget(page)
        close = Button(ctx, t("Close"))
        close.clicked.connect(self.accept)
        foot = QHBoxLayout()
        foot.addStretch(1)
        foot.addWidget(close)
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 20, 24, 16)
        column.setSpacing(8)
        column.addWidget(Label(t("Two entries that disagree"), "heading"))
        for sign, each in (("−", other), ("+", entry)):
            changed = moment(t, each.updated_at, now)
            words = t("{sign} “{title}”, changed {when}", sign=sign, title=each.title, when=changed)
            column.addWidget(Label(words, "small", "muted", wrap=True))
        column.addWidget(area, 1)
        column.addLayout(foot)
