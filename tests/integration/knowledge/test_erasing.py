"""Erase: for privacy, and for good (spec 01 and 08)."""

import pytest

from devflow.domain.errors import NotFound
from devflow.domain.knowledge import EntryEdit, EventKind, Status
from devflow.domain.receipt import Phase
from devflow.domain.request import Injected, InjectedItem, NotUsed
from devflow.store import receipts, schema
from devflow.store.database import Unit
from tests.support.library import USER, Library

SECRET = "Xylophonmuseum"


async def test_an_erased_entry_leaves_a_tombstone_and_no_text(library: Library) -> None:
    entry = await library.add(f"The {SECRET}", content=f"{SECRET} is here", tags=[SECRET], status=Status.PUBLISHED)
    edit = EntryEdit(entry.version, content=f"{SECRET} was here")
    await library.knowledge.knowledge_update(entry.id, edit, actor=USER)
    done = await library.knowledge.knowledge_erase(entry.id, actor=USER)
    with pytest.raises(NotFound):
        await library.knowledge.knowledge_get(entry.id)
    events = await library.events(entry.id)
    assert (events[-1].event, events[-1].operation, events[-1].actor) == (EventKind.ERASED, done.operation, "user")
    assert [event.event for event in events[:-1]] == [
        EventKind.CREATED,
        EventKind.STATUS_CHANGED,
        EventKind.STATUS_CHANGED,
        EventKind.UPDATED,
    ]
    assert all(not event.changes and not event.detail for event in events)
    found = await library.knowledge.knowledge_search(SECRET, statuses=list(Status))
    assert found.hits == ()


async def test_an_erased_text_is_nowhere_in_the_files(library: Library) -> None:
    entry = await library.add(f"The {SECRET}", content=f"{SECRET} is here " * 500)
    await library.knowledge.knowledge_erase(entry.id, actor=USER)
    for file in library.paths.home.glob("devflow.db*"):
        data = file.read_bytes().lower()
        assert SECRET.lower().encode() not in data, file.name


async def test_what_an_erased_entry_said_before_it_was_edited_is_nowhere_in_the_files_either(library: Library) -> None:
    entry = await library.add(f"The {SECRET}", content=f"{SECRET} is here " * 500)
    edit = EntryEdit(entry.version, title="Nothing", content="Nothing to see.")
    await library.knowledge.knowledge_update(entry.id, edit, actor=USER)
    await library.knowledge.knowledge_erase(entry.id, actor=USER)
    for file in library.paths.home.glob("devflow.db*"):
        assert SECRET.lower().encode() not in file.read_bytes().lower(), file.name


async def test_an_erased_entry_is_blanked_in_receipts_and_other_entries_stand(library: Library) -> None:
    entry, other = await library.add(f"The {SECRET}"), await library.add("Other")
    found = Injected(
        block=f"[K1] {SECRET} [K2] Other",
        items=tuple(
            InjectedItem("entry", one.id, f"K{number}", one.title, one.content, "like", 1.0, len(one.content))
            for number, one in ((1, entry), (2, other))
        ),
    )
    await library.db.write(lambda unit: _receipt(unit, found))
    await library.knowledge.knowledge_erase(entry.id, actor=USER)
    receipt = (await library.db.read(lambda session: receipts.of_conversation(session, "c")))[0]
    assert isinstance(receipt.library, Injected)
    assert SECRET not in str(receipt.library)
    assert [(item.ref, item.title) for item in receipt.library.items] == [(entry.id, ""), (other.id, "Other")]


async def test_erasing_a_second_time_finds_nothing(library: Library) -> None:
    entry = await library.add()
    await library.knowledge.knowledge_erase(entry.id, actor=USER)
    with pytest.raises(NotFound):
        await library.knowledge.knowledge_erase(entry.id, actor=USER)


def _receipt(unit: Unit, found: Injected) -> None:
    unit.session.add(
        schema.ConversationRow(id="c", title="", origin="window", draft={}, created_at=unit.at, updated_at=unit.at)
    )
    unit.session.flush()
    unit.session.add(
        schema.RunRow(
            id="r",
            conversation_id="c",
            user_message_id="m",
            state="completed",
            provider_id="offline",
            model="offline",
            options={},
            created_at=unit.at,
        )
    )
    unit.session.flush()
    receipts.insert(
        unit, conversation_id="c", run_id="r", phase=next(iter(Phase)), nonce="n", library=found, pages=NotUsed("no_kb")
    )
