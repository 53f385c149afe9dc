"""What of the library reaches the model, when it is looked up, and what is kept of it (spec 01, Injection)."""

import re

import pytest

from devflow.domain.conversation import Origin
from devflow.domain.events import LibrarySearchDone
from devflow.domain.knowledge import EntryEdit, EventKind
from devflow.domain.receipt import Phase
from devflow.domain.request import Injected, LookupFailed, NothingFound, NotUsed
from devflow.domain.run import RunState
from devflow.knowledge.service import Actor
from tests.fakes.openai_server import Call, OpenAIServer, Turn
from tests.integration.agent.conftest import Bench

QUESTION = "How should a sqlite transaction take the write lock?"
TITLE, CONTENT = "Take the sqlite write lock first", "A sqlite transaction begins IMMEDIATE to take the write lock."


async def test_a_published_entry_stands_at_the_head_of_the_system_prompt(bench: Bench, server: OpenAIServer) -> None:
    entry = await bench.publish(TITLE, CONTENT)
    server.script("Begin IMMEDIATE [K1].")
    conversation = await bench.conversation()
    await bench.ask(conversation, QUESTION)
    system = server.requests[0].system
    knowledge, _, rest = system.partition("\n\n---\n\n")
    assert TITLE in knowledge
    assert CONTENT in knowledge
    assert "K1" in knowledge
    assert rest.startswith("You are DevFlow")
    (receipt,) = await bench.receipts(conversation)
    assert isinstance(receipt.library, Injected)
    (item,) = receipt.library.items
    assert (item.ref, item.number, item.title, item.version) == (entry.id, "K1", TITLE, entry.version)
    assert item.score == 1.0
    assert receipt.library.block == knowledge
    assert receipt.pages == NotUsed("no_kb")
    (event,) = bench.of(LibrarySearchDone)
    assert (event.outcome, event.count, event.ids) == ("injected", 1, (entry.id,))


async def test_the_stored_message_stays_clean(bench: Bench, server: OpenAIServer) -> None:
    await bench.publish(TITLE, CONTENT)
    server.script("Yes.")
    conversation = await bench.conversation()
    await bench.ask(conversation, QUESTION)
    assert (await bench.messages(conversation))[0].content == QUESTION
    assert server.requests[0].messages[1] == {"role": "user", "content": QUESTION}


async def test_candidates_and_archived_entries_are_not_injected(bench: Bench, server: OpenAIServer) -> None:
    gone = await bench.publish(TITLE, CONTENT)
    await bench.archive(gone)
    server.script("I do not know.")
    conversation = await bench.conversation()
    await bench.ask(conversation, QUESTION)
    assert TITLE not in server.requests[0].system
    assert isinstance((await bench.receipts(conversation))[0].library, NothingFound)
    assert bench.of(LibrarySearchDone)[0].outcome == "nothing"


@pytest.mark.parametrize("greeting", ["hello", "thanks!", "你好～", "谢谢你"])
async def test_a_greeting_injects_nothing(bench: Bench, server: OpenAIServer, greeting: str) -> None:
    await bench.publish("Hello world in sqlite", "hello, thanks: a greeting in a sqlite write lock.")
    server.script("Hello.")
    conversation = await bench.conversation()
    await bench.ask(conversation, greeting)
    assert "---" not in server.requests[0].system
    assert (await bench.receipts(conversation))[0].library == NotUsed("greeting")


async def test_entries_of_another_project_are_not_injected(bench: Bench, server: OpenAIServer) -> None:
    (bench.workspace / "other").mkdir()
    here = await bench.core.projects.ensure(bench.workspace)
    elsewhere = await bench.core.projects.ensure(bench.workspace / "other")
    await bench.publish("Sqlite write lock here", CONTENT, project_id=here.id)
    await bench.publish("Sqlite write lock elsewhere", f"{CONTENT} Elsewhere.", project_id=elsewhere.id)
    await bench.publish("Sqlite write lock everywhere", f"{CONTENT} Everywhere.")
    server.script("Yes.", "Yes.")
    await bench.ask(await bench.conversation(project=True), QUESTION)
    await bench.ask(await bench.conversation(), QUESTION)
    in_project, without = server.requests[0].system, server.requests[1].system
    assert "lock here" in in_project
    assert "lock everywhere" in in_project
    assert "lock elsewhere" not in in_project
    assert "lock everywhere" in without
    assert "lock here" not in without


