"""The window around the pages: tabs, links, badge, memory, language, and its end."""

import asyncio
import logging
from time import perf_counter

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QDialog, QHBoxLayout, QLabel, QStackedWidget, QWidget

from devflow.domain.conversation import ModelChoice
from devflow.domain.knowledge import draft
from devflow.domain.provider import ProviderDraft, Roles
from devflow.knowledge.acts import Actor
from devflow.ui.context import UiContext
from devflow.ui.status_feed import StatusFeed
from devflow.ui.statusline import StatusItem
from devflow.ui.theme import ThemeMode
from devflow.ui.widgets import Badge, HairlineSplitter
from devflow.ui.window import MainWindow, Pages
from tests.support.waiting import emission, until
from tests.ui.conftest import OpenWindow, ScriptedDialogs


class Page(QWidget):
    """A page that remembers what the window told it."""

    def __init__(self, ctx: UiContext, name: str) -> None:
        super().__init__()
        self.ctx = ctx
        self.told: list[tuple[object, ...]] = []
        self.setObjectName(f"{name}Page")
        self.words = QLabel(ctx.t("Chat"), self)
        self.splitter = HairlineSplitter(ctx)
        self.splitter.setObjectName(f"{name}Splitter")
        for _ in range(2):
            self.splitter.addWidget(QWidget())
        QHBoxLayout(self).addWidget(self.splitter)

    def open_link(self, address: str) -> None:
        self.told.append(("link", address))

    def set_narrow(self, sources_float: bool, list_folds: bool) -> None:
        self.told.append(("narrow", sources_float, list_folds))

    def close_page(self) -> None:
        self.told.append(("closed",))


def page(name: str):  # type: ignore[no-untyped-def]
    return lambda ctx: Page(ctx, name)


PAGES = Pages(
    chat=page("chat"),
    knowledge=page("knowledge"),
    inbox=page("inbox"),
    settings=lambda ctx, at, parent: QDialog(parent),
)


async def test_tabs_are_chosen_by_click_and_by_key(open_window: OpenWindow) -> None:
    async with open_window(PAGES) as desktop:
        window = desktop.window
        assert window.objectName() == "mainWindow"
        _button(window, "navInbox").click()
        assert _shown(window) == "inboxPage"
        await _active(window)
        QTest.keyClick(window, Qt.Key.Key_2, Qt.KeyboardModifier.ControlModifier)
        assert _shown(window) == "knowledgePage"
        assert _button(window, "navKnowledge").isChecked()


async def test_a_page_that_is_not_built_has_no_tab(open_window: OpenWindow) -> None:
    async with open_window(Pages(chat=page("chat"))) as desktop:
        assert desktop.window.findChild(QAbstractButton, "navInbox") is None
        assert desktop.window.findChild(QAbstractButton, "navSettings") is None
        await _active(desktop.window)
        QTest.keyClick(desktop.window, Qt.Key.Key_3, Qt.KeyboardModifier.ControlModifier)
        assert _shown(desktop.window) == "chatPage"


async def test_an_address_opens_in_the_page_that_owns_it(open_window: OpenWindow) -> None:
    async with open_window(PAGES) as desktop:
        desktop.window.open_link("devflow:entry/42")
        knowledge = desktop.window.page("knowledge")
        assert isinstance(knowledge, Page)
        assert ("link", "devflow:entry/42") in knowledge.told
        assert _shown(desktop.window) == "knowledgePage"


async def test_an_address_outside_is_shown_before_it_is_followed(
    open_window: OpenWindow, dialogs: ScriptedDialogs
) -> None:
    async with open_window(PAGES) as desktop:
        dialogs.will(False)
        desktop.window.open_link("https://example.org/page")
        desktop.window.open_link("file:///etc/passwd")
        desktop.window.open_link("javascript:alert(1)")
        await _idle(desktop.tasks)
        assert dialogs.asked == [("confirm", "Open this address?")]


async def test_the_badge_counts_candidates_as_they_come(open_window: OpenWindow) -> None:
    async with open_window(PAGES) as desktop:
        window = desktop.window
        badge = window.findChild(Badge, "inboxBadge")
        assert badge is not None
        rows = [draft(kind="pitfall", title=f"Title {n}", content=f"Content {n}") for n in range(2)]
        await desktop.core.knowledge.knowledge_submit(rows, actor=Actor.ai())
        await _idle(desktop.tasks)
        assert badge.count == 2
        assert _button(window, "navInbox").accessibleName() == "Inbox, 2 to review"
        page = await desktop.core.knowledge.knowledge_list_candidates()
        await desktop.core.knowledge.knowledge_approve([entry.id for entry in page.entries], actor=Actor.user())
        await _idle(desktop.tasks)
        assert badge.isHidden()
        assert _status(window, "statusLibrary") == "2 entries in the library"


async def test_the_status_line_says_that_no_model_is_connected(open_window: OpenWindow) -> None:
    async with open_window(PAGES) as desktop:
        await _idle(desktop.tasks)
        assert _status(desktop.window, "statusProvider") == "Offline assistant"
        assert _status(desktop.window, "statusExtraction") == "Extraction: paused, no model"
        assert _status(desktop.window, "statusLibrary") == "Library empty"


@pytest.mark.parametrize(
    "typed, place",
    [("localhost:8080", " · this machine"), ("http://127.0.0.2:9", " · this machine"), ("localhost.example.org", "")],
)
async def test_a_server_on_this_machine_is_called_so_however_its_address_was_typed(
    open_window: OpenWindow, typed: str, place: str
) -> None:
    async with open_window(PAGES) as desktop:
        models = desktop.core.models
        config = await models.add(ProviderDraft("Workstation", typed, "custom", models=("m",)))
        await models.save_roles(Roles(main=ModelChoice(config.id, "m")))
        await _idle(desktop.tasks)
        assert _status(desktop.window, "statusProvider") == f"Workstation{place}"


