"""What asks for attention in the library: contradictions, and vectors that failed or are still to be made."""

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from sqlalchemy import text

from devflow.domain.knowledge import EmbeddingStatus, Entry, Status
from devflow.store import entries
from devflow.ui.models.library_view import CONFLICTS, FAILED, PENDING
from devflow.ui.pages.knowledge.facet_row import FacetGroup, FacetRow
from tests.support.desk import PAGES, USER, Desk, at_the_desk
from tests.support.eventually import eventually
from tests.support.window import OpenWindow


@at_the_desk
async def test_a_library_without_trouble_has_no_such_group(desk: Desk) -> None:
    await desk.add("Locks", Status.PUBLISHED)
    await desk.open_library()
    await eventually(lambda: desk.library_titles() == ["Locks"])
    assert not group(desk).isVisible()


@at_the_desk
async def test_entries_that_contradict_another_are_one_click_away_and_the_search_stays_inside(desk: Desk) -> None:
    first = await desk.add("Always retry", Status.PUBLISHED)
    second = await desk.add("Never retry", Status.PUBLISHED)
    await desk.add("Retry with pauses", Status.PUBLISHED)
    await desk.core.db.write(lambda unit: entries.link(unit, first.id, second.id, "conflict", 1.0))
    await desk.open_library()
    await eventually(lambda: texts(desk) == ["Conflicts, 2"])

    choose(desk, CONFLICTS)
    await eventually(lambda: sorted(desk.library_titles()) == ["Always retry", "Never retry"])
    desk.type("librarySearch", "retry pauses always")
    await eventually(lambda: desk.library_titles()[:1] == ["Always retry"] and desk.library.view.searching)
    assert "Retry with pauses" not in desk.library_titles()
    QTest.keyClick(desk.library.pane.search, Qt.Key.Key_Escape)
    await eventually(lambda: len(desk.library_titles()) == 2)

    await desk.core.knowledge.knowledge_archive(second.id, actor=USER)  # the contradiction is gone with it
    await eventually(lambda: desk.library_titles() == [])
    choose(desk, CONFLICTS)
    await eventually(lambda: len(desk.library_titles()) == 2)
    assert not group(desk).isVisible()


@at_the_desk
async def test_contradictions_that_only_the_texts_betray_are_found_while_the_library_is_looked_at(desk: Desk) -> None:
    await desk.add("Always retry a failed request", Status.PUBLISHED, content="Always retry a failed request at once.")
    await desk.add("Cooking rice takes ten minutes", Status.PUBLISHED)
    await desk.open_library()
    await eventually(lambda: len(desk.library_titles()) == 2)
    await desk.add("Never retry a failed request", Status.PUBLISHED, content="Never retry a failed request at once.")
    await eventually(lambda: texts(desk) == ["Conflicts, 2"])

    choose(desk, CONFLICTS)
    await eventually(
        lambda: sorted(desk.library_titles()) == ["Always retry a failed request", "Never retry a failed request"]
    )


@at_the_desk
async def test_vectors_that_failed_or_wait_are_counted_and_found(desk: Desk) -> None:
    for title, status in (("Failed", EmbeddingStatus.FAILED), ("Waits", EmbeddingStatus.PENDING), ("Done", "ready")):
        await vectors(desk, await desk.add(f"{title} locks", Status.PUBLISHED), EmbeddingStatus(status))
    await desk.open_library()
    await eventually(lambda: texts(desk) == ["Embedding failed, 1", "Embedding pending, 1"])

    choose(desk, FAILED)
    await eventually(lambda: desk.library_titles() == ["Failed locks"])
    desk.type("librarySearch", "locks")
    await eventually(lambda: desk.library.pane.count.text() == "1 found")
    assert desk.library_titles() == ["Failed locks"]
    choose(desk, PENDING)
    await eventually(lambda: desk.library_titles() == ["Waits locks"])


async def test_the_choice_survives_a_restart(open_window: OpenWindow) -> None:
    async with open_window(PAGES) as desktop:
        desk = Desk(desktop)
        await desk.built()
        await vectors(desk, await desk.add("Failed", Status.PUBLISHED), EmbeddingStatus.FAILED)
        await desk.add("Fine", Status.PUBLISHED)
        await desk.open_library()
        await eventually(lambda: texts(desk) == ["Embedding failed, 1"])
        choose(desk, FAILED)
        await eventually(lambda: desk.library_titles() == ["Failed"])

    async with open_window(PAGES) as desktop:
        desk = Desk(desktop)
        await desk.built()
        await desk.open_library()
        await eventually(lambda: desk.library_titles() == ["Failed"])
        row = group(desk).row(FAILED)
        assert row is not None
        assert row.isChecked()


def group(desk: Desk) -> FacetGroup:
    return desk.find(FacetGroup, "attentionFilter")


def texts(desk: Desk) -> list[str]:
    return [row.accessibleName() for row in group(desk).rows] if group(desk).isVisible() else []


def choose(desk: Desk, value: str) -> None:
    row = group(desk).row(value)
    assert isinstance(row, FacetRow)
    QTest.mouseClick(row, Qt.MouseButton.LeftButton)


async def vectors(desk: Desk, entry: Entry, status: EmbeddingStatus) -> None:
    """As the background work leaves it."""
    statement = text("UPDATE entries SET embedding_status = :status WHERE id = :id")
    await desk.core.db.write(lambda unit: unit.session.execute(statement, {"status": status.value, "id": entry.id}))
