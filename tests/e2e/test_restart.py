"""What a person left is there again: draft, conversation, facets and search, page, sizes (spec 05)."""

from pathlib import Path

from PySide6.QtCore import Qt

from devflow.domain.knowledge import draft
from devflow.knowledge.acts import Actor
from tests.e2e.conftest import Start
from tests.fakes.openai_server import OpenAIServer
from tests.support import hands
from tests.support.person import Person
from tests.support.remote import RemoteWindow

DRAFT = "What I was about to ask, with\na second line and 中文"


async def test_the_first_words_on_an_empty_home_survive_an_end_right_after_the_last_key(start: Start) -> None:
    async with start() as person:
        await person.finds("welcomePage")
        await person.clicks("composer")
        person.types("half a thought")
    async with start() as person:
        await person.until(lambda: person.words("composer") == "half a thought", "the draft")
        person.types("!")
        assert person.words("composer") == "half a thought!", "the keyboard is in it, behind the last letter"


async def test_the_open_conversation_and_its_draft_are_there_again(start: Start, server: OpenAIServer) -> None:
    async with start() as person:
        await person.connect_by_service(server)
        server.script("Answer one.", "Answer two.")
        await person.asks("Question one?")
        await person.is_answered("Answer one.")
        await person.begins_a_conversation()
        await person.asks("Question two?")
        await person.is_answered("Answer two.")
        await _open(person, "Question one?")
        await person.is_answered("Answer one.")
        await person.clicks("composer")
        for number, line in enumerate(DRAFT.splitlines()):
            if number:
                person.presses(Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
            person.types(line)
    async with start() as person:
        await person.is_answered("Answer one.")
        await person.until(lambda: person.words("composer") == DRAFT, "the draft")
        await _open(person, "Question two?")
        await person.is_answered("Answer two.")
        assert person.words("composer") == ""


def test_what_was_typed_a_moment_ago_survives_a_kill(home: Path) -> None:
    with RemoteWindow(home) as window:
        window.finds("welcomePage")
        window.clicks("composer")
        window.do("type", "half a thought")
        window.until(lambda: "half a thought" in _drafts(home), "the stored draft")
        window.kill()
    with RemoteWindow(home) as window:
        window.until(lambda: window.words("composer") == "half a thought", "the draft")
        assert window.close() == 0
        assert window.complaints == ""


async def test_facets_search_sort_and_page_are_there_again(start: Start) -> None:
    async with start() as person:
        await _library(person)
        await person.goes_to("Knowledge")
        await person.until(lambda: len(hands.rows("entryList")) == 3, "what is published")
        await person.clicks("facet-diagnosis")
        await person.until(lambda: hands.rows("entryList") == ["Slow start", "Slow search"][::-1], "diagnoses")
        await person.clicks("librarySearch")
        person.types("start")
        await person.until(lambda: hands.rows("entryList") == ["Slow start"], "what is searched for")
    async with start() as person:
        await person.finds("knowledgePage")
        await person.until(lambda: hands.rows("entryList") == ["Slow start"], "the same list")
        assert person.words("librarySearch") == "start"
        await person.clicks("librarySearch")
        person.presses(Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
        person.presses(Qt.Key.Key_Delete)
        await person.until(lambda: len(hands.rows("entryList")) == 2, "the facet is kept when the search goes (KP-8)")


async def test_the_page_in_front_and_the_size_of_the_window_are_there_again(start: Start) -> None:
    async with start() as person:
        person.desktop.window.resize(960, 690)  # the test's screen is small: more is not given back
        await person.goes_to("Inbox")
    async with start() as person:
        await person.finds("inboxPage")
        assert person.desktop.window.height() == 690


async def _open(person: Person, title: str) -> None:
    await person.shows_the_conversations()
    await person.until(lambda: title in hands.rows("conversationList"), title)
    hands.click_row("conversationList", title)


async def _library(person: Person) -> None:
    knowledge, user = person.core.knowledge, Actor.user()
    for kind, title in (("pitfall", "Start order"), ("diagnosis", "Slow start"), ("diagnosis", "Slow search")):
        made = await knowledge.knowledge_create(draft(kind=kind, title=title, content=f"About: {title}."), actor=user)
        await knowledge.knowledge_approve(made.entries[0].id, actor=user)


def _drafts(home: Path) -> str:
    """Every draft that another process can read."""
    import sqlite3

    connection = sqlite3.connect(f"file:{home / 'devflow.db'}?mode=ro", uri=True)
    try:
        return str(connection.execute("SELECT draft FROM conversations").fetchall())
    finally:
        connection.close()
