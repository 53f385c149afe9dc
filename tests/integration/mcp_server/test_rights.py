"""What each right allows, and that none publishes (spec 06). The window's side is another connection to the home."""

from pathlib import Path
from typing import Any

import pytest

from devflow.domain.knowledge import EntryEdit, Status
from tests.fakes.openai_server import OpenAIServer, Turn
from tests.integration.extraction.bench import item, items
from tests.integration.extraction.test_command import a_chat
from tests.integration.mcp_server.conftest import Entrance
from tests.support.library import USER, Library

UNPUBLISHED = [Status.CANDIDATE, Status.PENDING_REVIEW, Status.ARCHIVED]


# proposing ----------------------------------------------------------------------------------------------------------


async def test_a_proposal_is_a_candidate_with_the_clients_name(enter: Entrance, library: Library) -> None:
    async with enter("propose", "claude-code") as tool:
        made = await tool.proposes(tags=["sql", "SQL", " locks "])
    entry = await library.knowledge.knowledge_get(made["id"])
    assert (entry.status, entry.source_ref, entry.confidence) == (Status.CANDIDATE, "mcp:claude-code", 0.5)
    assert entry.tags == ("sql", "locks")
    assert [event.actor for event in await library.events(entry.id)] == ["mcp:claude-code"]
    assert made["repeated"] is False


@pytest.mark.parametrize("right", ["propose", "manage"])
async def test_no_right_publishes(enter: Entrance, library: Library, right: str) -> None:
    theirs = await library.add("By hand", status=Status.PENDING_REVIEW)
    async with enter(right) as tool:
        own = await tool.proposes()
        await tool("knowledge_update_status", id=own["id"], status="pending_review")
        for id in (own["id"], theirs.id):
            code, said = await tool.refused("knowledge_update_status", id=id, status="published")
            assert code == "human_only"
            assert said.startswith("Publishing is a human act. A human decides it in the inbox")
    assert (await library.knowledge.knowledge_list()).total == 0


async def test_secrets_are_taken_out_of_what_is_proposed_and_of_what_is_edited(
    enter: Entrance, library: Library
) -> None:
    key = "sk-proj-" + "a1B2c3D4" * 5
    async with enter() as tool:
        made = await tool.proposes(content=f"Call it with {key}.")
        assert key not in made["content"]
        fields = {"title": f"With {key}", "content": f"Or with {key}.", "tags": [key[:40]]}
        edited = await tool("knowledge_update", id=made["id"], version=1, **fields)
    assert key not in str(edited)
    stored = [str(event.changes) for event in await library.events(made["id"])]
    assert all(key not in changes for changes in stored)


async def test_what_is_there_already_is_seen_again(enter: Entrance, library: Library) -> None:
    known = await library.add("Take the lock first", status=Status.PUBLISHED)
    async with enter(name="cursor") as tool:
        again = await tool.proposes("take the  LOCK first", content=known.content)
    assert (again["repeated"], again["id"]) == (True, known.id)
    events = await library.events(known.id)
    assert (events[-1].event.value, events[-1].actor) == ("seen_again", "mcp:cursor")


@pytest.mark.parametrize("status", UNPUBLISHED)
async def test_of_what_is_there_unpublished_a_repetition_learns_nothing_but_that(
    enter: Entrance, library: Library, status: Status
) -> None:
    known = await library.add(status=status)
    async with enter() as tool:
        again = await tool.proposes(known.title, content=known.content)
    assert again.keys() == {"repeated", "note"}


# reading ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("right", ["read", "propose"])
@pytest.mark.parametrize("status", UNPUBLISHED)
async def test_below_manage_the_unpublished_of_others_is_not_there(
    enter: Entrance, library: Library, right: str, status: Status
) -> None:
    hidden = await library.add("Zebra crossing", status=status)
    async with enter(right) as tool:
        for name, arguments in LOOKS_AT_ONE.items():
            code, said = await tool.refused(name, **{**arguments, "id": hidden.id})
            assert (code, said) == ("not_found", _as_if_there_were_none(hidden.id))
        for name, more in (
            ("knowledge_search", {"query": "zebra"}),
            ("knowledge_similar", {"text": "Zebra crossing"}),
        ):
            assert (await tool(name, **more))["hits"] == []
        listed = await tool("knowledge_list", status=status.value)
        assert (listed["entries"], listed["total"]) == ([], 0)
        assert (await tool("knowledge_list_candidates"))["entries"] == []


LOOKS_AT_ONE: dict[str, dict[str, Any]] = {
    "knowledge_get": {},
    "knowledge_timeline": {},
    "knowledge_similar": {},
}


def _as_if_there_were_none(id: str) -> str:
    return f"No entry has the id {id}. Check the id; a list or a search shows the ids there are."


