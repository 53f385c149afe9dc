"""A client is told when the library changes from another process, and of nothing that it may not see."""

import asyncio
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp.shared.subscriptions import PromptsListChanged, ResourcesListChanged, ResourceUpdated

from devflow.app.paths import app_paths
from devflow.domain.knowledge import EntryEdit, Status
from devflow.mcp_server.room import Opening
from devflow.mcp_server.stdio import ANSWERS_S
from tests.integration.mcp_server.conftest import Entrance
from tests.support.library import USER, Library
from tests.support.mcp_client import Tool, connected, wired

WITHIN_S = 2.0
PROMPTS, RESOURCES = "notifications/prompts/list_changed", "notifications/resources/list_changed"


class Ear:
    """What the server says unasked, in order."""

    def __init__(self) -> None:
        self._said: asyncio.Queue[str] = asyncio.Queue()

    async def __call__(self, message: Any) -> None:
        match message:
            case types.ResourceUpdatedNotification(params=params):
                self._said.put_nowait(f"updated {params.uri}")
            case types.ResourceListChangedNotification() | types.PromptListChangedNotification():
                self._said.put_nowait(message.method)
            case _:
                raise AssertionError(message)

    async def next(self) -> str:
        return await asyncio.wait_for(self._said.get(), WITHIN_S)


@pytest.fixture
def ear() -> Ear:
    return Ear()


async def test_whoever_has_listed_is_told_within_two_seconds_what_others_publish_change_and_archive(
    home: Path, library: Library, ear: Ear
) -> None:
    async with connected(home, hears=ear) as tool:
        capabilities = tool.client.session.initialize_result.capabilities  # type: ignore[union-attr]
        assert capabilities.resources == types.ResourcesCapability(subscribe=True, list_changed=True)
        assert capabilities.prompts == types.PromptsCapability(list_changed=True)
        assert (await tool.client.list_resources()).resources == []
        known = await library.add("Zebra crossing", status=Status.PUBLISHED)
        assert await ear.next() == RESOURCES
        assert len((await tool.client.list_resources()).resources) == 1
        await library.knowledge.knowledge_update(known.id, EntryEdit(known.version, title="Zebras"), actor=USER)
        assert await ear.next() == RESOURCES
        await library.add("Review {{file}}", kind="prompt_template", status=Status.PUBLISHED)
        assert {await ear.next(), await ear.next()} == {RESOURCES, PROMPTS}
        await library.knowledge.knowledge_archive(known.id, actor=USER)
        assert await ear.next() == RESOURCES


async def test_nothing_is_told_of_what_waits_for_the_user_nor_of_uses(home: Path, library: Library, ear: Ear) -> None:
    known = await library.add("Zebra crossing", status=Status.PUBLISHED)
    async with connected(home, hears=ear) as tool:
        await tool.client.list_prompts()
        waiting = await library.add("A secret plan")
        await library.knowledge.knowledge_update(waiting.id, EntryEdit(waiting.version, title="Another"), actor=USER)
        await library.knowledge.knowledge_record_reuse(known.id, actor=USER)
        await tool("knowledge_get_config")  # hears what others have done so far
        await library.knowledge.knowledge_archive(waiting.id, actor=USER)
        await tool("knowledge_get_config")
        await library.add("Review {{file}}", kind="prompt_template", status=Status.PUBLISHED)
        assert {await ear.next(), await ear.next()} == {RESOURCES, PROMPTS}


async def test_who_proposed_an_entry_can_be_told_that_it_was_published(home: Path, library: Library, ear: Ear) -> None:
    others = await library.add("Not its own")
    async with connected(home, hears=ear) as tool:
        made = await tool.proposes("Look both ways")
        uri, foreign = (f"devflow://knowledge/{id}" for id in (made["id"], others.id))
        await _subscribe(tool, uri)
        await _subscribe(tool, foreign)
        await library.knowledge.knowledge_update(others.id, EntryEdit(others.version, title="Changed"), actor=USER)
        await library.knowledge.knowledge_approve(made["id"], actor=USER)
        assert await ear.next() == RESOURCES
        assert await ear.next() == f"updated {uri}"
        await _unsubscribe(tool, uri)
        await library.knowledge.knowledge_archive(made["id"], actor=USER)
        assert await ear.next() == RESOURCES
        await library.knowledge.knowledge_approve(others.id, actor=USER)
        assert {await ear.next(), await ear.next()} == {RESOURCES, f"updated {foreign}"}
        with pytest.raises(Exception, match="There is no resource"):
            await _subscribe(tool, "file:///etc/passwd")


async def test_the_newer_protocol_tells_on_the_streams_that_a_client_opens(home: Path, library: Library) -> None:
    known = await library.add("Zebra crossing", status=Status.PUBLISHED)
    uri = f"devflow://knowledge/{known.id}"
    async with (
        connected(home, mode="2026-07-28") as tool,
        tool.client.listen(
            resources_list_changed=True, prompts_list_changed=True, resource_subscriptions=[uri]
        ) as stream,
    ):
        await library.knowledge.knowledge_update(known.id, EntryEdit(known.version, title="Zebras"), actor=USER)
        events = {await asyncio.wait_for(anext(stream), WITHIN_S) for _ in range(2)}
        assert events == {ResourcesListChanged(), ResourceUpdated(uri)}
        await library.add("Review {{file}}", kind="prompt_template", status=Status.PUBLISHED)
        events = {await asyncio.wait_for(anext(stream), WITHIN_S) for _ in range(2)}
        assert events == {ResourcesListChanged(), PromptsListChanged()}


def test_a_client_that_listens_and_goes_ends_its_server_at_once(home: Path) -> None:
    key = "io.modelcontextprotocol/"
    about = {f"{key}protocolVersion": "2026-07-28", f"{key}clientInfo": {"name": "wire", "version": "1"}}
    meta = {**about, f"{key}clientCapabilities": {}}
    with wired(home) as wire:
        params = {"_meta": meta, "notifications": {"resourcesListChanged": True}}
        wire.sends({"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": params})
        assert wire.reads()["method"] == "notifications/subscriptions/acknowledged"
        assert wire.ends(within=ANSWERS_S / 2)[0] == 0


async def test_for_a_client_that_only_calls_tools_nothing_is_watched(home: Path) -> None:
    opening = Opening(app_paths(home))
    async with Entrance(opening)() as tool:
        await tool("knowledge_list")
        assert not _watchers()
        await tool.client.list_resources()
        assert len(_watchers()) == 1
        await tool.client.list_prompts()
        assert len(_watchers()) == 1
    await opening.close()
    assert not _watchers()


async def _subscribe(tool: Tool, uri: str) -> None:
    """As clients of the older protocol do; the SDK's own method warns that the newer one has it no more."""
    request = types.SubscribeRequest(params=types.SubscribeRequestParams(uri=uri))
    await tool.client.session.send_request(request, types.EmptyResult)


async def _unsubscribe(tool: Tool, uri: str) -> None:
    request = types.UnsubscribeRequest(params=types.UnsubscribeRequestParams(uri=uri))
    await tool.client.session.send_request(request, types.EmptyResult)


def _watchers() -> list[str]:
    return [task.get_name() for task in asyncio.all_tasks() if task.get_name() == "watch for changes"]
