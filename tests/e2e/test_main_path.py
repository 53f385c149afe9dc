"""The main path in the user's words: ask, learn, review, be answered from it, cite it, forget it (spec 00)."""

from typing import Any

from PySide6.QtCore import Qt

from tests.e2e.conftest import Start
from tests.fakes.openai_server import OpenAIServer
from tests.support import hands
from tests.support.person import Person
from tests.support.settings import settings

TITLE = "Take the write lock at BEGIN"
FOUND: dict[str, Any] = {
    "items": [
        {
            "kind": "pitfall",
            "title": TITLE,
            "content": "Begin a transaction that writes with `BEGIN IMMEDIATE`: two writers then wait and do not fail.",
            "tags": ["sqlite", "transactions"],
            "confidence": 0.86,
            "evidence": "begin the transaction with BEGIN IMMEDIATE",
        }
    ]
}
QUESTION = "How do two sqlite writers share one transaction lock?"


async def test_what_two_turns_taught_is_reviewed_by_keys_and_used_by_the_next_conversation(
    start: Start, server: OpenAIServer
) -> None:
    async with start() as person:
        async with settings(person, "Providers") as dialog:
            await dialog.adds("Another server")
            await dialog.types("providerName", "Scripted")
            await dialog.types("providerAddress", server.base_url)
            await dialog.types("providerModels", "scripted")
            await dialog.saves()
        await person.sees("scripted", on="modelPicker")
        await _talk(person, server)

        # the candidate arrives by itself, and nothing is published yet
        await person.until(lambda: person.badge == "1", "badge 1")
        assert hands.find("navInbox").accessibleName() == "Inbox, 1 to review"
        await person.goes_to("Inbox")
        await person.until(lambda: hands.rows("inboxList") == [TITLE], "the candidate")
        await person.sees("begin the transaction with BEGIN IMMEDIATE", on="inboxDetail")

        # published with a key, and the bar offers to take it back
        person.presses(Qt.Key.Key_A)
        await person.until(lambda: person.badge == "", "an empty inbox")
        await person.sees(f"Published “{TITLE}”", on="inboxPage")
        await person.finds("undoButton")
        await person.finds("inboxEmptyHint")
        await person.sees("1 entry in the library", on="statusLine")

        # the next conversation is given it at the head of its system prompt, and says so
        server.script("Begin it with BEGIN IMMEDIATE [K1]. Nobody has looked at [K7].")
        await person.begins_a_conversation()
        await person.asks(QUESTION)
        await person.is_answered("Nobody has looked at")
        request = server.requests[2]
        assert request.last_user == QUESTION
        head, line, rest = request.system.partition("\n\n---\n\n")
        assert line, "the knowledge block is set apart"
        assert f"[K1] {TITLE}" in head or ("[K1]" in head and TITLE in head)
        assert "You are DevFlow" in rest
        assert person.words("retrievalStatus") == "1 library entry found"

        # the reference is a chip that leads to the entry; one that nobody was given is none
        (address,) = hands.chips("K1")
        assert address.startswith("devflow:entry/")
        assert hands.chips("K7") == []
        await person.sees(TITLE, on="sourcesPanel")
        assert "K1" in person.words("sourcesPanel")
        await person.sees("reused 1×", on="sourcesPanel")
        hands.click_chip("K1")

        # the library counts the use once, and the timeline says why
        await person.finds("entryDetail")
        await person.sees("1 time · last today", on="entryDetail")
        await person.sees("Cited in a chat", on="entryTimeline")
        (entry,) = (await person.core.knowledge.knowledge_list()).entries
        assert entry.reuse_count == 1
        (cited,) = [e for e in await person.core.knowledge.knowledge_timeline(entry.id) if e.event == "reused"]
        assert cited.detail["conversation"] == (await person.core.conversations.list())[0].id

        # archived there, it is given to nobody any more
        await person.clicks("archiveEntryButton")
        await person.sees("0 published", on="knowledgePage")
        await person.sees("Library empty", on="statusLine")
        server.script("I do not know.")
        await person.begins_a_conversation()
        await person.asks(QUESTION)
        await person.is_answered("I do not know.")
        assert TITLE not in server.requests[3].system
        assert "BEGIN IMMEDIATE" not in server.requests[3].system
        assert person.words("retrievalStatus") in ("", "Nothing in the library matches")


async def test_a_candidate_is_published_by_click_and_taken_back_by_click(start: Start, server: OpenAIServer) -> None:
    async with start() as person:
        await person.connect_by_service(server)
        await _talk(person, server)
        await person.until(lambda: person.badge == "1", "badge 1")
        await person.goes_to("Inbox")
        await person.until(lambda: hands.current_row("inboxList") == TITLE, "the candidate")

        await person.clicks("approveEntryButton")
        await person.until(lambda: person.badge == "", "no badge")
        (entry,) = (await person.core.knowledge.knowledge_list()).entries
        assert (entry.title, entry.source_ref.partition(":")[0]) == (TITLE, "conv")

        await person.clicks("undoButton")
        await person.until(lambda: person.badge == "1", "the candidate back")
        await person.until(lambda: hands.current_row("inboxList") == TITLE, "the candidate back in its place")
        assert (await person.core.knowledge.knowledge_list()).entries == ()

        await person.clicks("approveEntryButton")
        await person.until(lambda: person.badge == "", "no badge")
        await person.goes_to("Knowledge")
        await person.until(lambda: hands.rows("entryList") == [TITLE], "the entry in the library")


async def _talk(person: Person, server: OpenAIServer) -> None:
    """Two turns; extraction finds one thing worth keeping in them."""
    server.script(
        "In short: begin the transaction with BEGIN IMMEDIATE, before anything is read.",
        "Wait with a busy timeout, then say so plainly.",
    )
    server.script_extraction(FOUND)
    await person.asks("Two processes write to one sqlite file and one of them fails. What helps?")
    await person.is_answered("In short")
    await person.asks("And when the lock is still taken?")
    await person.is_answered("Wait with a busy timeout")
