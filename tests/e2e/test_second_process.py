"""The command line writes while the window is open: what is shown follows and moves nobody (spec 00, KP-7)."""

import asyncio
from pathlib import Path
from time import monotonic

from PySide6.QtCore import Qt

from devflow.domain.knowledge import draft
from devflow.knowledge.acts import Actor
from tests.e2e.conftest import Start
from tests.support import hands
from tests.support.commands import Result, devflow
from tests.support.person import Person
from tests.support.waiting import emission

SOON = 2.0
"""Seconds after the command has ended."""


async def test_a_candidate_of_another_process_is_counted_and_offered_without_moving_the_selection(
    start: Start, home: Path
) -> None:
    async with start() as person:
        await _three_candidates(person)
        person.presses(Qt.Key.Key_J)
        assert hands.current_row("inboxList") == "Second thing"

        added = await _command(
            home, "knowledge", "add", "--kind", "pitfall", "--title", "From outside", "--content", "Said by a script."
        )
        assert added.code == 0
        ended = monotonic()
        await person.until(lambda: person.badge == "4", "badge 4", within=SOON)
        await person.sees("1 new candidate", on="newCandidatesPill", within=SOON)
        assert monotonic() - ended < SOON
        assert hands.current_row("inboxList") == "Second thing"
        assert hands.rows("inboxList") == ["First thing", "Second thing", "Third thing"], "nothing moves under the hand"
        assert "Second thing" in person.words("inboxDetail")

        await person.clicks("newCandidatesPill")
        there = ["From outside", "First thing", "Second thing", "Third thing"]  # the most confident first
        await person.until(lambda: hands.rows("inboxList") == there, "the new one in its place")
        assert hands.current_row("inboxList") == "Second thing"
        await person.misses("newCandidatesPill")


async def test_what_another_process_publishes_leaves_the_inbox_and_enters_the_library(start: Start, home: Path) -> None:
    async with start() as person:
        await _three_candidates(person)
        person.presses(Qt.Key.Key_J)
        ids = {entry.title: entry.id for entry in (await person.core.knowledge.knowledge_list_candidates()).entries}

        assert (await _command(home, "knowledge", "approve", ids["First thing"])).code == 0
        await person.until(
            lambda: hands.rows("inboxList") == ["Second thing", "Third thing"], "the row leaves", within=SOON
        )
        await person.until(lambda: person.badge == "2", "badge 2", within=SOON)
        await person.sees("1 entry in the library", on="statusLine", within=SOON)
        assert hands.current_row("inboxList") == "Second thing"

        # the very one that is being read: the next takes its place, as after a decision of one's own
        assert (await _command(home, "knowledge", "archive", ids["Second thing"])).code == 0
        await person.until(lambda: hands.rows("inboxList") == ["Third thing"], "the row leaves", within=SOON)
        assert hands.current_row("inboxList") == "Third thing"
        await person.sees("Third thing", on="inboxDetail")

        await person.goes_to("Knowledge")
        await person.until(lambda: hands.rows("entryList") == ["First thing"], "the library shows it")


async def test_an_edit_of_another_process_is_shown_where_the_entry_is_open(start: Start, home: Path) -> None:
    async with start() as person:
        entry = await person.publish_by_service("Before", "The old text.")
        await person.goes_to("Knowledge")
        await person.until(lambda: hands.rows("entryList") == ["Before"], "the entry")
        await person.sees("The old text.", on="entryDetail")
        assert (
            await _command(home, "knowledge", "edit", entry.id, "--title", "After", "--content", "The new text.")
        ).code == 0
        await person.until(lambda: hands.rows("entryList") == ["After"], "the new title", within=SOON)
        await person.sees("The new text.", on="entryDetail", within=SOON)
        await person.sees("Edited: title, text", on="entryTimeline", within=SOON)


async def test_a_setting_of_another_process_holds_for_the_next_question(start: Start, home: Path) -> None:
    async with start() as person:
        await person.publish_by_service("Sqlite locks", "A sqlite transaction takes the write lock first.")
        await person.core.knowledge.knowledge_get_config()  # as it is remembered from now on
        told = asyncio.create_task(emission(person.desktop.window.events.settings_changed, timeout=60))
        assert (await _command(home, "config", "set", "auto_inject", "false")).code == 0
        await asyncio.wait_for(told, SOON)
        await person.asks("How does a sqlite transaction take the write lock?")
        await person.is_answered()
        assert person.words("retrievalStatus") == "Automatic retrieval is off"


async def _three_candidates(person: Person) -> None:
    """Found by the assistant, the most confident first; the inbox is open and the first one is current."""
    rows = [
        draft(
            kind="pitfall", title=f"{name} thing", content=f"What the {name.lower()} one says.", confidence=confidence
        )
        for name, confidence in (("First", 0.9), ("Second", 0.8), ("Third", 0.7))
    ]
    await person.core.knowledge.knowledge_submit(rows, actor=Actor.ai())
    await person.goes_to("Inbox")
    await person.until(lambda: hands.current_row("inboxList") == "First thing", "the first candidate")
    await person.until(lambda: len(hands.rows("inboxList")) == 3, "three candidates")


async def _command(home: Path, *words: str) -> Result:
    """A process of its own; the window goes on meanwhile."""
    return await asyncio.to_thread(devflow, home, *words)
