"""The composition root: what a program that stays hears and does, and that it ends clean."""

import asyncio
from pathlib import Path

from devflow.app.core import AGENT_CHILD, close_core, is_agent_child, open_core, opened
from devflow.app.paths import app_paths
from devflow.domain.events import Aggregate, Changes, Event
from tests.support.commands import devflow


async def test_an_open_window_hears_of_the_command_lines_candidate_within_two_seconds(home: Path) -> None:
    async with opened(app_paths(home), background=True) as core:
        heard: asyncio.Future[Changes] = asyncio.get_running_loop().create_future()

        def hear(event: Event) -> None:
            if isinstance(event, Changes) and event.foreign and event.of(Aggregate.ENTRY) and not heard.done():
                heard.set_result(event)

        core.hub.subscribe(hear)
        add = ("knowledge", "add", "--kind", "pitfall", "--title", "From outside", "--content", "Text")
        added = await asyncio.to_thread(devflow, home, *add)
        changes = await asyncio.wait_for(heard, 2)
        assert changes.of(Aggregate.ENTRY) == {added.out.strip()}
        assert await core.knowledge.inbox_count() == 1


async def test_closing_ends_every_task_of_the_core(home: Path) -> None:
    before = asyncio.all_tasks()
    core = await open_core(app_paths(home), background=True)
    assert core.tasks
    await close_core(core)
    assert all(task.done() for task in core.tasks)
    assert asyncio.all_tasks() == before


async def test_a_single_command_starts_no_background_work(home: Path) -> None:
    async with opened(app_paths(home)) as core:
        assert core.tasks == []


def test_the_agents_marker_is_read_from_the_environment() -> None:
    assert is_agent_child({AGENT_CHILD: "1"})
    assert not is_agent_child({AGENT_CHILD: "0"})
    assert not is_agent_child({AGENT_CHILD: ""})
    assert not is_agent_child({})
