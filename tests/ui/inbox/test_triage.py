"""Reading, deciding and taking back, by keys alone."""

import asyncio

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget

from devflow.domain.knowledge import EventKind, Status
from tests.support.desk import CTRL, SHIFT, USER, Desk, at_the_desk
from tests.support.eventually import eventually

Key = Qt.Key


@at_the_desk
async def test_an_inbox_is_decided_by_keys_alone_and_every_decision_can_be_taken_back(desk: Desk) -> None:
    first, second, third, fourth = [
        await desk.add(title, confidence=confidence)
        for title, confidence in (("First", 0.9), ("Second", 0.8), ("Third", 0.7), ("Fourth", 0.6))
    ]
    await desk.arrive("First", "Second", "Third", "Fourth")
    assert desk.current() == "First"

    desk.press(Key.Key_J)
    assert desk.current() == "Second"
    desk.press(Key.Key_Down)
    assert desk.current() == "Third"
    desk.press(Key.Key_K)
    desk.press(Key.Key_Up)
    assert desk.current() == "First"

    desk.press(Key.Key_A)
    assert desk.current() == "Second"  # the focus moves before the row leaves
    await desk.until_listed("Second", "Third", "Fourth")
    assert desk.said() == "Published “First”"
    assert await desk.status(first) is Status.PUBLISHED

    desk.press(Key.Key_R)
    await desk.until_listed("Third", "Fourth")
    assert await desk.status(second) is Status.ARCHIVED

    desk.press(Key.Key_S)
    await eventually(lambda: desk.said() == "Sent “Third” to review")
    assert desk.current() == "Fourth"
    assert await desk.status(third) is Status.PENDING_REVIEW

    for title, entry in (("Third", third), ("Second", second), ("First", first)):
        desk.press(Key.Key_Z, CTRL)
        await eventually(lambda title=title: desk.said().startswith("Undone") and f"“{title}”" in desk.said())
        assert await desk.status(entry) is Status.CANDIDATE
    await desk.until_listed("First", "Second", "Third", "Fourth")
    assert desk.current() == "First"

    for title in ("First", "Second"):
        desk.press(Key.Key_Z, CTRL | SHIFT)
        await eventually(lambda title=title: not desk.said().startswith("Undone") and f"“{title}”" in desk.said())
    await desk.until_listed("Third", "Fourth")
    assert (await desk.status(first), await desk.status(second)) == (Status.PUBLISHED, Status.ARCHIVED)
    assert await desk.status(fourth) is Status.CANDIDATE


@at_the_desk
async def test_two_quick_presses_decide_two_candidates(desk: Desk) -> None:
    entries = [await desk.add(f"Entry {number}", confidence=1 - number / 10) for number in range(3)]
    await desk.arrive("Entry 0", "Entry 1", "Entry 2")

    desk.press(Key.Key_A)
    desk.press(Key.Key_A)
    await desk.until_listed("Entry 2")

    assert [await desk.status(entry) for entry in entries] == [Status.PUBLISHED, Status.PUBLISHED, Status.CANDIDATE]


@at_the_desk
async def test_undo_right_after_a_decision_takes_back_that_decision(desk: Desk) -> None:
    entry = await desk.add("Only one")
    await desk.arrive("Only one")

    desk.press(Key.Key_A)
    desk.press(Key.Key_Z, CTRL)
    await eventually(lambda: desk.said() == "Undone: Published “Only one”")

    assert await desk.status(entry) is Status.CANDIDATE
    await desk.until_listed("Only one")


@at_the_desk
async def test_what_undo_brought_back_is_sent_to_review_by_the_next_key(desk: Desk) -> None:
    entry = await desk.add("Only one")
    await desk.arrive("Only one")
    for _ in range(5):
        desk.press(Key.Key_A)
        await desk.until_listed()
        desk.press(Key.Key_Z, CTRL)
        await desk.until_listed("Only one")
        desk.press(Key.Key_S)
        await eventually(lambda: desk.said() == "Sent “Only one” to review")
        assert await desk.status(entry) is Status.PENDING_REVIEW
        desk.press(Key.Key_Z, CTRL)
        await eventually(lambda: desk.said() == "Undone: Sent “Only one” to review")


