"""The settings dialog: pages at the left, options at the right, what is unsaved at the foot."""

from __future__ import annotations

import asyncio

from PySide6.QtCore import QEvent, QObject, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QCloseEvent, QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QDialog, QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from devflow.domain.errors import UserFacing
from devflow.models.keys import NOTICE
from devflow.ui.context import UiContext
from devflow.ui.dialogs.settings import options, saving
from devflow.ui.dialogs.settings.appearance_page import AppearancePage
from devflow.ui.dialogs.settings.data_page import DataPage
from devflow.ui.dialogs.settings.drafts import Drafts
from devflow.ui.dialogs.settings.external_page import ExternalPage
from devflow.ui.dialogs.settings.knowledge_page import KnowledgePage
from devflow.ui.dialogs.settings.nav import Nav, Place
from devflow.ui.dialogs.settings.network_page import NetworkPage
from devflow.ui.dialogs.settings.page import SettingsPage, sentence_of
from devflow.ui.dialogs.settings.providers_page import ProvidersPage
from devflow.ui.dialogs.settings.tools_page import ToolsPage
from devflow.ui.widgets import Button, Hairline, IconLabel, Label, NoticeStrip, Pane

SIZE, SMALLEST = QSize(900, 700), QSize(760, 560)


class SettingsDialog(QDialog):
    """`loaded` when what is stored is shown. Open it with `ctx.dialogs.run`; it saves by itself.

    A change of the language builds the pages anew over the same drafts: nothing typed is lost.
    """

    loaded = Signal()

    def __init__(self, ctx: UiContext, page: str = "providers", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("settingsDialog")
        self.setMinimumSize(SMALLEST)
        self.resize(SIZE)
        self._ctx = ctx
        self._wanted = page
        self._ready = False
        self._saving: asyncio.Task[None] | None = None
        self._leave = False
        self._pages: dict[str, SettingsPage] = {}
        self.drafts = Drafts(ctx, self)
        self.drafts.changed.connect(self._show_foot)
        self.drafts.providers.keys_known.connect(self._show_foot)
        self.drafts.providers.refused.connect(self._refused)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._frame = QWidget()
        self._build()
        QShortcut(QKeySequence.StandardKey.Save, self).activated.connect(self.save)
        QShortcut(QKeySequence.StandardKey.Find, self).activated.connect(self._find)
        rebuilt = getattr(parent, "rebuilt", None)
        if rebuilt is not None:
            rebuilt.connect(self._speak_anew)
        ctx.tasks.launch(self._load(), what="read the settings", owner=self)

    @property
    def current(self) -> str:
        """The page in front."""
        page = self._stack.currentWidget()
        return next((name for name, each in self._pages.items() if each is page), "")

    # building

    def _build(self) -> None:
        ctx, t = self._ctx, self._ctx.t
        self.setWindowTitle(t("Settings"))
        frame = QWidget()
        self._nav = Nav(ctx, options.pages(t), options.options(t))
        self._nav.chosen.connect(self._go)
        self._nav.search.escaped.connect(self.reject)
        self._stack = QStackedWidget()
        body = QHBoxLayout()
        body.setSpacing(0)
        body.addWidget(self._nav)
        body.addWidget(self._stack, 1)
        self._problem = NoticeStrip(ctx, "", "danger")
        self._problem.setObjectName("settingsProblem")
        self._problem.hide()
        self._discard = NoticeStrip(ctx, "", "warning", link=t("Discard"))
        self._discard.setObjectName("discardStrip")
        self._discard.link.setObjectName("discardButton")
        self._discard.acted.connect(self._discard_all)
        self._discard.hide()
        column = QVBoxLayout(frame)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(body, 1)
        column.addWidget(Hairline())
        for strip in (self._problem, self._discard):
            column.addWidget(_Inset(strip))
        column.addWidget(self._foot())
        self._column.replaceWidget(self._frame, frame) if self._column.count() else self._column.addWidget(frame)
        self._frame.hide()
        self._frame.deleteLater()
        self._frame = frame

    def _foot(self) -> Pane:
        ctx, t = self._ctx, self._ctx.t
        foot = Pane("surface")
        foot.setFixedHeight(52)
        self._warning = IconLabel(ctx, "warning", "warning", 14)
        self._warning.hide()
        self._said = Label("", "small", "muted")
        self._said.setObjectName("settingsFoot")
        self._cancel = Button(ctx, t("Cancel"))
        self._cancel.setObjectName("cancelSettingsButton")
        self._cancel.clicked.connect(self._cancelled)
        self._save = Button(ctx, t("Save"), variant="primary")
        self._save.setObjectName("saveSettingsButton")
        self._save.setAutoDefault(False)
        self._cancel.setAutoDefault(False)
        self._save.clicked.connect(self.save)
        row = QHBoxLayout(foot)
        row.setContentsMargins(16, 0, 16, 0)
        row.setSpacing(8)
        row.addWidget(self._warning)
        row.addWidget(self._said, 1)
        row.addWidget(self._cancel)
        row.addWidget(self._save)
        return foot

    async def _load(self) -> None:
        await self.drafts.load()
        self._ready = True
        self.drafts.watch(self._ctx)
        known = {place.page for place in options.pages(self._ctx.t)}
        self._show(self._wanted if self._wanted in known else "providers")
        self._show_foot()
        first = self._page(self.current).first_field() or self._nav.search
        first.setFocus(Qt.FocusReason.OtherFocusReason)
        QTimer.singleShot(0, self, self._build_rest)
        self.loaded.emit()

    def _build_rest(self) -> None:
        """The other pages, one per turn of the loop, once the first one is on the screen."""
        for place in options.pages(self._ctx.t):
            if place.page not in self._pages:
                self._page(place.page)
                QTimer.singleShot(0, self, self._build_rest)
                return

    def _page(self, name: str) -> SettingsPage:
        if name not in self._pages:
            made = self._make(name)
            self._pages[name] = made
            self._stack.addWidget(made)
        return self._pages[name]

    def _make(self, name: str) -> SettingsPage:
        match name:
            case "providers":
                return ProvidersPage(self._ctx, self.drafts)
            case "knowledge":
                return KnowledgePage(self._ctx, self.drafts)
            case "tools":
                return ToolsPage(self._ctx)
            case "appearance":
                return AppearancePage(self._ctx)
            case "external":
                return ExternalPage(self._ctx)
            case "network":
                return NetworkPage(self._ctx, self.drafts)
            case "data":
                return DataPage(self._ctx)
            case _:
                raise AssertionError(name)

    def _speak_anew(self) -> None:
        """The window speaks another language now: so does this dialog, at the same page, over the same drafts."""
        self._ctx = getattr(self.parentWidget(), "ctx", self._ctx)
        before = self.current
        self._pages = {}
        self._build()
        if self._ready and before:
            self._show(before)
            self._show_foot()
            QTimer.singleShot(0, self, self._build_rest)

    # moving about

    def _go(self, place: Place) -> None:
        self._show(place.page)
        if place.option:
            self._page(place.page).jump_to(place.option)

    def _show(self, name: str) -> None:
        if self._ready:
            self._stack.setCurrentWidget(self._page(name))
            self._nav.select(name)
            self._show_foot()

    def _find(self) -> None:
        self._nav.search.setFocus(Qt.FocusReason.ShortcutFocusReason)

    # the foot

    def _show_foot(self) -> None:
        t, count = self._ctx.t, self.drafts.count if self._ready else 0
        in_file = self.current == "providers" and self.drafts.providers.place == "file"
        self._said.setText(t.n("{count} unsaved", "{count} unsaved", count) if count else self._where_keys_are())
        self._said.set_tone("warning" if in_file and not count else "muted")
        self._warning.setVisible(in_file and not count)
        self._save.setEnabled(count > 0 and self._saving is None)
        self._save.set_label(t("Saving…") if self._saving is not None else t("Save"))
        if not count:
            self._discard.hide()

    def _where_keys_are(self) -> str:
        if self.current != "providers":
            return self._ctx.t("Nothing to save") if self._ready else ""
        match self.drafts.providers.place:
            case "keychain":
                return self._ctx.t("Keys are kept in the system keychain")
            case "file":
                return self._ctx.t(NOTICE)
            case _:
                return ""

    # saving

    def save(self) -> None:
        """Store everything that was changed, and close; what cannot be stored is shown where it stands."""
        if not self._ready or self._saving is not None or not self.drafts.count:
            return
        focused = self.focusWidget()
        if focused is not None:
            focused.clearFocus()  # a number that is still being typed counts as typed
        self._problem.hide()
        self._discard.hide()
        self._saving = self._ctx.tasks.launch(
            self._save_all(), what="save the settings", owner=self, refused=self._refused
        )
        self._show_foot()

    async def _save_all(self) -> None:
        try:
            await saving.save(self.drafts)
        except saving.NotSaved as refusal:
            self._saving = None
            self._show_refusal(refusal)
            return
        finally:
            self._saving = None
            self._show_foot()
        self._leave = True
        self.accept()

    def _show_refusal(self, refusal: saving.NotSaved) -> None:
        self._show(refusal.page)
        page = self._page(refusal.page)
        if refusal.edit is not None and isinstance(page, ProvidersPage):
            page.select(refusal.edit)
        field = page.show_wrong(refusal.field, refusal.error)
        if field is None:
            self._refused(refusal.error)
            return
        page.ensureWidgetVisible(field, 40, 60)
        field.setFocus()

    def _refused(self, error: UserFacing) -> None:
        self._problem.say(sentence_of(self._ctx.t, error))

    # leaving

    def _cancelled(self) -> None:
        """While something is being saved or asked, Cancel stops that; else it leaves without saving."""
        if self._saving is not None:
            self._saving.cancel()
            return
        self._discard_all()

    def _discard_all(self) -> None:
        self._leave = True
        self.reject()

    def reject(self) -> None:
        """Escape and the title bar's button: with something unsaved they ask first."""
        parent = self.parentWidget()
        ending = parent is not None and not parent.isVisible()
        count = self.drafts.count if self._ready else 0
        if count and not self._leave and not ending:
            t = self._ctx.t
            words = t.n("{count} change is not saved.", "{count} changes are not saved.", count)
            self._discard.say(words, link=t("Discard"))
            self._discard.link.setFocus(Qt.FocusReason.OtherFocusReason)
            return
        super().reject()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter in a field presses no button somewhere else."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            event.accept()
        else:
            super().keyPressEvent(event)

    def closeEvent(self, event: QCloseEvent) -> None:
        """QDialog closes by `reject`; one that only asked stays open."""
        if self.isVisible() and self.result() == 0 and not self._leave:
            self.reject()
            if self.isVisible():
                event.ignore()
                return
        super().closeEvent(event)


class _Inset(QWidget):
    """Room around a strip, while the strip is shown."""

    def __init__(self, strip: NoticeStrip) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 10, 16, 0)
        column.addWidget(strip)
        strip.installEventFilter(self)
        self.hide()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.ShowToParent, QEvent.Type.HideToParent):
            self.setVisible(event.type() == QEvent.Type.ShowToParent)
        return False
