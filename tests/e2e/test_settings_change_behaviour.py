"""Every field of `KnowledgeConfig` that the dialog shows changes what happens, at once and after a restart (KP-1)."""

from pathlib import Path
from typing import Any

from devflow.domain.config import TriggerMode
from devflow.extraction.service import Phase
from devflow.ui.dialogs.digest_dialog import DigestDialog
from tests.e2e.conftest import Start
from tests.fakes.digest_server import DigestServer
from tests.fakes.openai_server import OpenAIServer
from tests.support import hands
from tests.support.digests import articles
from tests.support.pages import write
from tests.support.person import Person
from tests.support.settings import settings

TITLE = "Take the write lock at BEGIN"
QUESTION = "How do two sqlite writers share one transaction lock?"
QUIET_S = 1.5


async def test_with_extraction_off_no_candidate_comes(start: Start, server: OpenAIServer) -> None:
    async with start() as person:
        await person.connect_by_service(server)
        async with settings(person, "Knowledge") as dialog:
            await person.clicks("autoExtract")
            assert dialog.foot == "1 unsaved"
            await dialog.saves()
        await person.sees("Extraction: off", on="statusLine")
        await _talk(person, server, turns=2)
        await _nothing_is_extracted(person, server, so_far=0)

    async with start() as person:
        await _talk(person, server, turns=2)
        await _nothing_is_extracted(person, server, so_far=0)
        async with settings(person, "Knowledge") as dialog:
            assert not dialog.is_on("autoExtract")
            await person.clicks("autoExtract")
            await dialog.saves()
        server.script_extraction(_found(1))
        await _talk(person, server, turns=2)
        await person.until(lambda: person.badge == "1", "the candidate")
        assert len(server.extractions) == 1


async def test_in_idle_mode_one_extraction_comes_after_the_quiet(start: Start, server: OpenAIServer) -> None:
    async with start() as person:
        await person.connect_by_service(server)
        async with settings(person, "Knowledge") as dialog:
            assert not hands.find("idleTimeoutMs").isEnabled()
            await person.sees("Available with “When the chat is quiet”.", on="settingsKnowledge")
            await dialog.chooses("triggerMode", "When the chat is quiet")
            await dialog.types("idleTimeoutMs", "1.5")
            await dialog.saves()
        config = await person.core.knowledge.knowledge_get_config()
        assert (config.trigger_mode, config.idle_timeout_ms) == (TriggerMode.ON_IDLE, 1_500)
        await _one_after_the_quiet(person, server, number=1)

    async with start() as person:
        async with settings(person, "Knowledge") as dialog:
            assert dialog.choice("triggerMode") == "When the chat is quiet"
        await _one_after_the_quiet(person, server, number=2)


async def test_in_manual_mode_only_extract_now_extracts(start: Start, server: OpenAIServer) -> None:
    async with start() as person:
        await person.connect_by_service(server)
        async with settings(person, "Knowledge") as dialog:
            await dialog.chooses("triggerMode", "By hand only")
            await dialog.saves()
        await person.sees("Extraction: by hand", on="statusLine")
        await _only_by_hand(person, server, number=1)

    async with start() as person:
        await _only_by_hand(person, server, number=2)


async def test_the_fewest_messages_decide_when_a_conversation_is_long_enough(
    start: Start, server: OpenAIServer
) -> None:
    async with start() as person:
        await person.connect_by_service(server)
        await _talk(person, server, turns=1)
        await _nothing_is_extracted(person, server, so_far=0)
        async with settings(person, "Knowledge") as dialog:
            await dialog.types("minMessages", "2")
            await dialog.saves()
        server.script_extraction(_found(1))
        await _talk(person, server, turns=1)
        await person.until(lambda: person.badge == "1", "the candidate of a single turn")

    async with start() as person:
        server.script_extraction(_found(2))
        await _talk(person, server, turns=1)
        await person.until(lambda: person.badge == "2", "another one after the restart")
        assert len(server.extractions) == 2


async def test_with_injection_off_no_entry_reaches_the_server(start: Start, server: OpenAIServer) -> None:
    async with start() as person:
        await person.connect_by_service(server)
        await person.publish_by_service(TITLE, "Begin a transaction that writes with BEGIN IMMEDIATE.")
        assert TITLE in await _system_prompt(person, server)
        async with settings(person, "Knowledge") as dialog:
            await person.clicks("autoInject")
            await dialog.saves()
        assert TITLE not in await _system_prompt(person, server)

    async with start() as person:
        assert TITLE not in await _system_prompt(person, server)
        async with settings(person, "Knowledge") as dialog:
            assert not dialog.is_on("autoInject")
            await person.clicks("autoInject")
            await dialog.saves()
        assert TITLE in await _system_prompt(person, server)


