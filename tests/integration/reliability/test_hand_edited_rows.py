"""A database edited by hand: one broken row takes nothing else along, and the doctor names it (spec 07)."""

import asyncio
import contextlib
import sqlite3
from collections.abc import Callable, Coroutine
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from devflow.app.core import Core, opened
from devflow.app.paths import app_paths
from devflow.domain.errors import DatabaseProblem, UserFacing
from devflow.domain.health import Health
from devflow.domain.knowledge import EntryEdit, Status, draft
from devflow.domain.provider import ProviderDraft
from devflow.domain.run import RunState
from devflow.knowledge.service import Actor, Filters
from devflow.store import health

USER = Actor.user()
EVERY = frozenset(Status)
DEEP = "[" * 50_000


@pytest.fixture
async def ids(home: Path) -> list[str]:
    """A home with three entries, the first of them published and used, a conversation and a provider."""
    async with opened(app_paths(home)) as core:
        made = [
            (
                await core.knowledge.knowledge_create(
                    draft(kind="pitfall", title=f"Lock {number}", content="Take the lock first.", tags=("a",)),
                    actor=USER,
                )
            ).entries[0]
            for number in range(3)
        ]
        await core.knowledge.knowledge_approve(made[0].id, actor=USER)
        run = await core.turns.send((await core.conversations.create()).id, "What about the lock?")
        await core.turns.wait(run.id)
        await core.models.add(ProviderDraft("P", "http://127.0.0.1:9"))
        return [entry.id for entry in made]


def edit(home: Path, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(app_paths(home).database)) as connection:
        connection.execute(statement, values)
        connection.commit()


@pytest.mark.parametrize(
    "column, value",
    [
        ("tags", "x"),
        ("tags", "null"),
        ("tags", '{"a": 1}'),
        ("tags", '[1, null, [2], "kept"]'),
        ("tags", '["a'),
        ("tags", DEEP),
        ("evidence", "[]"),
        ("evidence", "{"),
        ("evidence", '{"message_ids": 5, "quote": 7}'),
        ("title", ""),
        ("title", "two\nlines \x1b[2J"),
        ("created_at", "yesterday"),
        ("created_at", 5),
        ("updated_at", "0001-01-01 00:00:00"),
        ("updated_at", "9999-12-31 23:59:59"),
        ("version", "x"),
        ("reuse_count", "many"),
        ("project_id", "nowhere"),
    ],
)
async def test_a_broken_entry_is_shown_as_far_as_it_can_be_and_the_others_whole(
    home: Path, ids: list[str], column: str, value: object
) -> None:
    edit(home, f"UPDATE entries SET {column} = ? WHERE id = ?", value, ids[0])
    async with opened(app_paths(home), background=True) as core:
        page = await core.knowledge.knowledge_list(statuses=EVERY)
        assert {entry.id for entry in page.entries} == set(ids)
        found = await core.knowledge.knowledge_search("lock", statuses=EVERY, limit=10)
        assert {hit.entry.id for hit in found.hits} >= set(ids[1:])
        assert len(await core.knowledge.knowledge_order(Filters(statuses=EVERY))) == 3
        assert (await core.knowledge.facets(Filters(statuses=EVERY))).tags["a"] >= 2
        broken = await core.knowledge.knowledge_get(ids[0])
        repaired = EntryEdit(broken.version, title="Lock again", tags=("b",))
        if column != "version":
            await core.knowledge.knowledge_update(ids[0], repaired, actor=USER)
        await core.knowledge.knowledge_archive(ids[1], actor=USER)
        await core.knowledge.knowledge_erase(ids[2], actor=USER)
        assert (await core.knowledge.knowledge_stats()).total == 2


async def test_an_entry_whose_count_is_none_is_used_all_the_same_and_counted_anew(home: Path, ids: list[str]) -> None:
    edit(home, "UPDATE entries SET reuse_count = 'many' WHERE id = ?", ids[0])
    async with opened(app_paths(home)) as core:
        await core.knowledge.knowledge_record_reuse(ids[0], actor=USER)
        assert (await core.knowledge.knowledge_get(ids[0])).reuse_count == 1
        assert (await core.knowledge.knowledge_stats()).total == 3


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE entries SET tags = 'x'",
        "UPDATE entries SET title = ''",
        "UPDATE entries SET content = x'ff00'",
        "UPDATE entries SET created_at = 'yesterday'",
        "UPDATE entries SET reuse_count = 'many'",
        "UPDATE entries SET content = replace(hex(zeroblob(30000)), '00', 'word ')",
    ],
)
async def test_the_doctor_names_the_entries_that_break_the_rules(home: Path, ids: list[str], statement: str) -> None:
    assert {finding.health for finding in health.examine(app_paths(home))} == {Health.OK}
    edit(home, f"{statement} WHERE id = ?", ids[1])
    found = [finding for finding in health.examine(app_paths(home)) if finding.check == "entries"]
    assert [finding.params["ids"] for finding in found] == [ids[1]]