@at_the_desk
async def test_a_key_that_has_nothing_to_do_says_why(desk: Desk) -> None:
    await desk.add("Only one", Status.PENDING_REVIEW)
    await desk.arrive("Only one")
    desk.press(Key.Key_S)
    await eventually(lambda: "“Only one” is in review already" in desk.texts(desk.desktop.window))
    desk.press(Key.Key_W)
    await eventually(lambda: "“Only one” holds for all projects already" in desk.texts(desk.desktop.window))


@at_the_desk
async def test_several_marked_candidates_are_one_operation_and_one_undo(desk: Desk) -> None:
    entries = [await desk.add(f"Entry {number}", confidence=1 - number / 10) for number in range(4)]
    await desk.arrive("Entry 0", "Entry 1", "Entry 2", "Entry 3")

    desk.press(Key.Key_X)
    desk.press(Key.Key_J)
    desk.press(Key.Key_J)
    desk.press(Key.Key_X)
    assert "2 selected" in desk.texts(desk.inbox)
    desk.press(Key.Key_A)
    await desk.until_listed("Entry 1", "Entry 3")
    assert desk.said() == "Published 2 entries"
    timelines = [await desk.core.knowledge.knowledge_timeline(entries[number].id) for number in (0, 2)]
    assert len({events[0].operation for events in timelines}) == 1

    desk.press(Key.Key_Z, CTRL)
    await desk.until_listed("Entry 0", "Entry 1", "Entry 2", "Entry 3")
    assert {await desk.status(entry) for entry in entries} == {Status.CANDIDATE}


@at_the_desk
async def test_shift_j_and_shift_k_extend_the_selection_and_give_it_back(desk: Desk) -> None:
    for number in range(4):
        await desk.add(f"Entry {number}", confidence=1 - number / 10)
    await desk.arrive("Entry 0", "Entry 1", "Entry 2", "Entry 3")

    desk.press(Key.Key_J, SHIFT)
    desk.press(Key.Key_J, SHIFT)
    assert len(desk.inbox.list.selected_ids()) == 3
    desk.press(Key.Key_K, SHIFT)
    assert len(desk.inbox.list.selected_ids()) == 2
    desk.press(Key.Key_S)
    await eventually(lambda: desk.said() == "Sent 2 entries to review")

    desk.press(Key.Key_X)
    desk.press(Key.Key_Escape)
    assert len(desk.inbox.list.selected_ids()) == 1


@at_the_desk
async def test_a_rejection_takes_a_reason_by_its_number(desk: Desk) -> None:
    entry = await desk.add("Known already")
    await desk.arrive("Known already")

    desk.press(Key.Key_R)
    reasons = desk.find(QWidget, "rejectReasons")
    await eventually(reasons.isVisible)
    desk.press(Key.Key_1, on=desk.inbox)
    await eventually(lambda: desk.said() == "Rejected “Known already” · Duplicate")
    assert not reasons.isVisible()

    async def reason() -> str:
        event = (await desk.core.knowledge.knowledge_timeline(entry.id))[0]
        return str(event.detail.get("reason", ""))

    assert await reason() == "duplicate"

    desk.press(Key.Key_Z, CTRL, on=desk.inbox)
    await desk.until_listed("Known already")
    assert await desk.status(entry) is Status.CANDIDATE


@at_the_desk
async def test_a_number_without_a_rejection_does_nothing(desk: Desk) -> None:
    entry = await desk.add("Stays")
    await desk.arrive("Stays")

    desk.press(Key.Key_1)

    events = await desk.core.knowledge.knowledge_timeline(entry.id)
    assert [event.event for event in events] == [EventKind.CREATED]


@at_the_desk
async def test_the_same_acts_by_clicks(desk: Desk) -> None:
    entries = [await desk.add(f"Entry {number}", confidence=1 - number / 10) for number in range(3)]
    await desk.arrive("Entry 0", "Entry 1", "Entry 2")

    desk.click("approveEntryButton")
    await desk.until_listed("Entry 1", "Entry 2")
    desk.click("rejectEntryButton")
    await desk.until_listed("Entry 2")
    desk.click("rejectReason-outdated")
    await eventually(lambda: desk.said() == "Rejected “Entry 1” · Outdated")
    desk.click("sendToReviewButton")
    await eventually(lambda: desk.said() == "Sent “Entry 2” to review")
    desk.click("undoButton")
    await eventually(lambda: desk.said() == "Undone: Sent “Entry 2” to review")

    expected = [Status.PUBLISHED, Status.ARCHIVED, Status.CANDIDATE]
    assert [await desk.status(entry) for entry in entries] == expected


