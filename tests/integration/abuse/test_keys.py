"""Keys go to the server they were entered for and to no other; the agent's children may not do what is the user's."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from devflow.domain.provider import ProviderDraft
from devflow.domain.run import RunState
from devflow.models.registry import KeyNeeded
from devflow.providers.adapters import ADAPTERS
from tests.fakes.raw_server import RawServer
from tests.integration.abuse.conftest import Processes
from tests.support.commands import devflow

KEY = "sk-only-for-the-first-server"

adapters = pytest.mark.parametrize("adapter", sorted(ADAPTERS))


@pytest.fixture
async def first() -> AsyncIterator[RawServer]:
    async with RawServer() as running:
        yield running


@pytest.fixture
async def other() -> AsyncIterator[RawServer]:
    """Another server: the same machine, another port."""
    async with RawServer() as running:
        yield running


def heard(server: RawServer) -> str:
    """Everything that ever reached a server."""
    return "".join(f"{one.method} {one.path} {dict(one.headers)} {one.body!r}" for one in server.received)


@adapters
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_to_another_host_is_refused_and_carries_no_key(
    processes: Processes, first: RawServer, other: RawServer, adapter: str, status: int
) -> None:
    bench = await processes.start()
    draft = ProviderDraft("First", first.base_url, models=("m",), adapter=adapter)
    await bench.core.models.add(draft, key=KEY)
    for _ in range(20):  # whatever is asked, of whatever path
        first.answer(status=status, headers={"Location": f"{other.base_url}/chat/completions"})
    conversation = await bench.conversation()
    run = await bench.ask(conversation, "Hello, what can you do with a lock?")
    assert run.state is RunState.FAILED
    assert run.problem is not None
    assert "redirect" in f"{run.problem.code} {run.problem.message}".lower()
    assert KEY in heard(first)
    assert other.received == []


@adapters
async def test_a_changed_host_demands_the_key_again_and_never_gets_the_stored_one(
    processes: Processes, first: RawServer, other: RawServer, adapter: str
) -> None:
    bench = await processes.start()
    models = bench.core.models
    config = await models.add(ProviderDraft("First", first.base_url, models=("m",), adapter=adapter), key=KEY)
    moved = ProviderDraft("First", other.base_url, models=("m",), adapter=adapter)
    with pytest.raises(KeyNeeded):
        await models.update(config.id, moved)
    assert (await models.get(config.id)).base_url == first.base_url
    for what in (moved, replace(config, base_url=other.base_url)):  # the form's Test, unsaved
        for _ in range(5):
            other.answer(status=401)
        await models.test(what)
    await models.update(config.id, moved, key="sk-another")
    conversation = await bench.conversation()
    for _ in range(5):
        other.answer(status=401)
    await bench.ask(conversation, "Hello, what can you do with a lock?")
    assert KEY not in heard(other)


def test_the_agents_child_cannot_publish_by_the_command_line(home: Path) -> None:
    """The real command, in a process of its own, with what every command of the agent has in its environment."""
    child = {"DEVFLOW_AGENT_CHILD": "1"}
    added = devflow(home, "knowledge", "add", "--kind", "pitfall", "--title", "T", "--content", "C", env=child)
    id = added.out.strip()
    assert id, added.err
    for words in (("approve", id), ("status", id, "published"), ("erase", id)):
        refused = devflow(home, "knowledge", *words, "--json", env=child)
        assert refused.code == 1
        assert refused.error["code"] == "human_only"
        assert refused.out == ""
    shown = devflow(home, "knowledge", "get", id, "--json").value
    assert shown["status"] == "candidate"
