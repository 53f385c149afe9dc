"""The library's list: what it shows, what its search reaches, and that neither forgets."""

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QMenu, QWidget

from devflow.domain.knowledge import Kind, Status
from devflow.ui.pages.knowledge.facet_row import FacetGroup, FacetRow
from devflow.ui.widgets import Picker
from tests.support.commands import devflow
from tests.support.desk import PAGES, USER, Desk, at_the_desk
from tests.support.eventually import eventually
from tests.support.window import OpenWindow

Key = Qt.Key


@at_the_desk
async def test_kp_4_the_search_reaches_exactly_what_the_list_shows(desk: Desk) -> None:
    for status in Status:
        await desk.add(f"Locks, {status.value}", status)
        await desk.add(f"Fonts, {status.value}", status)
    await desk.open_library()

    for status in Status:
        choose(desk, "statusFilter", status)
        await eventually(lambda status=status: len(desk.library_titles()) == 2)
        desk.type("librarySearch", "locks")
        await eventually(lambda status=status: desk.library_titles() == [f"Locks, {status.value}"])
        desk.type("librarySearch", "fonts")
        await eventually(lambda status=status: desk.library_titles() == [f"Fonts, {status.value}"])
        clear(desk)
        await eventually(lambda: len(desk.library_titles()) == 2)

    choose(desk, "statusFilter", Status.ARCHIVED)  # free again: every status
    await eventually(lambda: len(desk.library_titles()) == 8)
    desk.type("librarySearch", "locks")
    await eventually(lambda: sorted(desk.library_titles()) == sorted(f"Locks, {status.value}" for status in Status))


@at_the_desk
async def test_kp_8_clearing_the_search_keeps_the_facets(desk: Desk) -> None:
    await desk.add("Locks in SQLite", Status.PUBLISHED, kind="pitfall", tags=("sqlite",))
    await desk.add("Snapshots in SQLite", Status.PUBLISHED, kind="pitfall", tags=("sqlite",))
    await desk.add("Locks in reviews", Status.PUBLISHED, kind="review_rule", tags=("sqlite",))
    await desk.add("Locks in Qt", Status.PUBLISHED, kind="pitfall", tags=("qt",))
    await desk.open_library()
    await eventually(lambda: len(desk.library_titles()) == 4)

    choose(desk, "kindFilter", Kind.PITFALL)
    await eventually(lambda: len(desk.library_titles()) == 3)
    choose(desk, "tagFilter", "sqlite")
    await eventually(lambda: sorted(desk.library_titles()) == ["Locks in SQLite", "Snapshots in SQLite"])
    desk.type("librarySearch", "locks")
    await eventually(lambda: desk.library_titles() == ["Locks in SQLite"])
    clear(desk)

    await eventually(lambda: sorted(desk.library_titles()) == ["Locks in SQLite", "Snapshots in SQLite"])
    assert row(desk, "kindFilter", Kind.PITFALL).isChecked()
    assert row(desk, "tagFilter", "sqlite").isChecked()
    assert row(desk, "statusFilter", Status.PUBLISHED).isChecked()


async def test_facets_search_and_order_survive_a_restart(open_window: OpenWindow) -> None:
    async with open_window(PAGES) as desktop:
        desk = Desk(desktop)
        await desk.built()
        await desk.add("Old lock", Status.ARCHIVED, kind="diagnosis", tags=("sqlite",))
        await desk.add("New lock", Status.ARCHIVED, kind="diagnosis", tags=("sqlite",))
        await desk.add("Other", Status.ARCHIVED, kind="pitfall")
        await desk.open_library()
        choose(desk, "statusFilter", Status.ARCHIVED)
        await eventually(lambda: len(desk.library_titles()) == 3)
        choose(desk, "kindFilter", Kind.DIAGNOSIS)
        pick_sort(desk, "title")
        desk.type("librarySearch", "lock")
        await eventually(lambda: desk.library.view.query == "lock" and len(desk.library_titles()) == 2)
        pick_sort(desk, "created")
        await eventually(lambda: desk.library_titles() == ["New lock", "Old lock"])

    async with open_window(PAGES) as desktop:
        desk = Desk(desktop)
        await desk.built()
        await desk.open_library()
        await eventually(lambda: desk.library_titles() == ["New lock", "Old lock"])
        assert desk.library.pane.search.text() == "lock"
        assert row(desk, "statusFilter", Status.ARCHIVED).isChecked()
        assert row(desk, "kindFilter", Kind.DIAGNOSIS).isChecked()
        clear(desk)
        await eventually(lambda: desk.library_titles() == ["New lock", "Old lock"])
        assert desk.library.view.sort == "title"


