"""The list of conversations, their titles, their branches, and the search over what was said in them."""

import pytest

from devflow.domain.conversation import Draft, Message, ModelChoice, Role
from devflow.domain.errors import InvalidInput, NotFound
from devflow.domain.events import Changes
from devflow.domain.run import CallState, RunState
from tests.fakes.openai_server import Call, OpenAIServer, Turn
from tests.integration.agent.conftest import Bench


async def test_the_first_message_names_the_conversation_on_one_line(offline: Bench) -> None:
    conversation = await offline.conversation()
    await offline.ask(conversation, "  How do I\n\ntake the lock?  ")
    assert (await offline.core.conversations.get(conversation.id)).title == "How do I take the lock?"


async def test_a_page_that_the_first_message_names_stands_in_the_title_as_it_was_typed(offline: Bench) -> None:
    conversation = await offline.conversation()
    await offline.ask(conversation, "[[wiki/notes/日志.md]] 与 [[wiki/locks.md|the locks]]: `[[wiki/a.md]]`?")
    assert (await offline.core.conversations.get(conversation.id)).title == "@日志 与 @locks: `[[wiki/a.md]]`?"


async def test_a_long_first_message_is_shortened_to_60_characters(offline: Bench) -> None:
    conversation = await offline.conversation()
    await offline.ask(conversation, "word " * 40)
    title = (await offline.core.conversations.get(conversation.id)).title
    assert len(title) <= 60
    assert title.endswith("…")


async def test_the_model_gives_a_better_title_in_the_background(bench: Bench, server: OpenAIServer) -> None:
    server.script("With BEGIN IMMEDIATE.")
    server.script_title("“Taking the write lock.”")
    conversation = await bench.conversation()
    await bench.ask(conversation, "How do I take it?")
    await _titled(bench, conversation.id, "Taking the write lock")
    assert server.titles[0].last_user.startswith("How do I take it?")
    assert (await bench.core.conversations.runs(conversation.id))[0].state is RunState.COMPLETED


async def _titled(bench: Bench, conversation_id: str, title: str) -> None:
    """Wait for the title; every change of the conversation is announced."""
    import asyncio

    async with asyncio.timeout(10):
        while (await bench.core.conversations.get(conversation_id)).title != title:
            bench.events.clear()
            await bench.event(Changes)


async def test_a_title_by_the_user_is_never_replaced(bench: Bench, server: OpenAIServer) -> None:
    server.script("Yes.")
    server.script_title("Another title")
    conversation = await bench.conversation()
    await bench.core.conversations.rename(conversation.id, " My  title ")
    await bench.ask(conversation, "Is it?")
    kept = await bench.core.conversations.get(conversation.id)
    assert (kept.title, kept.title_by_user) == ("My title", True)
    assert server.titles == []


@pytest.mark.parametrize("reply", ["", "x" * 100, Turn(status=400, error="no")])
async def test_what_is_no_title_leaves_the_first_message_as_title(
    bench: Bench, server: OpenAIServer, reply: str | Turn
) -> None:
    server.script("Yes.", "Again.")
    server.script_title(reply)
    conversation = await bench.conversation()
    await bench.ask(conversation, "Is it?")
    await server.arrival(1, purpose="title")
    await bench.ask(conversation, "Is it really?")
    assert (await bench.core.conversations.get(conversation.id)).title == "Is it?"
    assert len(server.titles) == 1


@pytest.mark.parametrize("title", ["", "  ", "x" * 201])
async def test_a_bad_title_is_refused(offline: Bench, title: str) -> None:
    conversation = await offline.conversation()
    with pytest.raises(InvalidInput):
        await offline.core.conversations.rename(conversation.id, title)


async def test_the_list_has_pinned_ones_first_then_the_newest(offline: Bench) -> None:
    first, second, third = [await offline.conversation() for _ in range(3)]
    await offline.ask(first, "one")
    await offline.core.conversations.pin(second.id)
    await offline.core.conversations.rename(third.id, "renamed")
    listed = [conversation.id for conversation in await offline.core.conversations.list()]
    assert listed == [second.id, first.id, third.id]
    await offline.core.conversations.pin(second.id, False)
    assert [c.id for c in await offline.core.conversations.list()] == [first.id, third.id, second.id]


async def test_deleting_takes_a_conversation_out_of_the_list_and_restoring_brings_it_back(offline: Bench) -> None:
    conversation = await offline.conversation()
    await offline.ask(conversation, "one")
    await offline.core.conversations.delete(conversation.id)
    assert await offline.core.conversations.list() == ()
    assert await offline.core.conversations.search("one") == ()
    assert [c.id for c in await offline.core.conversations.list(deleted=True)] == [conversation.id]
    await offline.core.conversations.restore(conversation.id)
    assert [c.id for c in await offline.core.conversations.list()] == [conversation.id]


@pytest.mark.parametrize("query, found", [("LOCK", True), ("写锁", True), ("100%", True), ("l_ck", False), ("%", True)])
async def test_search_looks_into_all_messages_and_nothing_is_a_wildcard(
    bench: Bench, server: OpenAIServer, query: str, found: bool
) -> None:
    server.script("Take the lock at 100% of writes 写锁先取.")
    conversation = await bench.conversation()
    await bench.ask(conversation, "How?")
    hits = await bench.core.conversations.search(query)
    assert [hit.role for hit in hits] == ([Role.ASSISTANT] if found else [])
    assert [c.id for c in await bench.core.conversations.list(query)] == ([conversation.id] if found else [])
    assert all(query.lower() in hit.excerpt.lower() for hit in hits)