async def test_acts_on_what_is_not_seen_say_that_it_is_not_there(enter: Entrance, library: Library) -> None:
    hidden = await library.add()
    before = await library.events(hidden.id)
    acts: list[tuple[str, dict[str, Any]]] = [
        ("knowledge_update", {"version": 1, "title": "Mine now"}),
        ("knowledge_update_status", {"status": "pending_review"}),
        ("knowledge_update_status", {"status": "archived"}),
        ("knowledge_archive", {}),
        ("knowledge_record_reuse", {}),
    ]
    async with enter("propose") as tool:
        for name, arguments in acts:
            assert await tool.refused(name, id=hidden.id, **arguments) == (
                "not_found",
                _as_if_there_were_none(hidden.id),
            )
    assert await library.events(hidden.id) == before


async def test_ones_own_is_seen_whatever_became_of_it(enter: Entrance, library: Library) -> None:
    async with enter(name="one") as one, enter(name="other") as other:
        made = await one.proposes()
        assert (await one("knowledge_get", id=made["id"]))["status"] == "candidate"
        assert [entry["id"] for entry in (await one("knowledge_list_candidates"))["entries"]] == [made["id"]]
        assert (await other("knowledge_list_candidates"))["entries"] == []
        await library.knowledge.knowledge_archive(made["id"], actor=USER, reason="We decided otherwise")
        assert (await one("knowledge_get", id=made["id"]))["status"] == "archived"
        events = (await one("knowledge_timeline", id=made["id"]))["events"]
        assert events[0]["detail"] == {"reason": "We decided otherwise"}
        assert (await other.refused("knowledge_get", id=made["id"]))[0] == "not_found"


async def test_the_former_texts_of_a_published_entry_stay_with_the_user(enter: Entrance, library: Library) -> None:
    entry = await library.add("Ask Zacharias", content="His number is 555-0199.")
    edit = EntryEdit(entry.version, title="Ask support", content="They know.")
    await library.knowledge.knowledge_update(entry.id, edit, actor=USER, approve=True)
    async with enter("read") as reader, enter("manage") as manager:
        told = await reader("knowledge_timeline", id=entry.id)
        assert "Zacharias" not in str(told)
        assert "555-0199" not in str(told)
        assert [event["event"] for event in told["events"]].count("updated") == 1
        assert told["events"][0]["changes"]["status"] == ["pending_review", "published"]
        assert "Zacharias" in str(await manager("knowledge_timeline", id=entry.id))


async def test_manage_sees_everything(enter: Entrance, library: Library) -> None:
    candidate = await library.add("Zebra crossing")
    archived = await library.add("Zebra stripes", status=Status.ARCHIVED)
    async with enter("manage") as tool:
        assert (await tool("knowledge_get", id=candidate.id))["title"] == "Zebra crossing"
        assert (await tool("knowledge_list", status="archived"))["entries"][0]["id"] == archived.id
        assert (await tool("knowledge_list_candidates"))["total"] == 1
        assert (await tool("knowledge_similar", text="zebra crossing"))["hits"][0]["id"] == candidate.id


# changing -----------------------------------------------------------------------------------------------------------


async def test_read_only_reads(enter: Entrance, library: Library) -> None:
    entry = await library.add(status=Status.PUBLISHED)
    acts: list[tuple[str, dict[str, Any]]] = [
        ("knowledge_create", {"kind": "pitfall", "title": "A", "content": "B"}),
        ("knowledge_update", {"id": entry.id, "version": 1, "title": "C"}),
        ("knowledge_update_status", {"id": entry.id, "status": "archived"}),
        ("knowledge_record_reuse", {"id": entry.id}),
        ("knowledge_archive", {"id": entry.id}),
        ("knowledge_save_config", {"config": {}}),
        ("knowledge_extract_now", {}),
    ]
    async with enter("read") as tool:
        for name, arguments in acts:
            code, said = await tool.refused(name, **arguments)
            assert code == "right_missing"
            assert said.startswith("This needs the right to ")
            assert "the user allowed read" in said
        assert (await tool("knowledge_search", query="lock"))["hits"][0]["id"] == entry.id


