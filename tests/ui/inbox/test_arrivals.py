"""What comes in while the inbox is open: nothing moves, nothing is lost."""

import asyncio
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton

from devflow.domain.knowledge import Status
from devflow.ui.pages.inbox import InboxPage
from tests.support.commands import Result, devflow
from tests.support.desk import USER, Desk, at_the_desk
from tests.support.eventually import eventually

Key = Qt.Key


@at_the_desk
async def test_new_arrivals_wait_behind_a_pill_and_never_move_the_selection(desk: Desk) -> None:
    await desk.add("Second", confidence=0.8)
    await desk.add("Third", confidence=0.7)
    await desk.arrive("Second", "Third")
    desk.press(Key.Key_J)
    top = desk.inbox.list.visualRect(desk.inbox.list.currentIndex()).top()

    await desk.add("First", confidence=0.9)
    await desk.add("Fourth", confidence=0.6)

    pill = desk.find(QPushButton, "newCandidatesPill")
    await eventually(lambda: pill.text() == "2 new candidates")
    assert desk.inbox_titles() == ["Second", "Third"]
    assert desk.current() == "Third"
    assert desk.inbox.list.visualRect(desk.inbox.list.currentIndex()).top() == top
    await eventually(lambda: desk.badge() == "4")

    desk.click("newCandidatesPill")
    await desk.until_listed("First", "Second", "Third", "Fourth")
    assert desk.current() == "Third"
    assert not pill.isVisible()


@at_the_desk
async def test_an_arrival_in_an_empty_inbox_is_shown_at_once(desk: Desk) -> None:
    await desk.arrive()
    await desk.add("The first one")
    await desk.until_listed("The first one")
    assert desk.judged() == "The first one"


@at_the_desk
async def test_who_comes_back_to_the_inbox_finds_everything_in_its_place(desk: Desk) -> None:
    await desk.add("Second", confidence=0.8)
    await desk.arrive("Second")
    desk.desktop.window.show_page("chat")
    await desk.add("First", confidence=0.9)
    await desk.arrive("First", "Second")
    assert desk.current() == "Second"


@at_the_desk
async def test_a_second_process_adds_a_candidate_and_badge_and_list_follow_within_two_seconds(
    desk: Desk, home: Path
) -> None:
    """KP-7: another process's change arrives without a click."""
    await desk.add("Mine", confidence=0.5)
    await desk.add("Mine too", confidence=0.4)
    await desk.arrive("Mine", "Mine too")
    desk.press(Key.Key_J)

    added = await asyncio.to_thread(_add, home)
    assert added.code == 0, added.err

    pill = desk.find(QPushButton, "newCandidatesPill")
    await eventually(lambda: pill.isVisible() and desk.badge() == "3", within=2)
    assert pill.text() == "1 new candidate"
    assert desk.current() == desk.judged() == "Mine too"
    assert desk.inbox_titles() == ["Mine", "Mine too"]
    desk.click("newCandidatesPill")
    await desk.until_listed("From a terminal", "Mine", "Mine too")
    assert desk.current() == "Mine too"


@at_the_desk
async def test_what_is_decided_elsewhere_leaves_and_the_next_one_is_judged(desk: Desk) -> None:
    """KP-7: the list is read again, whoever acted."""
    first = await desk.add("First", confidence=0.9)
    await desk.add("Second", confidence=0.8)
    await desk.arrive("First", "Second")

    await desk.core.knowledge.knowledge_archive(first.id, actor=USER)

    await desk.until_listed("Second")
    assert desk.current() == "Second"


@at_the_desk
async def test_what_undo_brings_back_is_no_new_arrival(desk: Desk) -> None:
    await desk.add("First", confidence=0.9)
    await desk.add("Second", confidence=0.8)
    await desk.arrive("First", "Second")
    desk.press(Key.Key_R)
    await desk.until_listed("Second")
    desk.click("undoButton")
    await desk.until_listed("First", "Second")
    assert desk.current() == "First"
    assert not desk.find(QPushButton, "newCandidatesPill").isVisible()


@at_the_desk
async def test_undo_selects_what_it_brought_back_and_not_its_neighbour(desk: Desk) -> None:
    for place, title in enumerate(("First", "Second", "Third", "Fourth")):
        await desk.add(title, confidence=0.9 - place / 10)
    await desk.arrive("First", "Second", "Third", "Fourth")
    desk.press(Key.Key_J)
    for key in (Key.Key_R, Key.Key_A):
        assert desk.current() == "Second"
        desk.press(key)
        assert desk.current() == "Third"
        await eventually(lambda: "“Second”" in desk.said() and not desk.said().startswith("Undone"))
        desk.click("undoButton")
        await eventually(lambda: desk.said().startswith("Undone"))
        await desk.until_listed("First", "Second", "Third", "Fourth")
        await eventually(lambda: desk.current() == "Second")


@at_the_desk
async def test_a_link_to_a_candidate_selects_it(desk: Desk) -> None:
    await desk.add("First", confidence=0.9)
    wanted = await desk.add("Second", confidence=0.8)
    desk.desktop.window.open_link(f"devflow:inbox/{wanted.id}")
    await eventually(lambda: desk.judged() == "Second")
    assert desk.desktop.window.current == "inbox"


@at_the_desk
async def test_the_undo_stack_outlives_a_change_of_language(desk: Desk) -> None:
    entry = await desk.add("Kept")
    await desk.arrive("Kept")
    desk.press(Key.Key_A)
    await desk.until_listed()
    before = desk.inbox

    await desk.core.settings.update("appearance", language="zh_CN")
    await eventually(lambda: desk.inbox is not before)
    await desk.built()
    assert isinstance(desk.inbox, InboxPage)
    desk.press(Key.Key_Z, Qt.KeyboardModifier.ControlModifier, on=desk.inbox)

    await eventually(lambda: desk.inbox_titles() == ["Kept"])
    assert await desk.status(entry) is Status.CANDIDATE


def _add(home: Path) -> Result:
    words = ("--kind", "pitfall", "--title", "From a terminal", "--content", "Said there.", "--confidence", "0.9")
    return devflow(home, "knowledge", "add", *words)