async def test_what_a_page_found_stands_in_the_status_line_only_on_that_page(open_window: OpenWindow) -> None:
    async with open_window(PAGES) as desktop:
        window = desktop.window
        window.set_status("retrieval", "check", "Retrieval: 3 pages, 2 entries", "good")
        item = window.findChild(StatusItem, "statusRetrieval")
        assert item is not None
        assert item.isVisible()
        window.show_page("inbox")
        assert not item.isVisible()


async def test_geometry_page_and_splitters_come_back_after_a_restart(open_window: OpenWindow) -> None:
    async with open_window(PAGES) as desktop:
        desktop.window.resize(960, 700)  # the test's screen is 800 px high: more is not given back
        desktop.window.show_page("knowledge")
        first = desktop.window.page("knowledge")
        assert isinstance(first, Page)
        first.splitter.setSizes([300, 700])
        sizes = first.splitter.sizes()
    async with open_window(PAGES) as desktop:
        assert desktop.window.height() == 700
        assert _shown(desktop.window) == "knowledgePage"
        again = desktop.window.page("knowledge")
        assert isinstance(again, Page)
        assert again.splitter.sizes() == sizes


@pytest.mark.parametrize("stored", [{"geometry": "no base64!"}, {"geometry": 7, "splitters": {"chatSplitter": ["a"]}}])
async def test_a_broken_memory_is_no_obstacle(open_window: OpenWindow, stored: dict[str, object]) -> None:
    async with open_window(PAGES) as desktop:
        await desktop.core.settings.save("window", {**stored, "page": "nowhere"})
        desktop.window._remembered = dict(stored)
        desktop.window.rebuild()
        assert _shown(desktop.window) == "chatPage"


async def test_language_and_theme_change_at_once(open_window: OpenWindow) -> None:
    async with open_window(PAGES) as desktop:
        window = desktop.window
        old = window.page("chat")
        await emission(
            window.rebuilt,
            lambda: desktop.tasks.launch(
                desktop.core.settings.save("appearance", {"language": "zh_CN", "theme": "dark"})
            ),
        )
        new = window.page("chat")
        assert isinstance(old, Page)
        assert isinstance(new, Page)
        assert new is not old
        assert ("closed",) in old.told
        assert new.ctx.theme.palette.is_dark
        assert new.ctx.theme.mode is ThemeMode.DARK
        assert len(window.findChildren(StatusFeed)) <= 2  # the old one goes with its page


async def test_rebuilding_again_and_again_leaks_no_pages(open_window: OpenWindow) -> None:
    async with open_window(PAGES) as desktop:
        window = desktop.window
        for name in ("chat", "knowledge", "inbox"):
            window.page(name)
        for _ in range(20):
            window.rebuild()
            for name in ("chat", "knowledge", "inbox"):
                window.page(name)
            await _idle(desktop.tasks)
        await _deleted()
        assert len(window.findChildren(Page)) == 3


async def test_pages_hear_when_the_window_is_narrow(open_window: OpenWindow) -> None:
    async with open_window(PAGES) as desktop:
        chat = desktop.window.page("chat")
        assert isinstance(chat, Page)
        desktop.window.resize(1000, 700)
        assert chat.told[-1] == ("narrow", True, True)
        desktop.window.resize(1280, 800)
        assert chat.told[-1] == ("narrow", False, False)


async def test_closing_asks_the_application_and_ends_within_two_seconds(open_window: OpenWindow) -> None:
    async with open_window(PAGES) as desktop:
        await emission(desktop.window.close_requested, desktop.window.close)
        desktop.tasks.launch(asyncio.Event().wait(), what="something endless")
        began = perf_counter()
    assert perf_counter() - began < 2.0
    assert not [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]


@pytest.mark.expects_log
async def test_a_bug_in_a_task_is_reported_once_and_the_window_goes_on(
    open_window: OpenWindow, dialogs: ScriptedDialogs, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_window(PAGES) as desktop:

        async def fail() -> None:
            raise ZeroDivisionError

        desktop.tasks.launch(fail(), what="count")
        await _idle(desktop.tasks)
        assert dialogs.asked == [("tell", "Something in DevFlow failed")]
        assert "count failed" in caplog.text
        assert caplog.records[-1].levelno == logging.ERROR
        _button(desktop.window, "navInbox").click()
        assert _shown(desktop.window) == "inboxPage"


def _button(window: MainWindow, name: str) -> QAbstractButton:
    found = window.findChild(QAbstractButton, name)
    assert found is not None, name
    return found


async def _active(window: MainWindow) -> None:
    """Shortcuts work in the active window only."""
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    window.activateWindow()
    await until(window.isActiveWindow, app.focusWindowChanged)


def _shown(window: MainWindow) -> str:
    stack = window.findChild(QStackedWidget, "pages")
    assert stack is not None
    current = stack.currentWidget()
    assert current is not None
    return current.objectName()


def _status(window: MainWindow, name: str) -> str:
    item = window.findChild(StatusItem, name)
    assert item is not None, name
    return item.text()


async def _idle(tasks) -> None:  # type: ignore[no-untyped-def]
    """Until every owned task has ended, those started by others included."""
    async with asyncio.timeout(5):
        await tasks.settled()


async def _deleted() -> None:
    """Let Qt delete what was given up."""
    from PySide6.QtCore import QCoreApplication, QEvent

    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
