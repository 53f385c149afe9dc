"""A page as it is read: where it stands, its title, its text with links that work; under it what is digested."""

from __future__ import annotations

from PySide6.QtCore import QUrl, Signal
from PySide6.QtGui import QAction, QDesktopServices, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QMenu, QStackedLayout, QVBoxLayout, QWidget

from devflow.domain.knowledge_base import KnowledgeBase
from devflow.ui.context import UiContext
from devflow.ui.models.moments import local_now, moment
from devflow.ui.models.page_links import WikiLinks, page_address
from devflow.ui.models.page_reading import SHOWN_MAX, PageShown
from devflow.ui.models.page_words import changed_at, problem_words
from devflow.ui.pages.knowledge.digest_card import DigestCard
from devflow.ui.widgets import Button, ElidedLabel, EmptyState, Label, NoticeStrip, Pane, Paragraph
from devflow.ui.widgets.entry_parts import Link
from devflow.ui.widgets.entry_text import EDGE, DetailScroll
from devflow.ui.widgets.long_markdown import LongMarkdown
from devflow.ui.widgets.why import WhyBar


class PageDetail(Pane):
    """Shows one page; a newer state of the same page keeps the place that is being read. Without one: `nothing`."""

    link_opened = Signal(str)
    digest_wanted = Signal()

    def __init__(self, ctx: UiContext, parent: QWidget | None = None) -> None:
        super().__init__("surface", "none", parent)
        self.setObjectName("pageDetail")
        self._ctx = ctx
        self._shown: PageShown | None = None
        self._place = 0  # where the reader was in the former state of this page, until there is as much text again
        t = ctx.t
        self.path = ElidedLabel(ctx, "", role="code-small", color="text-muted", middle=True)
        self.path.setObjectName("pagePath")
        self.edit = Button(ctx, t("Open in editor"), variant="ghost", icon="pencil")
        self.edit.setObjectName("openInEditorButton")
        self.edit.clicked.connect(self._open_in_editor)
        self.digest = Button(ctx, t("Digest…"), icon="download")
        self.digest.setObjectName("digestButton")
        self.digest.setToolTip(t("Have pages written about files"))
        self.digest.clicked.connect(self.digest_wanted)
        self.digest.hide()  # until a base is known
        self.nothing = EmptyState(ctx, "book", "")
        self.nothing.setObjectName("wikiEmpty")
        self.card = DigestCard(ctx)
        self.card.page_wanted.connect(self._digested_page)
        self.title = Paragraph(ctx, "", role="page-title", color="text")
        self.title.setObjectName("pageTitle")
        self.facts = Label("", "small", "muted")
        self.facts.setObjectName("pageFacts")
        self.facts.setFixedHeight(18)
        self.why = WhyBar(ctx)
        self.cited = Link(ctx)
        self.cited.setObjectName("citedByLink")
        self.cited.clicked.connect(self._open_cited)
        self.notice = NoticeStrip(ctx, "", "warning")
        self.notice.setObjectName("pageNotice")
        self.view = LongMarkdown(ctx, t("Page"))
        self.view.setObjectName("pageView")
        self.view.link_activated.connect(self.link_opened)
        self._lay_out()

    @property
    def shown(self) -> PageShown | None:
        return self._shown

    def show_nothing(self, line: str, sentence: str, *, digest: bool = False) -> None:
        """Words in the page's place; with `digest` there is a base that files can be digested into."""
        actions = [(self._ctx.t("Digest…"), self.digest_wanted.emit)] if digest else []
        self.nothing.say(line, sentence, actions)
        for button in self.nothing.buttons:
            button.setObjectName("digestEmptyButton")
        self.path.set_text("")
        self.edit.hide()
        self._shown = None
        self._stack.setCurrentWidget(self.nothing)

    def show_base(self, base: KnowledgeBase | None, there: bool) -> None:
        """The base whose pages stand here: its digests at the foot, and a way to one more while its folder is there."""
        self.digest.setVisible(base is not None and there)
        self.card.show_base(base.id if base is not None else "")

    def show_page(self, shown: PageShown) -> None:
        self.edit.show()
        self._stack.setCurrentWidget(self._scroll)
        before, self._shown = self._shown, shown
        if shown == before:
            return
        t, page = self._ctx.t, shown.page
        self.path.set_text(page.path.replace("/", " / "))
        self.title.setText(page.title)
        count = t.n("{shown} character", "{shown} characters", len(shown.text), shown=f"{len(shown.text):,}")
        when = t("Changed {moment}", moment=moment(t, changed_at(page), local_now())) if page.mtime_ns else ""
        self.facts.setText("    ".join(part for part in ("" if page.problem else count, when) if part))
        cited = len(shown.cited)
        self.cited.show_link(
            t.n("Linked from {count} page", "Linked from {count} pages", cited) if cited else "",
            "devflow:cited" if cited else "",
        )
        self._say_notice(shown)
        same_page = before is not None and (before.base.id, before.page.path) == (shown.base.id, page.path)
        self._place = self._scroll.verticalScrollBar().value() if same_page else 0
        if not same_page:
            self._scroll.to_top()
        if before is None or not same_page or (before.text, before.known) != (shown.text, shown.known):
            self._show_text(shown)

    def _say_notice(self, shown: PageShown) -> None:
        t = self._ctx.t
        words = problem_words(t, shown.page) if shown.page.problem else ""
        if words:
            words = t("{why}: this page is skipped, and never searched.", why=words)
        elif len(shown.text) > SHOWN_MAX:
            words = t("The first {count} characters are shown; the editor has them all.", count=f"{SHOWN_MAX:,}")
        if words:
            self.notice.say(words)
        self.notice.setVisible(bool(words))

    def _show_text(self, shown: PageShown) -> None:
        self.view.show_text(shown.text[:SHOWN_MAX], WikiLinks(shown.base.id, shown.page.path, shown.known))

    def _grown(self, _low: int, high: int) -> None:
        if 0 < self._place <= high:
            self._scroll.verticalScrollBar().setValue(self._place)
            self._place = 0

    def _open_in_editor(self) -> None:
        if self._shown is not None:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._shown.file)))

    def _digested_page(self, kb_id: str, path: str) -> None:
        self.link_opened.emit(page_address(kb_id, path))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.card.set_room(self.height())

    def _open_cited(self) -> None:
        """The one page at once; of several, choose."""
        if self._shown is None:
            return
        base, cited = self._shown.base, self._shown.cited
        if len(cited) == 1:
            self.link_opened.emit(page_address(base.id, cited[0][0]))
            return
        menu = QMenu(self)
        menu.setObjectName("citedByMenu")
        for path, title in cited:
            action = QAction(title, menu)
            action.setData(page_address(base.id, path))
            menu.addAction(action)
        menu.triggered.connect(self._cited_picked)
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(self.cited.mapToGlobal(self.cited.rect().bottomLeft()))

    def _cited_picked(self, action: QAction) -> None:
        self.link_opened.emit(str(action.data()))

    def _lay_out(self) -> None:
        head = Pane("surface", "bottom")
        head.setFixedHeight(48)
        row = QHBoxLayout(head)
        row.setContentsMargins(EDGE, 0, 12, 0)
        row.setSpacing(8)
        row.addWidget(self.path, 1)
        row.addWidget(self.edit)
        row.addWidget(self.digest)
        facts = QHBoxLayout()
        facts.setSpacing(14)
        facts.addWidget(self.facts)
        facts.addWidget(self.cited)
        facts.addStretch(1)
        self._scroll = DetailScroll(720)
        self._scroll.verticalScrollBar().rangeChanged.connect(self._grown)
        inner = self._scroll.column
        inner.addSpacing(3)
        inner.addWidget(self.title)
        inner.addSpacing(3)
        inner.addLayout(facts)
        inner.addWidget(self.why)
        inner.addSpacing(13)
        inner.addWidget(self.notice)
        inner.addWidget(self.view)
        inner.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        body = QWidget()
        self._stack = QStackedLayout(body)
        self._stack.addWidget(self.nothing)
        self._stack.addWidget(self._scroll)
        column.addWidget(head)
        column.addWidget(body, 1)
        column.addWidget(self.card)