@pytest.mark.parametrize(
    "act, statement",
    [
        ("get", "UPDATE entries SET content = cast(x'ff61' as text)"),
        ("timeline", "UPDATE entry_events SET event = 'invented'"),
        ("get", "PRAGMA ignore_check_constraints = 1; UPDATE entries SET kind = 'invented'"),
    ],
)
async def test_what_cannot_be_read_at_all_is_a_sentence_that_names_the_doctor(
    home: Path, ids: list[str], act: str, statement: str
) -> None:
    with closing(sqlite3.connect(app_paths(home).database)) as connection:
        connection.executescript(statement)
    async with opened(app_paths(home)) as core:
        with pytest.raises(DatabaseProblem) as refusal:
            await {"get": core.knowledge.knowledge_get, "timeline": core.knowledge.knowledge_timeline}[act](ids[0])
        assert "devflow doctor" in refusal.value.hint


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE entry_events SET changes = '[]', detail = 'x'",
        'UPDATE entry_events SET changes = \'{"status": 5, "title": ["a"]}\'',
        "UPDATE entry_events SET at = 'x'",
        "UPDATE conversations SET draft = '[1]'",
        "UPDATE conversations SET draft = '{'",
        "UPDATE conversations SET leaf_id = 'nowhere'",
        "UPDATE messages SET parent_id = id",
        "UPDATE messages SET usage = '[1]'",
        "UPDATE runs SET options = '[]'",
        'UPDATE runs SET options = \'{"tip": "nowhere", "measure": {"x": 1}}\'',
        "UPDATE runs SET state = 'calling_model', owner = 'nobody'",
        "UPDATE receipts SET library = '{}'",
        'UPDATE receipts SET library = \'{"is": "injected"}\'',
        "UPDATE receipts SET library = 'x'",
        "UPDATE providers SET base_url = 'ftp://x y', models = '{', settings = '[1]', last_test = '[1]'",
        "UPDATE providers SET adapter = 'weird', preset = 'nowhere'",
        "DELETE FROM changes",
        "INSERT INTO changes VALUES (1000000000000000, 'entry', 'x', 'y', '2026-01-01')",
        *(
            f"INSERT OR REPLACE INTO app_settings VALUES ('{group}', '{value}', '{at}')"
            for group, value, at in (
                ("knowledge_config", '{"min_messages": "x", "trigger_mode": [1], "future": {}}', "2026-01-01"),
                ("knowledge_config", "5", "x"),
                ("roles", '{"main": {"provider_id": 5, "model": []}, "digest": 7}', "2026-01-01"),
                ("network", '{"proxy": {"a": 1}, "proxy_url": 7, "ca_file": []}', "2026-01-01"),
                ("home", '{"id": 5}', "2026-01-01"),
                ("extraction", '{"daily_calls": "x"}', "2026-01-01"),
                ("extraction_state", '{"seen_until": [], "calls": {}}', "2026-01-01"),
                ("tool_rules", '{"rules": 5}', "2026-01-01"),
            )
        ),
    ],
)
@pytest.mark.expects_log
async def test_the_window_opens_and_everything_can_be_looked_at(home: Path, ids: list[str], statement: str) -> None:
    edit(home, statement)
    async with opened(app_paths(home), background=True) as core:
        await asyncio.wait_for(look_at_everything(core, ids), 30)


async def look_at_everything(core: Core, ids: list[str]) -> None:
    """A refusal in a sentence is an answer; nothing else is."""
    acts: list[Callable[[], Coroutine[Any, Any, Any]]] = [
        lambda: core.knowledge.knowledge_list(statuses=EVERY),
        lambda: core.knowledge.knowledge_timeline(ids[0]),
        core.knowledge.knowledge_get_config,
        lambda: core.knowledge.knowledge_change_config({"min_messages": 5}, actor=USER),
        lambda: core.knowledge.knowledge_erase(ids[0], actor=USER),
        core.models.roles,
        core.extraction.extract_now,
        core.extraction.pending_conversations,
        core.extraction.status,
    ]
    for conversation in await core.conversations.list():
        acts += [
            lambda id=conversation.id: core.conversations.path(id),  # type: ignore[misc]
            lambda id=conversation.id: core.conversations.runs(id),  # type: ignore[misc]
            lambda id=conversation.id: core.conversations.receipts(id),  # type: ignore[misc]
            lambda id=conversation.id: ask(core, id),  # type: ignore[misc]
        ]
    for provider in await core.models.list():
        acts += [
            lambda id=provider.id: core.models.has_key(id),  # type: ignore[misc]
            lambda id=provider.id: core.models.remove(id),  # type: ignore[misc]
        ]
    for act in acts:
        with contextlib.suppress(UserFacing):
            await act()


async def ask(core: Core, conversation_id: str) -> None:
    run = await core.turns.send(conversation_id, "And the lock?")
    ended = await core.turns.wait(run.id)
    assert ended.state in (RunState.COMPLETED, RunState.FAILED)
    assert ended.problem is None or ended.problem.code != "internal"