async def test_propose_edits_archives_and_submits_its_own_until_it_is_published(
    enter: Entrance, library: Library
) -> None:
    async with enter() as tool:
        made = await tool.proposes()
        edited = await tool("knowledge_update", id=made["id"], version=1, title="Take it first")
        assert (edited["title"], edited["version"]) == ("Take it first", 2)
        assert (await tool.refused("knowledge_update", id=made["id"], version=1, title="Late"))[0] == "conflict"
        await tool("knowledge_update_status", id=made["id"], status="pending_review")
        await library.knowledge.knowledge_approve(made["id"], actor=USER)
        for name, more in (
            ("knowledge_update", {"version": 4, "title": "Mine"}),
            ("knowledge_archive", {}),
            ("knowledge_update_status", {"status": "archived"}),
        ):
            code, said = await tool.refused(name, id=made["id"], **more)
            assert code == "refused"
            assert said.startswith("Only the program that proposed an entry changes it, and only until it is published")
        second = await tool.proposes("Second thing")
        assert (await tool("knowledge_archive", id=second["id"], reason="Wrong"))["status"] == "archived"
        assert (await tool.refused("knowledge_archive", id=second["id"]))[0] == "invalid_transition"
    actors = {event.actor for id in (made["id"], second["id"]) for event in await library.events(id)}
    assert actors == {"mcp:tester", "user"}


async def test_reuse_is_counted_for_published_entries_alone(enter: Entrance, library: Library) -> None:
    entry = await library.add(status=Status.PUBLISHED)
    async with enter(name="gemini") as tool:
        assert (await tool("knowledge_record_reuse", id=entry.id))["reuse_count"] == 1
        own = await tool.proposes("Another thing")
        code, said = await tool.refused("knowledge_record_reuse", id=own["id"])
        assert code == "refused"
        assert "this one is candidate" in said
    assert (await library.events(entry.id))[-1].actor == "mcp:gemini"


async def test_manage_archives_any_but_edits_only_its_own(enter: Entrance, library: Library) -> None:
    candidate = await library.add("One thing")
    published = await library.add("Another thing", status=Status.PUBLISHED)
    async with enter("manage", "codex") as tool:
        for entry in (candidate, published):
            edit = {"id": entry.id, "version": entry.version, "title": "Mine"}
            assert (await tool.refused("knowledge_update", **edit))[0] == "refused"
        assert (await tool.refused("knowledge_update_status", id=candidate.id, status="pending_review"))[0] == "refused"
        assert (await tool("knowledge_archive", id=published.id))["status"] == "archived"
        archived = await tool("knowledge_update_status", id=candidate.id, status="archived")
        assert archived["status"] == "archived"
    assert (await library.events(published.id))[-1].actor == "mcp:codex"


async def test_manage_configures_and_what_it_leaves_out_stays(enter: Entrance, library: Library) -> None:
    async with enter("propose") as tool:
        assert (await tool.refused("knowledge_save_config", config={"min_messages": 6}))[0] == "right_missing"
        assert (await tool("knowledge_get_config"))["knowledge_config"]["min_messages"] == 4
    async with enter("manage") as tool:
        saved = await tool("knowledge_save_config", config={"min_messages": 6, "embedding_model": None})
        assert saved["knowledge_config"]["min_messages"] == 6
        assert saved["knowledge_config"]["auto_extract"] is True
        code, said = await tool.refused("knowledge_save_config", config={"min_messages": 0})
        assert (code, "from 1 to 1000" in said) == ("invalid_input", True)
    assert (await library.settings.fresh("knowledge_config"))["min_messages"] == 6


async def test_what_the_user_changes_meanwhile_counts_at_the_next_call(enter: Entrance, library: Library) -> None:
    async with enter("manage") as tool:
        assert (await tool("knowledge_get_config"))["knowledge_config"]["min_messages"] == 4
        await library.knowledge.knowledge_change_config({"min_messages": 9}, actor=USER)
        assert (await tool("knowledge_get_config"))["knowledge_config"]["min_messages"] == 9


async def test_manage_has_a_conversation_distilled_and_the_candidates_say_who_asked(
    enter: Entrance, library: Library, home: Path
) -> None:
    with OpenAIServer() as server:
        server.script_extraction(Turn(items(item())))
        id = await a_chat(home, server)
        async with enter("propose") as tool:
            assert (await tool.refused("knowledge_extract_now"))[0] == "right_missing"
        async with enter("manage", "codex") as tool:
            outcome = await tool("knowledge_extract_now")
            assert (outcome["state"], outcome["created"], outcome["conversation_id"]) == ("done", 1, id)
            assert (await tool("knowledge_extract_now", conversation_id=id))["state"] == "nothing_new"
            assert (await tool("knowledge_get", id=outcome["entry_ids"][0]))["evidence"]["quote"]
    (event,) = await library.events(outcome["entry_ids"][0])
    assert (event.actor, event.detail["asked_by"]) == ("ai", "mcp:codex")


async def test_without_a_model_nothing_is_distilled_and_the_model_is_told_why(enter: Entrance) -> None:
    async with enter("manage") as tool:
        code, said = await tool.refused("knowledge_extract_now")
        assert (code, said.startswith("Nothing was distilled: no model is set up")) == ("refused", True)
