"""The user's rules as they are kept: once each, legible or not, and by whichever process."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from devflow.app.core import Core, opened
from devflow.app.paths import app_paths
from devflow.domain.errors import InvalidInput
from devflow.knowledge.settings import Settings
from devflow.tools.policy import BrokenRule, Effect, Rule
from devflow.tools.rules import GROUP, add_rule, read_rules, remove_rule

ALLOW = Rule(Effect.ALLOW, "write_file", "/p", "a.py", since=datetime(2026, 3, 9, 12, tzinfo=UTC))


@pytest.fixture
async def other(home: Path, settings: Settings) -> AsyncIterator[Core]:
    """Another process on the same home."""
    async with opened(app_paths(home), background=False) as core:
        yield core


async def test_a_rule_about_the_same_is_replaced_and_keeps_its_date(settings: Settings) -> None:
    wider = replace(ALLOW, after_untrusted=True)
    await add_rule(settings, ALLOW)
    await add_rule(settings, wider)
    (kept,) = await read_rules(settings)
    assert (kept, kept.since) == (wider, ALLOW.since)  # type: ignore[union-attr]


async def test_what_another_process_keeps_or_revokes_is_known_at_once(settings: Settings, other: Core) -> None:
    await add_rule(other.settings, ALLOW)
    assert await read_rules(settings) == (ALLOW,)
    await remove_rule(settings, ALLOW)
    assert await read_rules(other.settings) == ()


async def test_two_processes_lose_none_of_each_others_rules(settings: Settings, other: Core) -> None:
    ours, theirs = (replace(ALLOW, pattern=name) for name in ("ours.py", "theirs.py"))
    await add_rule(settings, ours)
    await add_rule(other.settings, theirs)
    assert set(await read_rules(settings)) == {ours, theirs}


@pytest.mark.parametrize("stored", ["x", 5, {"a": 1}, {"effect": "deny"}])
async def test_a_list_that_is_none_asks_about_everything_until_it_is_removed(
    settings: Settings, stored: object
) -> None:
    await settings.save(GROUP, {"rules": stored, "of a newer version": True})
    (broken,) = await read_rules(settings)
    assert broken == BrokenRule(stored, Effect.ASK)
    await add_rule(settings, ALLOW)
    assert set(map(type, await read_rules(settings))) == {BrokenRule, Rule}
    await remove_rule(settings, (await read_rules(settings))[0])
    assert await read_rules(settings) == (ALLOW,)
    assert (await settings.get(GROUP))["of a newer version"] is True


@pytest.mark.parametrize("pattern", ["", "*", "**", "x" * 2_001])
async def test_a_rule_that_allows_everything_or_nothing_is_not_kept(settings: Settings, pattern: str) -> None:
    with pytest.raises(InvalidInput):
        await add_rule(settings, replace(ALLOW, pattern=pattern))
    assert await read_rules(settings) == ()