async def test_an_empty_search_finds_no_messages_and_lists_everything(offline: Bench) -> None:
    await offline.conversation()
    assert await offline.core.conversations.search("  ") == ()
    assert len(await offline.core.conversations.list("  ")) == 1


async def test_settings_of_a_conversation_are_kept(offline: Bench) -> None:
    conversation = await offline.conversation(project=True)
    service = offline.core.conversations
    await service.set_model(conversation.id, ModelChoice("p", "m"))
    await service.set_retrieval(conversation.id, False)
    await service.save_draft(conversation.id, Draft("half a", ("wiki/x.md",)))
    await service.set_queued(conversation.id, "next")
    kept = await service.get(conversation.id)
    assert kept.project is not None
    assert (kept.project.path, kept.model, kept.retrieval) == (str(offline.workspace), ModelChoice("p", "m"), False)
    assert (kept.draft, kept.queued) == (Draft("half a", ("wiki/x.md",)), "next")
    await service.set_project(conversation.id, None)
    await service.set_model(conversation.id, None)
    kept = await service.get(conversation.id)
    assert (kept.project, kept.model) == (None, None)


async def test_an_unknown_conversation_is_not_found(offline: Bench) -> None:
    with pytest.raises(NotFound):
        await offline.core.conversations.get("nowhere")
    with pytest.raises(NotFound):
        await offline.core.conversations.pin("nowhere")
    with pytest.raises(NotFound):
        await offline.core.conversations.branch_from("nowhere")


async def test_a_branch_is_a_conversation_of_its_own_with_everything_down_to_the_message(
    bench: Bench, server: OpenAIServer
) -> None:
    entry = await bench.publish("Sqlite write lock", "A sqlite transaction takes the write lock first.")
    (bench.workspace / "a.txt").write_text("a")
    server.script(Turn(calls=[Call("read_file", {"path": "a.txt"})]), "First [K1].", "Second.", "Branched.")
    conversation = await bench.conversation(project=True)
    await bench.ask(conversation, "How does a sqlite transaction take the write lock?")
    middle = (await bench.messages(conversation))[-1]
    await bench.ask(conversation, "And then?")
    made = await bench.core.conversations.branch_from(middle.id)
    copied = await bench.messages(made)
    assert [m.content for m in copied] == [m.content for m in (await bench.messages(conversation))[:3]]
    assert not {m.id for m in copied} & {m.id for m in await bench.messages(conversation)}
    assert [call.state for call in await bench.calls(made)] == [CallState.DONE]
    assert await bench.core.conversations.numbers(made.id) == {1: entry.id}
    assert len(await bench.receipts(made)) == 1
    await bench.ask(made, "Other?")
    assert len(await bench.messages(conversation)) == 5
    assert len(server.requests[3].tool_results) == 1
    assert (await bench.core.conversations.get(made.id)).project == conversation.project


async def test_a_branch_from_a_run_that_waits_has_no_open_run(bench: Bench, server: OpenAIServer) -> None:
    server.script(Turn(calls=[Call("write_file", {"path": "a", "content": "b"})]))
    conversation = await bench.conversation(project=True)
    run = await bench.ask(conversation, "Write.")
    made = await bench.core.conversations.branch_from((await bench.messages(conversation))[-1].id)
    assert not (await bench.core.conversations.get(made.id)).awaiting
    assert [call.state for call in await bench.calls(made)] == [CallState.CANCELLED]
    assert (await bench.core.conversations.run(run.id)).state is RunState.AWAITING_APPROVAL


async def test_a_conversation_of_5000_messages_opens_quickly(offline: Bench) -> None:
    import time

    conversation = await offline.conversation()
    await offline.core.db.write(lambda unit: _fill(unit, conversation.id, 5_000))
    began = time.perf_counter()
    path = await offline.core.conversations.path(conversation.id)
    assert len(path.messages) == 5_000
    assert time.perf_counter() - began < 1.0


def _fill(unit, conversation_id: str, count: int) -> None:  # type: ignore[no-untyped-def]
    from devflow.store import conversations

    last: Message | None = None
    for i in range(count):
        role = Role.ASSISTANT if i % 2 else Role.USER
        last = conversations.insert_message(
            unit, conversation_id=conversation_id, parent_id=last.id if last else None, role=role, content="x" * 200
        )
    conversations.set_fields(unit, conversation_id, leaf_id=last.id if last else None)


@pytest.mark.parametrize("query", ["x" * 60_000, "%" * 30_000, "好" * 20_000, "half \ud800", "\x00", "%_\\'\"*(){}[]"])
async def test_a_search_for_anything_at_all_finds_something_or_nothing(bench: Bench, query: str) -> None:
    await bench.conversation()
    try:
        found = [*await bench.core.conversations.search(query), *await bench.core.conversations.list(query)]
    except InvalidInput:
        return
    assert found == []
