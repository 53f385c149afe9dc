"""Approval rules 1-8 in processes that are really killed; `__main__` beside has the long form."""

import asyncio
import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.integration.reliability.campaign import Lost
from tests.integration.reliability.killed_nursery import Nursery
from tests.integration.reliability.killed_runs import DOOMS, Told, tell

SEEDS = range(1, 21)


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    with Nursery() as running:
        yield running


def test_runs_killed_at_any_point_have_each_effect_at_most_once_and_come_to_their_end(
    nursery: Nursery, tmp_path: Path
) -> None:
    stories = [tell(seed, tmp_path / str(seed), nursery).story for seed in SEEDS]
    assert sum(len(story.kills) for story in stories) >= len(stories)
    assert sum(story.effects for story in stories) >= len(stories)


async def test_the_check_would_find_an_effect_that_happened_twice(nursery: Nursery, tmp_path: Path) -> None:
    told = await _one_story(nursery, tmp_path)
    await told.check()
    began = next(line for line in told.ledger() if '"began": ' in line and '"began": null' not in line)
    told.rewrite_ledger([*told.ledger(), began])
    with pytest.raises(Lost, match="began 2 times"):
        await told.check()


async def test_the_check_would_find_an_effect_that_nobody_had_allowed(nursery: Nursery, tmp_path: Path) -> None:
    told = await _one_story(nursery, tmp_path)
    told.rewrite_ledger([line.replace('"allow": true', '"allow": false') for line in told.ledger()])
    with pytest.raises(Lost, match="nobody had allowed"):
        await told.check()


async def _one_story(nursery: Nursery, folder: Path) -> Told:
    """One with an effect that had to be allowed."""
    return await asyncio.to_thread(tell, 8, folder / "8", nursery)


def test_every_transaction_at_which_a_story_kills_is_one_that_there_still_is() -> None:
    for kind, name, _ in DOOMS:
        module, _, path = name.split(" ")[-1].partition(":")
        if kind == "write" and module.startswith("devflow.") and not module.endswith("."):
            found: Any = importlib.import_module(module)
            for part in filter(None, path.split(".")):
                found = getattr(found, part)
