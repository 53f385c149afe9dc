"""The main window: rail, pages, status line. Pages come from factories; a page that is not built has no tab."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QTimer, QUrl, Signal
from PySide6.QtGui import QCloseEvent, QDesktopServices, QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import QDialog, QHBoxLayout, QMainWindow, QStackedWidget, QVBoxLayout, QWidget

from devflow.domain.errors import UserFacing
from devflow.domain.events import Hub
from devflow.domain.messages import Translator
from devflow.ui.bridge import Events
from devflow.ui.context import Services, Shell, UiContext
from devflow.ui.crash import CrashReporter
from devflow.ui.digest_status import DigestStatus
from devflow.ui.icons import IconProvider
from devflow.ui.memory import GROUP, recall_geometry, recall_splitters, remember
from devflow.ui.models.refresh import Refresher
from devflow.ui.status_feed import StatusFeed
from devflow.ui.statusline import StatusLine
from devflow.ui.tasks import TaskOwner
from devflow.ui.theme import ThemeController, ThemeMode
from devflow.ui.widgets.dialogs import Dialogs, QtDialogs
from devflow.ui.widgets.rail import Rail, RailButton
from devflow.ui.widgets.toast import UndoBar

PageFactory = Callable[[UiContext], QWidget]
SettingsFactory = Callable[[UiContext, str, QWidget], QDialog]

NARROW, NARROWER = 1180, 1040
_REST_AFTER_MS = 150
_OWNERS = {
    "entry": "knowledge",
    "page": "knowledge",
    "digest": "knowledge",
    "inbox": "inbox",
    "conversation": "chat",
    "message": "chat",
}


@dataclass(frozen=True, slots=True)
class Pages:
    """The factories of what is built so far."""

    chat: PageFactory | None = None
    knowledge: PageFactory | None = None
    inbox: PageFactory | None = None
    settings: SettingsFactory | None = None


class MainWindow(QMainWindow):
    """`close_requested` when the human closes it: the application then ends in order and calls `close_for_good`."""

    close_requested = Signal()
    rebuilt = Signal()

    def __init__(
        self,
        *,
        services: Services,
        hub: Hub,
        theme: ThemeController,
        icons: IconProvider,
        tasks: TaskOwner,
        pages: Pages,
        make_translator: Callable[[str], Translator],
        appearance: Mapping[str, Any],
        remembered: Mapping[str, Any],
        dialogs: Dialogs | None = None,
    ) -> None:
        super().__init__()
        self.setObjectName("mainWindow")
        self.setWindowTitle("DevFlow")
        self.setMinimumSize(960, 640)
        self._services, self._theme, self._icons, self._tasks = services, theme, icons, tasks
        self._factories = pages
        self._make_translator = make_translator
        self._language = str(appearance.get("language", "system"))
        # One reading at a time: of two, the loop may finish the older last, and its theme would stay.
        self._appearance = Refresher(tasks, self._apply_appearance, "apply the appearance", self)
        self._remembered: dict[str, Any] = dict(remembered)
        self._given_dialogs = dialogs
        self._closing = False
        self._pages: dict[str, QWidget] = {}
        self._settings_open = False
        self.events = Events(hub, self)
        self.events.settings_changed.connect(self._settings_changed)
        theme.set_mode(_mode(appearance))
        self._build()
        if not recall_geometry(self, self._remembered):
            self.resize(1280, 800)
        for index in range(3):
            shortcut = QShortcut(QKeySequence(f"Ctrl+{index + 1}"), self)
            shortcut.activated.connect(self._tab_shortcut)
        QShortcut(QKeySequence("Ctrl+,"), self).activated.connect(self._open_first_settings)
        QShortcut(QKeySequence.StandardKey.Quit, self).activated.connect(self.close)

    # building

    def _build(self) -> None:
        self.ctx = self._context(self._make_translator(self._language))
        t = self.ctx.t
        self._rail = Rail(self.ctx)
        self._rail.setAccessibleName(t("Pages"))
        self._names: list[str] = []
        buttons: dict[str, RailButton] = {}
        for name, object_name, icon, words in (
            ("chat", "navChat", "chat", t("Chat")),
            ("knowledge", "navKnowledge", "book", t("Knowledge")),
            ("inbox", "navInbox", "inbox", t("Inbox")),
        ):
            if self._factory(name) is not None:
                buttons[name] = self._rail.add_tab(object_name, icon, words)
                self._names.append(name)
        if "inbox" in buttons:
            buttons["inbox"].badge.setObjectName("inboxBadge")
        if self._factories.settings is not None:
            self._rail.add_foot("navSettings", "settings", t("Settings")).clicked.connect(self._open_first_settings)
        self._rail.chosen.connect(self._chosen)
        self._stack = QStackedWidget()
        self._stack.setObjectName("pages")
        self._status = StatusLine(self.ctx)
        self._status.opened.connect(self._open_place)
        self.setCentralWidget(self._frame())
        self._message_bar = UndoBar(self.ctx, self._stack, above=16)
        self._feed = StatusFeed(self.ctx, buttons.get("inbox"), self._stack)
        DigestStatus(self.ctx, self._stack)
        wanted = str(self._remembered.get("page", ""))
        self.show_page(wanted if wanted in self._names else next(iter(self._names), ""))
        self._feed.refresh()
        QTimer.singleShot(_REST_AFTER_MS, self._stack, self._build_rest)

    def _frame(self) -> QWidget:
        central = QWidget()
        column = QVBoxLayout(central)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        row = QHBoxLayout()
        row.setSpacing(0)
        row.addWidget(self._rail)
        row.addWidget(self._stack, 1)
        column.addLayout(row, 1)
        column.addWidget(self._status)
        return central

    def _context(self, t: Translator) -> UiContext:
        dialogs = self._given_dialogs or QtDialogs(_Look(self._theme, self._icons, t), self)
        ctx = UiContext(
            services=self._services,
            t=t,
            theme=self._theme,
            icons=self._icons,
            tasks=self._tasks,
            dialogs=dialogs,
            events=self.events,
            shell=Shell(
                show_page=self.show_page,
                open_link=self.open_link,
                open_settings=self.open_settings,
                notify=self.notify,
                set_status=self.set_status,
            ),
        )
        self._tasks.crash = CrashReporter(ctx, dialogs, self._launch_quietly).report
        self._tasks.refused = self._refused
        return ctx

    def _launch_quietly(self, work: Any) -> object:
        return self._tasks.launch(work, what="crash report")

    def _factory(self, name: str) -> PageFactory | None:
        match name:
            case "chat":
                return self._factories.chat
            case "knowledge":
                return self._factories.knowledge
            case "inbox":
                return self._factories.inbox
            case _:
                return None

    def page(self, name: str) -> QWidget:
        """The page, built when it is first asked for."""
        if name not in self._pages:
            factory = self._factory(name)
            assert factory is not None, name
            made = factory(self.ctx)
            self._pages[name] = made
            self._stack.addWidget(made)
            recall_splitters(made, self._remembered)
            self._tell_width(made)
        return self._pages[name]

    def _build_rest(self) -> None:
        """The other pages, one at a time, once the first one is on the screen and takes what is typed."""
        for name in self._names:
            if name not in self._pages:
                self.page(name)
                QTimer.singleShot(_REST_AFTER_MS, self._stack, self._build_rest)
                return

    # what pages may ask

    @property
    def current(self) -> str:
        return self._names[self._rail.current] if self._names else ""

    def show_page(self, name: str) -> None:
        """Bring a page to the front."""
        if name not in self._names:
            return
        page = self.page(name)
        self._rail.select(self._names.index(name))
        self._stack.setCurrentWidget(page)
        self._status.show_for(name)
        _call(page, "activate")

    def open_link(self, address: str) -> None:
        """Follow an address: the window's own in its page, others after a look at where they lead."""
        url = QUrl(address)
        if url.scheme() == "devflow":
            owner = _OWNERS.get(url.path().partition("/")[0], "")
            if owner in self._names:
                self.show_page(owner)
                _call(self.page(owner), "open_link", address)
        elif url.scheme() in ("http", "https", "mailto"):
            self._tasks.launch(self._open_outside(url), what="open a link")

    async def _open_outside(self, url: QUrl) -> None:
        t = self.ctx.t
        if await self.ctx.dialogs.confirm(t("Open this address?"), url.toDisplayString(), act=t("Open")):
            QDesktopServices.openUrl(url)

    def open_settings(self, page: str) -> None:
        """Open the settings at a page; one dialog at a time."""
        if self._factories.settings is not None and not self._settings_open:
            self._settings_open = True
            self._tasks.launch(self._run_settings(page), what="settings")

    async def _run_settings(self, page: str) -> None:
        assert self._factories.settings is not None
        try:
            await self.ctx.dialogs.run(self._factories.settings(self.ctx, page, self))
        finally:
            self._settings_open = False

    def notify(self, text: str) -> None:
        self._message_bar.show_message(text)

    def set_status(self, key: str, icon: str, text: str, tone: str = "", page: str = "") -> None:
        self._status.say(key, icon, text, tone, page)

    def _refused(self, error: UserFacing) -> None:
        t = self.ctx.t
        self.notify(" ".join(part for part in (error.render(t), error.render_hint(t)) if part))

    # what the human does

    def _chosen(self, index: int) -> None:
        self.show_page(self._names[index])

    def _tab_shortcut(self) -> None:
        shortcut = self.sender()
        if isinstance(shortcut, QShortcut):
            index = int(shortcut.key().toString()[-1]) - 1
            if index < len(self._names):
                self.show_page(self._names[index])

    def _open_first_settings(self) -> None:
        self.open_settings("providers")

    def _open_place(self, place: str) -> None:
        name, _, detail = place.partition(":")
        if name == "devflow":
            self.open_link(place)
        elif name == "settings":
            self.open_settings(detail)
        else:
            self.show_page(name)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        for page in self._pages.values():
            self._tell_width(page)

    def _tell_width(self, page: QWidget) -> None:
        _call(page, "set_narrow", self.width() < NARROW, self.width() < NARROWER)

    # settings that the window itself obeys

    def _settings_changed(self, groups: frozenset[str]) -> None:
        if "appearance" in groups:
            self._appearance.ask()

    async def _apply_appearance(self) -> None:
        appearance = await self._services.settings.get("appearance")
        self._theme.set_mode(_mode(appearance))
        language = str(appearance.get("language", "system"))
        if language != self._language:
            self._language = language
            self.rebuild()

    def rebuild(self) -> None:
        """Build every page again, in the language that is now set; sizes and the page in front stay."""
        self._remembered = remember(self, self.current, self._remembered)
        self._close_pages()
        old = self.takeCentralWidget()
        self._pages = {}
        if old is not None:
            old.hide()
            old.deleteLater()
        self._build()
        self.rebuilt.emit()

    # ending

    def _close_pages(self) -> None:
        for page in self._pages.values():
            _call(page, "close_page")

    async def save_state(self) -> None:
        """Store geometry and splitters, and let the pages keep what was typed."""
        await self._tasks.finish(self._close_pages)
        self._remembered = remember(self, self.current, self._remembered)
        await self._services.settings.save(GROUP, self._remembered)

    def closeEvent(self, event: QCloseEvent) -> None:
        if self._closing:
            event.accept()
        else:
            event.ignore()
            self.close_requested.emit()

    def close_for_good(self) -> None:
        """Close without asking anybody; hears no more events."""
        self._closing = True
        self.events.close()
        self.close()


@dataclass(frozen=True, slots=True)
class _Look:
    theme: ThemeController
    icons: IconProvider
    t: Translator


def _mode(appearance: Mapping[str, Any]) -> ThemeMode:
    try:
        return ThemeMode(appearance.get("theme", "system"))
    except ValueError:
        return ThemeMode.SYSTEM


def _call(page: QWidget, method: str, *arguments: object) -> None:
    """Pages implement what concerns them: activate, open_link, set_narrow, close_page."""
    found = getattr(page, method, None)
    if found is not None:
        found(*arguments)
