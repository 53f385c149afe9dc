"""A seeded moment of what must never happen (spec 07, Loss and Lock errors); `__main__` beside has the hours of it."""

from pathlib import Path

import pytest

from tests.integration.reliability.campaign import Campaign, Lost
from tests.integration.reliability.mixed import SERVERS, mixed_round

ROUNDS = 5
"""Of one to three processes that are killed; every act of all rounds before is looked for after each."""

CROWDING_S = 4.0


async def test_no_acknowledged_act_is_lost_by_processes_killed_at_random_moments(tmp_path: Path) -> None:
    campaign = Campaign(tmp_path / "home", seed=20261130)
    await campaign.prepare()
    for _ in range(ROUNDS):
        await campaign.kill_round()
    assert campaign.kills >= ROUNDS
    assert campaign.acts > 0


async def test_five_processes_at_once_lose_nothing_and_meet_no_lock(tmp_path: Path) -> None:
    campaign = Campaign(tmp_path / "home", seed=1)
    await campaign.prepare()
    await campaign.crowd_round(CROWDING_S, 5)
    assert campaign.acts >= 5


async def test_the_window_four_servers_and_a_loop_of_commands_lose_nothing_and_meet_no_lock(tmp_path: Path) -> None:
    campaign = Campaign(tmp_path / "home", seed=1)
    await campaign.prepare()
    mixed = await mixed_round(campaign, CROWDING_S, seed=20261201)
    assert {"window", "commands", *(f"tool {number}" for number in range(SERVERS))} <= mixed.counts.keys()


async def test_the_check_would_find_an_act_that_was_lost(tmp_path: Path) -> None:
    campaign = Campaign(tmp_path / "home", seed=1)
    await campaign.prepare()
    await campaign.check()
    campaign.journal.note([{"ack": ["setting", "p1"], "state": "value p1 7"}])
    with pytest.raises(Lost, match="value p1 7"):
        await campaign.check()