async def test_the_digest_role_decides_which_model_reads_files(start: Start, tmp_path: Path) -> None:
    files = articles(tmp_path / "texts", 3)
    with DigestServer(models=["chatty", "reader"]) as server:
        async with start() as person:
            await person.connect_by_service(server)
            base = await person.core.bases.initialise(write(tmp_path / "notes", {"raw/.keep": ""}), "Notes.")
            await person.core.bases.use(base.id)
            await _turns_to_the_wiki(person)
            await _digests(person, files[0], told="chatty")
            async with settings(person) as dialog:
                assert dialog.choices("digestModel") == ["Same as chat", "chatty", "reader"]
                assert dialog.choice("digestModel") == "Same as chat"
                await dialog.chooses("digestModel", "reader")
                assert dialog.foot == "1 unsaved"
                await dialog.saves()
            await _digests(person, files[1], told="reader")

        async with start() as person:
            await _turns_to_the_wiki(person)
            await _digests(person, files[2], told="reader")
            async with settings(person) as dialog:
                assert dialog.choice("digestModel") == "reader"
                assert dialog.choice("mainModel") == "chatty"
        assert [request.body["model"] for request in server.digests] == ["chatty", "reader", "reader"]


async def test_what_is_cancelled_changes_nothing(start: Start) -> None:
    async with start() as person:
        before = await person.core.knowledge.knowledge_get_config()
        async with settings(person, "Knowledge") as dialog:
            await person.clicks("autoExtract")
            await person.clicks("autoInject")
            assert dialog.foot == "2 unsaved"
            await dialog.cancels()
        assert await person.core.knowledge.knowledge_get_config() == before
        async with settings(person, "Knowledge") as dialog:
            assert dialog.is_on("autoExtract")
            assert dialog.foot == "Nothing to save"


async def _turns_to_the_wiki(person: Person) -> None:
    await person.goes_to("Knowledge")
    await person.until(lambda: hands.visible("sideWiki"), "the two sides")
    await person.clicks("sideWiki")
    await person.finds("digestButton")


async def _digests(person: Person, file: Path, *, told: str) -> None:
    """Through the dialog, which names the model that will read; the file is dropped on it."""
    await person.clicks("digestButton")
    dialog = await person.finds("digestDialog")
    assert isinstance(dialog, DigestDialog)
    await person.sees(f"{told} · Scripted", on="digestDialog")
    dialog.add([file])
    await person.clicks("startDigestButton")
    await person.misses("digestDialog")
    await person.sees("1 of 1 file", on="digestCard")
    await person.clicks("dismissDigestButton")


async def _talk(person: Person, server: OpenAIServer, *, turns: int) -> None:
    """A conversation of its own, with so many questions and answers."""
    await _begin(person)
    for turn in range(turns):
        server.script(f"Answer {turn}: begin the transaction with BEGIN IMMEDIATE.")
        await person.asks(f"Question {turn}: two processes write to one sqlite file and one fails. What helps?")
        await person.is_answered(f"Answer {turn}")


async def _begin(person: Person) -> None:
    """The first question of all is asked on the welcome page, every other in a new conversation."""
    await person.goes_to("Chat")
    shown = ("welcomePage", "conversationList", "showConversationsButton")
    await person.until(lambda: any(hands.visible(name) for name in shown), "the chat")
    if not hands.visible("welcomePage"):
        await person.begins_a_conversation()


async def _nothing_is_extracted(person: Person, server: OpenAIServer, *, so_far: int) -> None:
    await person.core.extraction.settled()
    assert (await person.core.extraction.status()).phase is not Phase.WAITING
    assert len(server.extractions) == so_far
    assert await person.core.knowledge.inbox_count() == so_far


async def _one_after_the_quiet(person: Person, server: OpenAIServer, *, number: int) -> None:
    server.script_extraction(_found(number))
    await _talk(person, server, turns=2)
    assert len(server.extractions) == number - 1  # not when the run ends
    await person.until(lambda: person.badge == str(number), "the candidate after the quiet")
    await person.core.extraction.settled()
    assert (await person.core.extraction.status()).phase is Phase.IDLE  # once for one quiet period
    assert len(server.extractions) == number
    assert server.extractions[-1].at - server.requests[-1].at >= QUIET_S


async def _only_by_hand(person: Person, server: OpenAIServer, *, number: int) -> None:
    await _talk(person, server, turns=2)
    await _nothing_is_extracted(person, server, so_far=number - 1)
    server.script_extraction(_found(number))
    await person.goes_to("Inbox")
    await person.clicks("extractNowButton")
    await person.until(lambda: person.badge == str(number), "the candidate that was asked for")


async def _system_prompt(person: Person, server: OpenAIServer) -> str:
    """Of the request that a question in a new conversation sends."""
    server.script("Begin it early.")
    await _begin(person)
    await person.asks(QUESTION)
    await person.is_answered("Begin it early.")
    assert server.requests[-1].last_user == QUESTION
    return server.requests[-1].system


def _found(number: int) -> dict[str, Any]:
    return {
        "items": [
            {
                "kind": "pitfall",
                "title": f"{TITLE}, number {number}",
                "content": f"Writers wait for each other then ({number}).",
                "tags": ["sqlite"],
                "confidence": 0.8,
                "evidence": "begin the transaction with BEGIN IMMEDIATE",
            }
        ]
    }
