"""The 48 px bar over the transcript: list button (narrow), title, retrieval, sources, more."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from devflow.ui.context import UiContext
from devflow.ui.widgets import ElidedLabel, IconButton


class TopBar(QWidget):
    list_wanted = Signal()
    retrieval_set = Signal(bool)
    sources_set = Signal(bool)
    menu_wanted = Signal()

    def __init__(self, ctx: UiContext) -> None:
        super().__init__()
        self._ctx = ctx
        t = ctx.t
        self.list_button = IconButton(ctx, "panel-left", t("Conversations"))
        self.list_button.setObjectName("showConversationsButton")
        self.title = ElidedLabel(ctx, "", role="section")
        self.title.setObjectName("conversationTitle")
        self.retrieval = IconButton(ctx, "book", "", checkable=True)
        self.retrieval.setObjectName("retrievalSwitch")
        self.sources = IconButton(ctx, "panel-right", t("Sources"), checkable=True)
        self.sources.setObjectName("sourcesButton")
        self.more = IconButton(ctx, "dots", t("More about this conversation"))
        self.more.setObjectName("conversationMoreButton")
        self.list_button.clicked.connect(self.list_wanted)
        self.retrieval.clicked.connect(self.retrieval_set)
        self.sources.clicked.connect(self.sources_set)
        self.more.clicked.connect(self.menu_wanted)
        row = QHBoxLayout(self)
        row.setContentsMargins(24, 0, 12, 0)
        row.setSpacing(8)
        row.addWidget(self.list_button)
        row.addWidget(self.title, 1)
        row.addWidget(self.retrieval)
        row.addWidget(self.sources)
        row.addWidget(self.more)
        self.setFixedHeight(47)
        self.list_button.hide()
        self.show_retrieval(True)

    def show_retrieval(self, on: bool) -> None:
        t = self._ctx.t
        self.retrieval.setChecked(on)
        self.retrieval.set_name(
            t("Retrieval is on in this conversation") if on else t("Retrieval is off for this conversation")
        )