@at_the_desk
async def test_w_widens_a_projects_candidate_to_all_projects(desk: Desk, tmp_path) -> None:  # type: ignore[no-untyped-def]
    project = await desk.core.projects.ensure(tmp_path)
    entry = await desk.add("Local truth", project_id=project.id)
    await desk.arrive("Local truth")
    assert f"Project {project.name}" in desk.texts(desk.inbox.detail)

    desk.press(Key.Key_W)
    await eventually(lambda: "All projects" in desk.texts(desk.inbox.detail))

    assert (await desk.core.knowledge.knowledge_get(entry.id)).project is None
    desk.press(Key.Key_Z, CTRL)
    await eventually(lambda: f"Project {project.name}" in desk.texts(desk.inbox.detail))


@at_the_desk
async def test_what_changed_elsewhere_is_refused_and_nothing_else_is_lost(desk: Desk) -> None:
    entry = await desk.add("Approved elsewhere")
    await desk.arrive("Approved elsewhere")
    desk.press(Key.Key_A)
    await desk.until_listed()
    await desk.core.knowledge.knowledge_archive(entry.id, actor=USER)

    desk.press(Key.Key_Z, CTRL, on=desk.inbox)

    bar = desk.desktop.window._message_bar
    await eventually(lambda: "has changed since" in bar.words.text())
    assert await desk.status(entry) is Status.ARCHIVED


@at_the_desk
async def test_input_methods_are_off_in_the_list(desk: Desk) -> None:
    await desk.add("Any")
    await desk.add("Other")
    await desk.open_inbox()
    await eventually(lambda: len(desk.inbox_titles()) == 2)
    desk.press(Key.Key_J)

    assert desk.keyboard() is desk.inbox.list
    assert not desk.inbox.list.testAttribute(Qt.WidgetAttribute.WA_InputMethodEnabled)
    assert not desk.inbox.list.viewport().testAttribute(Qt.WidgetAttribute.WA_InputMethodEnabled)


@at_the_desk
async def test_slash_filters_and_escape_gives_the_keyboard_back(desk: Desk) -> None:
    await desk.add("Queue drops events", confidence=0.9)
    await desk.add("Fonts are slow", confidence=0.8)
    await desk.arrive("Queue drops events", "Fonts are slow")

    desk.press(Key.Key_Slash)
    filter_field = desk.inbox.candidates.filter
    assert desk.keyboard() is filter_field
    desk.type("inboxFilter", "fonts")
    await desk.until_listed("Fonts are slow")
    desk.type("inboxFilter", "nothing like it")
    await eventually(lambda: "No candidate matches" in desk.texts(desk.inbox))
    desk.press(Key.Key_Escape, on=filter_field)
    await desk.until_listed("Queue drops events", "Fonts are slow")
    desk.press(Key.Key_Escape, on=filter_field)
    assert desk.keyboard() is desk.inbox.list


@at_the_desk
async def test_a_question_mark_shows_the_keys(desk: Desk, dialogs) -> None:  # type: ignore[no-untyped-def]
    seen: list[str] = []

    async def look(sheet: QWidget) -> int:
        sheet.show()
        seen.extend(label.text() for label in sheet.findChildren(QLabel))
        return 1

    dialogs.will(look)
    desk.press(Key.Key_Question, SHIFT)
    await eventually(lambda: bool(seen))

    assert {"Publish", "Undo", "Send to review"} <= set(seen)


@at_the_desk
async def test_undo_reaches_fifty_decisions_back(desk: Desk) -> None:
    entries = [await desk.add(f"Entry {number:02}", confidence=1 - number / 100) for number in range(51)]
    await desk.open_inbox()
    await eventually(lambda: len(desk.inbox_titles()) == 51)
    await eventually(lambda: all(desk.inbox_titles()))
    for _ in range(51):
        desk.press(Key.Key_A)
    await eventually(lambda: desk.inbox.candidates.total == 0, within=30)
    for _ in range(52):
        desk.press(Key.Key_Z, CTRL, on=desk.inbox)
    await eventually(lambda: desk.inbox.candidates.total == 50, within=30)

    statuses = await asyncio.gather(*(desk.status(entry) for entry in entries))
    assert statuses.count(Status.CANDIDATE) == 50
    assert await desk.status(entries[0]) is Status.PUBLISHED
