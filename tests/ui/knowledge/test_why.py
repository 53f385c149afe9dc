"""“Why this?” in the library: every hit explains itself, and a search that is not all yet is completed."""

import asyncio

from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton

from devflow.domain.events import IndexFilled
from devflow.domain.knowledge import Status
from devflow.domain.provider import ProviderDraft
from devflow.store import search_fill
from devflow.store.search_fill import Filling, keep_filling
from devflow.ui.widgets.why import WhyBar
from tests.fakes.embedding_server import EmbeddingServer
from tests.support.desk import USER, Desk, at_the_desk
from tests.support.eventually import eventually

Key = Qt.Key
Role = Qt.ItemDataRole


@at_the_desk
async def test_a_hit_says_which_terms_stand_in_which_of_its_fields(desk: Desk) -> None:
    await desk.add("Docker cache", Status.PUBLISHED, content="Order the layers.", tags=("build",))
    await desk.open_library()
    await eventually(lambda: desk.library_titles() == ["Docker cache"])
    assert not why(desk).isVisible()

    desk.type("librarySearch", "layers of a docker build")
    await eventually(why(desk).isVisible)

    assert not why(desk).facts.isVisible()
    QTest.mouseClick(why(desk).button, Qt.MouseButton.LeftButton)
    assert why(desk).facts.isVisible()
    assert dict(why(desk).facts.facts) == {
        "Found by": "words",
        "In the title": "docker",
        "In the tags": "build",
        "In the text": "layers",
    }


@at_the_desk
async def test_a_hit_that_contains_the_whole_query_says_so(desk: Desk) -> None:
    await desk.add("Docker cache", Status.PUBLISHED)
    await desk.open_library()
    desk.type("librarySearch", "cker ca")
    await eventually(why(desk).isVisible)
    assert why(desk).facts.facts[0] == ("Found by", "the whole query")
    assert ("In the title", "cker ca") in why(desk).facts.facts


@at_the_desk
async def test_chinese_words_are_told_as_words_and_not_as_pairs(desk: Desk) -> None:
    await desk.add("写事务一开始就取锁", Status.PUBLISHED, content="否则升级时不等待。")
    await desk.open_library()
    desk.type("librarySearch", "升级 写事务")
    await eventually(why(desk).isVisible)
    assert dict(why(desk).facts.facts) == {"Found by": "words", "In the title": "写事务", "In the text": "升级"}


@at_the_desk
async def test_every_row_has_its_reason_for_the_pointer_and_for_a_screen_reader(desk: Desk) -> None:
    await desk.add("Docker cache", Status.PUBLISHED, content="Order the layers.")
    await desk.add("Layers", Status.PUBLISHED, content="A docker image has some.")
    await desk.open_library()
    desk.type("librarySearch", "docker layers")
    model = desk.library.model

    def told(row: int) -> object:
        return model.index(row, 0).data(Role.ToolTipRole)

    await eventually(lambda: model.rowCount() == 2 and told(0) and told(1))
    reasons = {str(model.index(row, 0).data()): told(row) for row in range(2)}
    assert reasons == {
        "Docker cache": "Why this? title: docker; content: layers",
        "Layers": "Why this? title: layers; content: docker",
    }
    assert model.index(0, 0).data(Role.AccessibleDescriptionRole) == told(0)

    QTest.keyClick(desk.library.pane.search, Key.Key_Escape)
    await eventually(lambda: told(0) is None)


@at_the_desk
async def test_the_keyboard_unfolds_it_and_it_stays_unfolded_from_hit_to_hit(desk: Desk) -> None:
    await desk.add("Locks", Status.PUBLISHED, content="About them.")
    await desk.add("A snapshot", Status.PUBLISHED, content="Readers need no locks.")
    await desk.open_library()
    desk.type("librarySearch", "locks")
    await eventually(why(desk).isVisible)
    rows = desk.library.list
    rows.setFocus()

    desk.press(Key.Key_Y, on=rows)
    assert why(desk).facts.isVisible()
    before = why(desk).facts.facts
    desk.press(Key.Key_K if rows.currentIndex().row() else Key.Key_J, on=rows)
    await eventually(lambda: why(desk).facts.facts != before)
    assert why(desk).facts.isVisible()

    button = why(desk).button
    button.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(button, Key.Key_Space)
    assert not why(desk).facts.isVisible()
    spoken = QAccessible.queryAccessibleInterface(button)
    assert spoken.text(QAccessible.Text.Name) == "Why this?"
    assert "folded" in spoken.text(QAccessible.Text.Description)


@at_the_desk
async def test_an_entry_that_a_link_opened_is_not_explained_by_the_search_beside_it(desk: Desk) -> None:
    await desk.add("Locks", Status.PUBLISHED)
    other = await desk.add("Fonts", Status.PUBLISHED)
    await desk.open_library()
    desk.type("librarySearch", "locks")
    await eventually(why(desk).isVisible)
    desk.desktop.window.open_link(f"devflow:entry/{other.id}")
    await eventually(lambda: desk.library.detail.entry is not None and desk.library.detail.entry.id == other.id)
    assert not why(desk).isVisible()