@at_the_desk
async def test_kp_7_every_act_shows_at_once_in_list_and_counts(desk: Desk) -> None:
    entry = await desk.add("Take the lock first")
    await desk.open_library()
    await eventually(lambda: count(desk, "statusFilter", Status.CANDIDATE) == 1)
    assert desk.library_titles() == []

    await desk.core.knowledge.knowledge_approve(entry.id, actor=USER)
    await eventually(lambda: desk.library_titles() == ["Take the lock first"])
    assert count(desk, "statusFilter", Status.PUBLISHED) == 1
    assert count(desk, "statusFilter", Status.CANDIDATE) == 0
    assert count(desk, "kindFilter", Kind.PITFALL) == 1

    desk.click("archiveEntryButton")
    await eventually(lambda: desk.library_titles() == [])
    assert count(desk, "statusFilter", Status.ARCHIVED) == 1


@at_the_desk
async def test_kp_7_another_process_publishes_and_the_list_follows_within_two_seconds(desk: Desk, home: Path) -> None:
    import asyncio

    entry = await desk.add("Published in a terminal")
    await desk.add("Mine", Status.PUBLISHED)
    await desk.open_library()
    await eventually(lambda: desk.library_titles() == ["Mine"])

    done = await asyncio.to_thread(devflow, home, "knowledge", "approve", entry.id)
    assert done.code == 0, done.err

    await eventually(lambda: desk.library_titles() == ["Published in a terminal", "Mine"], within=2)
    assert str(desk.library.list.currentIndex().data()) == "Mine"


@at_the_desk
async def test_every_order_is_the_services_own(desk: Desk) -> None:
    low = await desk.add("B", Status.PUBLISHED, confidence=0.1)
    await desk.add("A", Status.PUBLISHED, confidence=0.9)
    await desk.add("C", Status.PUBLISHED, confidence=0.5)
    await desk.core.knowledge.knowledge_record_reuse(low.id, actor=USER)
    await desk.open_library()
    await eventually(lambda: len(desk.library_titles()) == 3)

    for sort, titles in (
        ("title", ["A", "B", "C"]),
        ("confidence", ["A", "C", "B"]),
        ("reuse", ["B", "C", "A"]),
        ("created", ["C", "A", "B"]),
        ("updated", ["C", "A", "B"]),
    ):
        pick_sort(desk, sort)
        await eventually(lambda titles=titles: desk.library_titles() == titles)


@at_the_desk
async def test_more_tags_than_fit_stand_behind_one_row(desk: Desk) -> None:
    for number in range(8):
        await desk.add(f"Entry {number}", Status.PUBLISHED, tags=(f"tag{number}",))
    await desk.open_library()
    tags = desk.find(FacetGroup, "tagFilter")
    await eventually(lambda: tags.more.text() == "3 more…")
    assert len(tags.rows) == 5

    QTest.mouseClick(tags.more, Qt.MouseButton.LeftButton)
    menu = desk.find(QMenu, "tagMenu")
    next(action for action in menu.actions() if action.data() == "tag7").trigger()
    menu.close()

    await eventually(lambda: desk.library_titles() == ["Entry 7"])
    assert row(desk, "tagFilter", "tag7").isChecked()


@at_the_desk
async def test_nothing_found_says_so_and_gives_the_way_back(desk: Desk) -> None:
    await desk.add("Take the lock first", Status.PUBLISHED)
    await desk.open_library()
    await eventually(lambda: desk.library_titles() == ["Take the lock first"])
    desk.type("librarySearch", "zebra")
    empty = desk.find(QWidget, "libraryEmpty")
    await eventually(empty.isVisible)
    assert "Nothing matches" in desk.texts(empty)

    QTest.mouseClick(desk.library.pane._nothing.buttons[0], Qt.MouseButton.LeftButton)
    await eventually(lambda: desk.library_titles() == ["Take the lock first"])
    assert desk.library.pane.search.text() == ""


