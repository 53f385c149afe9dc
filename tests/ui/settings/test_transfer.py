"""Export and import in the window: Settings, Data, and the dialog that shows what would come in."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton

from devflow.domain.knowledge import Status, draft
from devflow.knowledge.acts import Actor
from devflow.store.library_copy import CopiedEntry, LibraryCopy
from devflow.transfer import export
from devflow.ui.dialogs.transfer.found import FoundList
from devflow.ui.dialogs.transfer.import_dialog import ImportDialog
from tests.e2e.conftest import Start
from tests.support import hands
from tests.support.person import Person
from tests.support.settings import settings

WORDS = "Open the file only after the lock is taken, or readers see a half written page of the journal."
CHAT = {
    "uuid": "c",
    "name": "Torn page",
    "created_at": "2026-03-01T10:00:00Z",
    "updated_at": "2026-03-01T10:05:00Z",
    "chat_messages": [{"uuid": "1", "sender": "human", "text": "Why?", "created_at": "2026-03-01T10:00:00Z"}],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    source = tmp_path / "notes"
    source.mkdir()
    for name, text in {
        "Locks.md": f"{WORDS} Always.",
        "AGENTS.md": "## Errors\n\nReturn a problem.\n\n## Tests\n\nWrite one.\n",
        "bad.md": "---\n[\n---\nx\n",
        "conversations.json": json.dumps([CHAT]),
    }.items():
        (source / name).write_text(text, encoding="utf-8")
    return source


def opened(person: Person, *paths: Path) -> ImportDialog:
    dialog = ImportDialog(person.desktop.window.ctx, paths, person.desktop.window)
    dialog.open()
    return dialog


def enabled(name: str) -> bool:
    found = hands.find(name)
    assert isinstance(found, QPushButton)
    return found.isEnabled()


async def names(person: Person, path: Path) -> None:
    """Type a path into the dialog that asks for a file or a folder."""
    await person.until(lambda: hands.visible("fileNameEdit"), "the file dialog")
    hands.type_into(hands.find("fileNameEdit"), str(path))
    hands.press_on(hands.find("fileNameEdit"), Qt.Key.Key_Return)


async def statuses(person: Person) -> list[Status]:
    page = await person.core.knowledge.knowledge_list(statuses=list(Status))
    return [entry.status for entry in page.entries]


async def test_the_dialog_shows_what_would_come_in_and_writes_nothing(start: Start, folder: Path) -> None:
    async with start() as person:
        entry = draft(kind="pitfall", title="Locks", content=WORDS)
        await person.core.knowledge.knowledge_create(entry, actor=Actor.user())
        dialog = opened(person, folder)
        await person.until(lambda: enabled("importButton"), "the preview")
        assert hands.rows("importList") == [
            "Refused · 1",
            "bad.md:3",
            "Like an entry that is here · 1",
            "Locks",
            "New · 2",
            "Errors",
            "Tests",
            "Conversations · 1",
            "Torn page",
        ]
        hands.click_row("importList", "Locks")
        await person.sees("How it differs from “Locks”", on="importPiece")
        assert "Import 4" in hands.words(hands.find("importButton"))
        await person.clicks("cancelImportButton")
        await person.misses("importDialog")
        assert await statuses(person) == [Status.CANDIDATE]
        dialog.deleteLater()


async def test_what_was_chosen_comes_in_and_one_undo_takes_it_back(start: Start, folder: Path) -> None:
    async with start() as person:
        dialog = opened(person, folder)
        await person.until(lambda: enabled("importButton"), "the preview")
        hands.click_row("importList", "Tests")
        found = hands.find("importList")
        assert isinstance(found, FoundList)
        hands.press_on(found, Qt.Key.Key_Space)
        assert "Import 3" in hands.words(hands.find("importButton"))
        await person.clicks("importButton")
        await person.sees("2 candidates are in the inbox. 1 conversation is in the chat list", on="importNotice")
        assert sorted(await statuses(person)) == [Status.CANDIDATE] * 2
        assert [each.title for each in await person.core.conversations.list()] == ["Torn page"]
        await person.clicks("importUndoButton")
        await person.sees("Undone", on="importNotice")
        assert await statuses(person) == [Status.ARCHIVED] * 2
        assert await person.core.conversations.list() == ()
        await person.clicks("cancelImportButton")
        dialog.deleteLater()


async def test_an_imported_conversation_is_read_in_the_chat(start: Start, folder: Path) -> None:
    async with start() as person:
        transfer = person.core.transfer
        done = await transfer.take(await transfer.preview([folder / "conversations.json"]), actor=Actor.user())
        person.desktop.window.ctx.shell.open_link(f"devflow:conversation/{done.conversations[0]}")
        await person.sees("Torn page", on="conversationList")
        await person.sees("Why?", on="messageView")


async def test_nothing_chosen_is_nothing_to_import(start: Start, folder: Path) -> None:
    async with start() as person:
        dialog = opened(person, folder)
        await person.until(lambda: enabled("importButton"), "the preview")
        await person.clicks("importAllButton")
        assert not enabled("importButton")
        await person.clicks("importAllButton")
        assert enabled("importButton")
        dialog.reject()
        dialog.deleteLater()


async def test_what_is_here_already_cannot_be_chosen(start: Start, folder: Path) -> None:
    async with start() as person:
        transfer = person.core.transfer
        await transfer.take(await transfer.preview([folder]), actor=Actor.user())
        dialog = opened(person, folder)
        await person.until(lambda: "Known already · 4" in hands.rows("importList"), "what is known")
        assert not enabled("importButton")
        dialog.reject()
        dialog.deleteLater()


async def test_an_export_comes_back_into_an_empty_library_as_it_was(start: Start, tmp_path: Path) -> None:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    words = ("10000000-0000-4000-8000-000000000001", "pitfall", "Locks", WORDS, (), "published", 1.0, 0, None, "manual")
    export.write(LibraryCopy((CopiedEntry(*words, None, at, at, at, None, 1),)), tmp_path / "library.zip")
    async with start() as person:
        dialog = opened(person, tmp_path / "library.zip")
        await person.until(lambda: enabled("importButton"), "the preview")
        await person.sees("the library here is empty", on="importNotice")
        await person.clicks("importButton")
        await person.sees("1 entry is restored.", on="importNotice")
        assert not hands.visible("importUndoButton")
        assert await statuses(person) == [Status.PUBLISHED]
        await person.until(lambda: person.desktop.tasks.running == 0, "the search index")
        found = await person.core.knowledge.knowledge_search("lock is taken")
        assert [hit.entry.title for hit in found.hits] == ["Locks"]
        dialog.reject()
        dialog.deleteLater()


async def test_a_source_that_cannot_be_read_says_why(start: Start, tmp_path: Path) -> None:
    (tmp_path / "cut.zip").write_bytes(b"PK no zip")
    async with start() as person:
        dialog = opened(person, tmp_path / "cut.zip")
        await person.until(lambda: hands.visible("importList"), "the preview")
        assert hands.rows("importList") == ["Refused · 1", "cut.zip"]
        assert not enabled("importButton")
        dialog.reject()
        dialog.deleteLater()


async def test_the_settings_export_the_library(start: Start, tmp_path: Path) -> None:
    target = tmp_path / "mine.zip"
    async with start() as person:
        await person.publish_by_service("Locks", WORDS)
        async with settings(person, "Data"):
            await person.clicks("exportLibraryButton")
            await names(person, target)
            await person.sees("1 entry is in mine.zip", on="settingsData")
        assert target.is_file()


async def test_the_settings_lead_to_the_dialog_and_on_to_the_inbox(start: Start, folder: Path) -> None:
    async with start() as person:
        async with settings(person, "Data"):
            await person.clicks("importFolderButton")
            await names(person, folder)
            await person.until(lambda: hands.visible("importButton") and enabled("importButton"), "the preview")
            await person.clicks("importButton")
            await person.sees("candidates are in the inbox", on="importNotice")
            await person.clicks("importInboxButton")
            await person.misses("settingsDialog")
        await person.finds("inboxList")