async def test_with_auto_inject_off_nothing_is_looked_up(bench: Bench, server: OpenAIServer) -> None:
    from dataclasses import replace

    await bench.publish(TITLE, CONTENT)
    config = await bench.core.knowledge.knowledge_get_config()
    await bench.core.knowledge.knowledge_save_config(replace(config, auto_inject=False), actor=Actor.user())
    server.script("Yes.")
    conversation = await bench.conversation()
    await bench.ask(conversation, QUESTION)
    assert TITLE not in server.requests[0].system
    assert (await bench.receipts(conversation))[0].library == NotUsed("off")


async def test_with_the_conversations_switch_off_nothing_is_looked_up(bench: Bench, server: OpenAIServer) -> None:
    await bench.publish(TITLE, CONTENT)
    server.script("Yes.", "Yes.")
    conversation = await bench.conversation()
    await bench.core.conversations.set_retrieval(conversation.id, False)
    await bench.ask(conversation, QUESTION)
    await bench.core.conversations.set_retrieval(conversation.id, True)
    await bench.ask(conversation, QUESTION)
    assert [TITLE in request.system for request in server.requests] == [False, True]
    assert isinstance((await bench.receipts(conversation))[0].library, NotUsed)


@pytest.mark.expects_log
async def test_a_lookup_that_fails_leaves_the_turn_to_go_on_without_it(
    bench: Bench, server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise OSError("the index is gone")

    monkeypatch.setattr("devflow.prompt.lookup.relevant_entries", broken)
    server.script("Without it, then.")
    conversation = await bench.conversation()
    assert (await bench.ask(conversation, QUESTION)).state is RunState.COMPLETED
    library = (await bench.receipts(conversation))[0].library
    assert isinstance(library, LookupFailed)
    assert "the index is gone" in library.message
    assert bench.of(LibrarySearchDone)[0].outcome == "failed"


async def test_every_turn_looks_again(bench: Bench, server: OpenAIServer) -> None:
    server.script("No idea.", "Now I know.")
    conversation = await bench.conversation()
    await bench.ask(conversation, QUESTION)
    await bench.publish(TITLE, CONTENT)
    await bench.ask(conversation, f"{QUESTION} Again.")
    assert [TITLE in request.system for request in server.requests] == [False, True]


async def test_tool_steps_resend_the_very_bytes_of_the_receipt(bench: Bench, server: OpenAIServer) -> None:
    await bench.publish(TITLE, CONTENT)
    server.script(Turn(calls=[Call("list_dir", {"path": "."})]), "Done.")
    conversation = await bench.conversation(project=True)
    await bench.ask(conversation, QUESTION)
    assert server.requests[0].system == server.requests[1].system
    assert len(await bench.receipts(conversation)) == 1


async def test_a_retry_looks_again_and_says_so(bench: Bench, server: OpenAIServer) -> None:
    server.script(Turn("Half", cut=True), "Whole.")
    conversation = await bench.conversation()
    run = await bench.ask(conversation, QUESTION)
    await bench.publish(TITLE, CONTENT)
    await bench.core.turns.retry(run.id)
    await bench.core.turns.wait(run.id)
    assert [TITLE in request.system for request in server.requests] == [False, True]
    assert [receipt.phase for receipt in await bench.receipts(conversation)] == [Phase.TURN, Phase.RETRY]


async def test_the_nonce_is_one_per_receipt(bench: Bench, server: OpenAIServer) -> None:
    await bench.publish(TITLE, CONTENT)
    server.script("Yes.", "Yes.")
    conversation = await bench.conversation()
    await bench.ask(conversation, QUESTION)
    await bench.ask(conversation, QUESTION)
    nonces = [set(re.findall(r"<<<(?:end )?K1 ([0-9a-f]{12})>>>", request.system)) for request in server.requests]
    assert [len(found) for found in nonces] == [1, 1]
    assert nonces[0] != nonces[1]
    assert [receipt.nonce for receipt in await bench.receipts(conversation)] == [*nonces[0], *nonces[1]]


# numbers and citations ---------------------------------------------------------------------------------------------


async def test_a_number_belongs_to_its_entry_for_the_whole_conversation(bench: Bench, server: OpenAIServer) -> None:
    first = await bench.publish("Sqlite write lock first", CONTENT)
    server.script("Yes.", "Yes.", "Yes.")
    conversation = await bench.conversation()
    await bench.ask(conversation, QUESTION)
    await bench.archive(first)
    second = await bench.publish("Sqlite write lock second", f"{CONTENT} Second.")
    await bench.ask(conversation, QUESTION)
    third = await bench.publish("Sqlite write lock third", f"{CONTENT} Third.")
    await bench.ask(conversation, QUESTION)
    assert await bench.core.conversations.numbers(conversation.id) == {1: first.id, 2: second.id, 3: third.id}
    newest = (await bench.receipts(conversation))[-1].library
    assert isinstance(newest, Injected)
    assert {item.ref: item.number for item in newest.items} == {second.id: "K2", third.id: "K3"}


async def test_an_answer_that_cites_an_entry_counts_one_reuse_and_the_timeline_says_why(
    bench: Bench, server: OpenAIServer
) -> None:
    entry = await bench.publish(TITLE, CONTENT)
    server.script("Begin IMMEDIATE [K1]. As said [K1], begin IMMEDIATE.")
    conversation = await bench.conversation()
    await bench.ask(conversation, QUESTION)
    assert (await bench.core.knowledge.knowledge_get(entry.id)).reuse_count == 1
    newest = (await bench.core.knowledge.knowledge_timeline(entry.id))[0]
    assert newest.event is EventKind.REUSED
    assert newest.detail["conversation"] == conversation.id
    assert newest.detail["message"] == (await bench.answer(conversation)).id
    assert newest.actor == "ai"


async def test_each_answer_counts_once_and_a_regenerated_one_counts_for_itself(
    bench: Bench, server: OpenAIServer
) -> None:
    entry = await bench.publish(TITLE, CONTENT)
    server.script("Yes [K1].", "Again [K1].")
    conversation = await bench.conversation()
    await bench.ask(conversation, QUESTION)
    run = await bench.core.turns.regenerate((await bench.answer(conversation)).id)
    await bench.core.turns.wait(run.id)
    assert (await bench.core.knowledge.knowledge_get(entry.id)).reuse_count == 2


@pytest.mark.parametrize("answer", ["Begin IMMEDIATE.", "`[K1]`", "```\n[K1]\n```", "[K9]"])
async def test_an_entry_that_was_merely_injected_does_not_count(
    bench: Bench, server: OpenAIServer, answer: str
) -> None:
    entry = await bench.publish(TITLE, CONTENT)
    server.script(answer)
    await bench.ask(await bench.conversation(), QUESTION)
    assert (await bench.core.knowledge.knowledge_get(entry.id)).reuse_count == 0


async def test_what_a_step_before_the_last_says_does_not_count(bench: Bench, server: OpenAIServer) -> None:
    entry = await bench.publish(TITLE, CONTENT)
    server.script(Turn("As [K1] says, let me look.", calls=[Call("list_dir", {"path": "."})]), "Nothing there.")
    await bench.ask(await bench.conversation(project=True), QUESTION)
    assert (await bench.core.knowledge.knowledge_get(entry.id)).reuse_count == 0


async def test_a_citation_in_a_cut_answer_counts_once_it_is_continued_to_its_end(
    bench: Bench, server: OpenAIServer
) -> None:
    entry = await bench.publish(TITLE, CONTENT)
    server.script(Turn("Begin IMMEDIATE [K1", cut=True), "], that is all.")
    run = await bench.ask(await bench.conversation(), QUESTION)
    assert (await bench.core.knowledge.knowledge_get(entry.id)).reuse_count == 0
    await bench.core.turns.continue_run(run.id)
    await bench.core.turns.wait(run.id)
    assert (await bench.core.knowledge.knowledge_get(entry.id)).reuse_count == 1


async def test_an_offline_answer_quotes_the_library_and_counts_too(offline: Bench) -> None:
    entry = await offline.publish(TITLE, CONTENT)
    conversation = await offline.conversation()
    assert (await offline.ask(conversation, QUESTION)).state is RunState.COMPLETED
    answer = await offline.answer(conversation)
    assert "[K1]" in answer.content
    assert "begins IMMEDIATE" in answer.content
    assert (await offline.core.knowledge.knowledge_get(entry.id)).reuse_count == 1


async def test_offline_an_unknown_question_is_answered_plainly(offline: Bench) -> None:
    await offline.publish(TITLE, CONTENT)
    conversation = await offline.conversation()
    await offline.ask(conversation, "What colour has the moon of Jupiter?")
    assert "[K1]" not in (await offline.answer(conversation)).content


# what is kept ------------------------------------------------------------------------------------------------------


async def test_erasing_an_entry_blanks_its_text_in_receipts(bench: Bench, server: OpenAIServer) -> None:
    entry = await bench.publish(TITLE, CONTENT)
    await bench.publish("Sqlite write lock kept", f"{CONTENT} Kept.")
    server.script("Yes.")
    conversation = await bench.conversation()
    await bench.ask(conversation, QUESTION)
    await bench.core.knowledge.knowledge_erase(entry.id, actor=Actor.user())
    library = (await bench.receipts(conversation))[0].library
    assert isinstance(library, Injected)
    assert TITLE not in str(library)
    assert CONTENT not in library.block
    assert [item.title for item in library.items if item.ref != entry.id] == ["Sqlite write lock kept"]


async def test_feedback_on_a_source_is_kept_and_can_be_taken_back(bench: Bench, server: OpenAIServer) -> None:
    entry = await bench.publish(TITLE, CONTENT)
    server.script("Yes.")
    conversation = await bench.conversation()
    await bench.ask(conversation, QUESTION)
    (receipt,) = await bench.receipts(conversation)
    await bench.core.conversations.feedback(receipt.id, entry.id, 1)
    await bench.core.conversations.feedback(receipt.id, entry.id, -1)
    assert (await bench.receipts(conversation))[0].feedback == {entry.id: -1}
    await bench.core.conversations.feedback(receipt.id, entry.id, None)
    assert (await bench.receipts(conversation))[0].feedback == {}


async def test_contradicting_entries_both_appear_and_the_model_is_told(bench: Bench, server: OpenAIServer) -> None:
    from devflow.store import entries

    first = await bench.publish("Sqlite write lock: yes", CONTENT)
    second = await bench.publish("Sqlite write lock: no", "A sqlite transaction must never take the write lock.")
    await bench.core.db.write(lambda unit: entries.link(unit, second.id, first.id, "conflict", 0.9))
    server.script("They disagree.")
    await bench.ask(await bench.conversation(), QUESTION)
    assert "disagree" in server.requests[0].system.partition("---")[0]
    assert first.title in server.requests[0].system
    assert second.title in server.requests[0].system


async def test_entries_that_contradict_each_other_in_their_words_are_told_of_until_one_is_edited_or_dismissed(
    bench: Bench, server: OpenAIServer
) -> None:
    title, text = "Sqlite write lock timeout", "A sqlite transaction waits for the write lock for at most {} seconds."
    first = await bench.publish(f"{title} is 5 seconds", text.format(5))
    second = await bench.publish(f"{title} is 30 seconds", text.format(30))
    knowledge, conversation = bench.core.knowledge, await bench.conversation()

    async def told() -> bool:
        server.script("Yes.")
        await bench.ask(conversation, QUESTION)
        library = server.requests[-1].system.partition("---")[0]
        assert first.title in library
        return "seem to disagree" in library

    assert await told()
    dismissed = await knowledge.knowledge_dismiss_contradiction(first.id, second.id, actor=Actor.user())
    assert not await told()
    await knowledge.knowledge_undo(dismissed.operation, actor=Actor.user())
    assert await told()
    edit = EntryEdit(second.version, title=f"{title}, once more", content=text.format(5))
    await knowledge.knowledge_update(second.id, edit, actor=Actor.user())
    assert not await told()


async def test_the_context_meter_knows_what_the_newest_request_was_made_of(bench: Bench, server: OpenAIServer) -> None:
    await bench.publish(TITLE, CONTENT)
    server.script("Yes.")
    conversation = await bench.conversation()
    await bench.ask(conversation, QUESTION)
    (run,) = await bench.core.conversations.runs(conversation.id)
    assert run.measure is not None
    assert run.measure.knowledge > 0
    assert run.measure.history > 0


async def test_conversations_of_the_command_line_are_marked_as_such(bench: Bench) -> None:
    made = await bench.core.conversations.create(origin=Origin.CLI)
    assert (await bench.core.conversations.get(made.id)).origin is Origin.CLI