@at_the_desk
async def test_an_empty_library_offers_the_samples(desk: Desk) -> None:
    await desk.open_library()
    empty = desk.find(QWidget, "libraryEmpty")
    await eventually(lambda: "The library is empty" in desk.texts(empty))
    QTest.mouseClick(desk.library.pane._nothing.buttons[0], Qt.MouseButton.LeftButton)
    await eventually(lambda: len(desk.library_titles()) == 12, within=10)


@at_the_desk
async def test_matches_are_marked_in_the_text(desk: Desk) -> None:
    await desk.add("Take the lock first", Status.PUBLISHED, content="Before a write, take the lock.")
    await desk.open_library()
    await eventually(lambda: desk.library.detail.entry is not None)
    desk.type("librarySearch", "lock")
    await eventually(lambda: bool(desk.library.detail.text.prose.extraSelections()))
    marks = desk.library.detail.text.prose.extraSelections()
    assert [mark.cursor.selectedText() for mark in marks] == ["lock"]


@at_the_desk
async def test_below_1040_px_the_facets_become_a_popup(desk: Desk) -> None:
    await desk.add("Any", Status.PUBLISHED)
    await desk.open_library()
    desk.desktop.window.resize(1000, 700)
    filters = desk.find(QAbstractButton, "filtersButton")
    await eventually(filters.isVisible)
    statuses = desk.find(FacetGroup, "statusFilter")
    assert not statuses.isVisible()
    desk.click("filtersButton")
    assert statuses.isVisible()
    choose(desk, "statusFilter", Status.ARCHIVED)
    await eventually(lambda: desk.library.view.status is Status.ARCHIVED)
    desk.desktop.window.resize(1280, 800)
    await eventually(lambda: not filters.isVisible() and statuses.isVisible())


@at_the_desk
async def test_a_large_library_is_read_as_it_scrolls(desk: Desk) -> None:
    await desk.core.db.write(lambda unit: _fill(unit, 5_000))
    await desk.open_library()
    await eventually(lambda: desk.library.model.rowCount() == 5_000)
    await eventually(lambda: desk.library.model.item(desk.library.model.id_at(0)) is not None)
    assert desk.library.model.item(desk.library.model.id_at(4_000)) is None

    desk.library.list.scrollToBottom()
    last = desk.library.model.id_at(4_999)
    await eventually(lambda: desk.library.model.item(last) is not None)
    assert "5,000 published" in desk.texts(desk.library.pane)


def choose(desk: Desk, group: str, value: object) -> None:
    """Click on a facet's row."""
    QTest.mouseClick(row(desk, group, value), Qt.MouseButton.LeftButton)


def row(desk: Desk, group: str, value: object) -> FacetRow:
    found = desk.find(FacetGroup, group).row(value)
    assert found is not None, f"{group} has no {value}"
    return found


def count(desk: Desk, group: str, value: object) -> int:
    return row(desk, group, value).facet.count


def clear(desk: Desk) -> None:
    QTest.keyClick(desk.library.pane.search, Key.Key_Escape)


def pick_sort(desk: Desk, name: str) -> None:
    """Open the picker and choose."""
    picker = desk.find(Picker, "sortPicker")
    QTest.mouseClick(picker, Qt.MouseButton.LeftButton)
    menu = picker.findChildren(QMenu)[-1]
    action = next(action for action in menu.actions() if isinstance(action, QAction) and action.data() == name)
    action.trigger()
    menu.close()


def _fill(unit, count: int) -> None:  # type: ignore[no-untyped-def]
    from sqlalchemy import text

    statement = text(
        "INSERT INTO entries (id, kind, title, content, tags, status, confidence, reuse_count, source_ref, normal_hash,"
        " created_at, updated_at, version, embedding_status, embedding_attempts) SELECT printf('id-%06d', value),"
        " 'pitfall', 'Entry ' || value, 'Text', '[]', 'published', 1.0, 0, 'manual', 'hash-' || value,"
        " '2026-01-01 00:00:00', '2026-01-01 00:00:00', 1, 'none', 0 FROM (WITH RECURSIVE n(value) AS"
        " (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < :count) SELECT value FROM n)"
    )
    unit.session.execute(statement, {"count": count})
