"""`devflow extract`: the same extraction from a process of its own, over a real socket."""

from pathlib import Path

from devflow.app.core import opened
from devflow.app.paths import app_paths
from devflow.domain.conversation import Role
from devflow.domain.provider import ProviderDraft
from devflow.store import conversations
from devflow.store.database import Unit
from tests.fakes.openai_server import OpenAIServer, Turn
from tests.integration.extraction.bench import QUESTION, REPLY, item, items
from tests.support.commands import devflow


async def a_chat(home: Path, server: OpenAIServer | None) -> str:
    """A home with a conversation of two messages, and a provider where there is a server."""
    async with opened(app_paths(home)) as core:
        if server is not None:
            await core.models.add(ProviderDraft("Scripted", server.base_url, models=("scripted",)))
        made = await core.conversations.create()

        def say(unit: Unit) -> None:
            leaf = None
            for role, text in ((Role.USER, QUESTION), (Role.ASSISTANT, REPLY)):
                said = conversations.insert_message(
                    unit, conversation_id=made.id, parent_id=leaf, role=role, content=text
                )
                conversations.move_leaf(unit, made.id, before=leaf, to=said.id)
                leaf = said.id

        await core.db.write(say)
        return made.id


async def test_the_command_distils_the_latest_conversation_and_prints_the_candidates(home: Path) -> None:
    with OpenAIServer() as server:
        server.script_extraction(Turn(f"```json\n{items(item())}\n```"))
        id = await a_chat(home, server)
        result = devflow(home, "extract", "--json")
        assert (result.code, result.err) == (0, "")
        assert (result.value["state"], result.value["created"], result.value["conversation_id"]) == ("done", 1, id)
        (request,) = server.extractions
        assert request.body["response_format"]["type"] == "json_schema"
        again = devflow(home, "extract", id, "--json")
        assert (again.code, again.value["state"]) == (0, "nothing_new")
        assert len(server.extractions) == 1
    found = devflow(home, "knowledge", "inbox", "--json")
    assert "Take the write lock first" in found.out


async def test_the_command_says_what_is_wrong(home: Path) -> None:
    id = await a_chat(home, None)
    assert "no model" in devflow(home, "extract", id).err
    with OpenAIServer() as server:
        async with opened(app_paths(home)) as core:
            await core.models.add(ProviderDraft("Scripted", server.base_url, models=("scripted",)))
        server.script_extraction(Turn(status=401, error="no such key"))
        refused = devflow(home, "extract", id, "--json")
        assert refused.code == 1
        assert refused.error["code"] == "key_refused"
        assert devflow(home, "extract", "no-such-id", "--json").error["code"] == "not_found"
        server.script_extraction(*[Turn("Sure. Here it is.")] * 3)
        unreadable = devflow(home, "extract", id, env={"LANGUAGE": "zh_CN"})
        assert (unreadable.code, unreadable.out) == (1, "")
        assert not set("answer JSON read".split()) & set(unreadable.err.split())  # every word in the reader's language