@at_the_desk
async def test_a_hit_by_meaning_alone_says_how_near_it_is(desk: Desk) -> None:
    async with EmbeddingServer() as vectors:
        provider = await desk.core.models.add(ProviderDraft("Embedder", vectors.base_url, models=("chat-small",)))
        config = {"vector_enabled": True, "embedding_provider_id": provider.id, "embedding_model": "embed-small"}
        await desk.core.knowledge.knowledge_change_config(config, actor=USER)
        await desk.add("Take the write lock", Status.PUBLISHED, content="BEGIN IMMEDIATE takes it at once.")
        await desk.add("Bake a loaf", Status.PUBLISHED, content="Twenty minutes in the oven.")
        await desk.core.embeddings.settled()
        await desk.open_library()
        desk.type("librarySearch", "锁")
        await eventually(lambda: desk.library_titles() == ["Take the write lock"])
        await eventually(why(desk).isVisible)
        facts = dict(why(desk).facts.facts)
        assert facts["Found by"] == "meaning alone"
        value, floor = facts["Similarity"].split(", near from ")
        assert float(value) >= float(floor) == 0.3
        assert "near in meaning; similarity" in str(desk.library.model.index(0, 0).data(Role.ToolTipRole))


# what is not all yet ------------------------------------------------------------------------------------------------


@at_the_desk
async def test_a_search_that_met_its_cap_says_so_and_is_completed_without_moving_the_selection(desk: Desk) -> None:
    for number in range(12):
        await desk.add(f"Arrow {number}", Status.PUBLISHED, content="a long arrow --> here")
    knowledge = desk.core.knowledge
    knowledge.scan_cap = 5
    hold = asyncio.Event()
    whole = knowledge.knowledge_found

    async def held(*args, **kwargs):  # type: ignore[no-untyped-def]
        if kwargs.get("whole"):
            await hold.wait()
        return await whole(*args, **kwargs)

    knowledge.knowledge_found = held  # type: ignore[method-assign]
    await desk.open_library()
    await eventually(lambda: desk.library.model.rowCount() == 12)

    desk.type("librarySearch", "-->")
    await eventually(lambda: desk.library.model.rowCount() == 5)
    assert desk.library.pane.count.text() == "5 found so far, searching the rest…"
    desk.library.list.setFocus()
    desk.press(Key.Key_J, on=desk.library.list)
    chosen = desk.library.list.current_id
    hold.set()

    await eventually(lambda: desk.library.model.rowCount() == 12)
    assert desk.library.pane.count.text() == "12 found"
    assert desk.library.list.current_id == chosen
    assert desk.library.list.hasFocus()


@at_the_desk
async def test_a_change_elsewhere_does_not_take_rows_away_that_the_completion_has_brought(desk: Desk) -> None:
    entries = [await desk.add(f"Arrow {number}", Status.PUBLISHED, content="an arrow --> here") for number in range(9)]
    desk.core.knowledge.scan_cap = 4
    await desk.open_library()
    desk.type("librarySearch", "-->")
    await eventually(lambda: desk.library.pane.count.text() == "9 found")
    fewest: list[int] = []

    def removed(_parent: QModelIndex, first: int, last: int) -> None:
        fewest.append(last - first + 1)

    desk.library.model.rowsRemoved.connect(removed)
    desk.library.model.modelReset.connect(lambda: fewest.append(9))
    await desk.core.knowledge.knowledge_archive(entries[0].id, actor=USER)
    await eventually(lambda: desk.library.model.rowCount() == 8)
    assert fewest == [1]


@at_the_desk
async def test_while_the_search_index_is_made_anew_a_search_says_so_and_takes_what_comes(desk: Desk) -> None:
    for number in range(4):
        await desk.add(f"Lock {number}", Status.PUBLISHED)
    await desk.open_library()
    db, hub = desk.core.db, desk.core.hub
    await db.write(search_fill.begin)
    await db.write(lambda unit: search_fill.fill(unit, most=1))
    desk.desktop.window._feed.refresh()
    status = desk.find(QAbstractButton, "statusIndex")
    await eventually(status.isVisible)
    assert status.text() == "Search index: 1 / 4"

    desk.type("librarySearch", "lock")
    await eventually(lambda: desk.library_titles() == ["Lock 3"])
    assert desk.library.pane.count.text() == "1 found so far, the search index is being made…"

    told: list[str] = []

    def report(at: Filling) -> None:
        hub.publish(IndexFilled(at.done, at.total))
        if not at.is_full:
            told.append(desk.find(QAbstractButton, "statusIndex").text())

    await keep_filling(db, report)
    assert told == ["Search index: 1 / 4"]
    assert not status.isVisible(), "the status line says that no more once it is done"
    await eventually(lambda: len(desk.library_titles()) == 4)
    assert desk.library.pane.count.text() == "4 found"
    assert str(desk.library.list.currentIndex().data()) == "Lock 3"


def why(desk: Desk) -> WhyBar:
    return desk.library.detail.why
