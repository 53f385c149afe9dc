"""What no decent client sends, clients and servers that die in the middle, and many at once."""

import asyncio
import contextlib
import json
import os
import signal
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from devflow.domain.events import Aggregate, Changes, Event
from devflow.domain.knowledge import Status
from devflow.store.watch import watch
from tests.fakes.openai_server import Gate, OpenAIServer, Turn
from tests.integration.extraction.bench import item, items
from tests.integration.extraction.test_command import a_chat
from tests.integration.mcp_server.conftest import Entrance
from tests.support.commands import finished, start
from tests.support.library import USER, Library
from tests.support.mcp_client import connected, wired

HALF = "\\ud83d"


# what is sent -------------------------------------------------------------------------------------------------------

BROKEN: list[tuple[str, dict[str, Any], str]] = [
    ("knowledge_get", {}, "'id' is missing"),
    ("knowledge_get", {"id": 5}, "'id' must be text, not 5"),
    ("knowledge_get", {"id": None}, "'id' is missing"),
    ("knowledge_get", {"id": "x", "verbose": True}, "there is no 'verbose'"),
    ("knowledge_search", {"query": ""}, "'query' is empty"),
    ("knowledge_search", {"query": "x" * 2_001}, "at most 2,000 fit"),
    ("knowledge_search", {"query": "x", "limit": 0}, "'limit' must be at least 1"),
    ("knowledge_search", {"query": "x", "limit": 51}, "'limit' must be at most 50"),
    ("knowledge_search", {"query": "x", "limit": "many"}, "'limit' must be a whole number"),
    ("knowledge_search", {"query": "x", "kind": "secret"}, "'kind' must be one of pitfall, "),
    ("knowledge_list", {"status": "deleted"}, "'status' must be one of candidate, "),
    ("knowledge_list", {"offset": -1}, "'offset' must be at least 0"),
    ("knowledge_similar", {}, "Give either an id or a text."),
    ("knowledge_similar", {"id": "a", "text": "b"}, "Give either an id or a text."),
    ("knowledge_create", {"kind": "pitfall", "title": "two\nlines", "content": "c"}, "more than one line"),
    ("knowledge_create", {"kind": "pitfall", "title": "  ", "content": "c"}, "The title is empty."),
    ("knowledge_create", {"kind": "pitfall", "title": "t", "content": "x" * 20_001}, "at most 20,000 fit"),
    ("knowledge_create", {"kind": "pitfall", "title": "t", "content": "a\0b"}, "cannot be stored"),
    ("knowledge_create", {"kind": "pitfall", "title": "t", "content": "c", "tags": ["x" * 51]}, "at most 50 fit"),
    ("knowledge_create", {"kind": "pitfall", "title": "t", "content": "c", "tags": "sql"}, "'tags' must be a list"),
    ("knowledge_create", {"kind": "pitfall", "title": "t", "content": "c", "confidence": 7}, "must be at most 1"),
    ("knowledge_create", {"kind": "pitfall", "title": "t", "content": "c", "status": "published"}, "no 'status'"),
    ("knowledge_create", {"kind": "pitfall", "title": "t", "content": "c", "project": "nowhere"}, "no single project"),
    ("knowledge_update", {"id": "x", "version": 1}, "There is nothing to change."),
    ("knowledge_save_config", {"config": []}, "'config' must be an object"),
    ("knowledge_save_config", {"config": {"colour": "red"}}, "There is no setting colour."),
    ("knowledge_save_config", {"config": {"min_messages": "4"}}, "is not a value for min_messages"),
]


async def test_broken_arguments_are_sentences_and_change_nothing(enter: Entrance, library: Library) -> None:
    async with enter("manage") as tool:
        for name, arguments, expected in BROKEN:
            _, said = await tool.refused(name, **arguments)
            assert expected in said, (name, arguments)
            assert len(said) < 3_000
        with pytest.raises(Exception, match=r"There is no tool 'knowledge_publish'\."):
            await tool.client.call_tool("knowledge_publish", {})
    assert library.published == []
    assert (await library.knowledge.knowledge_stats()).total == 0


def test_lines_that_are_no_messages_are_answered_and_the_server_goes_on(home: Path) -> None:
    with wired(home) as wire:
        wire.greets()
        for line, code, id in (
            (b"{", -32700, None),
            (b"[" * 100_000, -32700, None),
            (b"[]", -32600, None),
            (b"17", -32600, None),
            (b'{"id": 3}', -32600, 3),
            (b'{"jsonrpc": "1.0", "id": "x", "method": "ping"}', -32600, "x"),
            (b'{"jsonrpc": "2.0", "id": 4, "method": "knowledge/publish"}', -32601, 4),
            (b'{"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"arguments": 1}}', -32602, 5),
            (b"\xff\xfe", -32700, None),
        ):
            wire.writes(line + b"\n")
            answer = wire.reads()
            assert (answer["id"], answer["error"]["code"]) == (id, code), line[:80]
        wire.writes(b"\n\r\n")
        wire.calls(9, "knowledge_list")
        assert wire.reads()["id"] == 9


def test_half_of_a_surrogate_pair_is_a_sentence_and_not_silence(home: Path) -> None:
    with wired(home) as wire:
        wire.greets()
        for id, (name, arguments) in enumerate(
            [
                ("knowledge_search", f'{{"query": "a {HALF} b"}}'),
                ("knowledge_get", f'{{"id": "{HALF}"}}'),
                ("knowledge_create", f'{{"kind": "pitfall", "title": "t", "content": "{HALF}"}}'),
                ("knowledge_create", f'{{"kind": "{HALF}", "title": "t", "content": "c", "{HALF}": 1}}'),
            ],
            1,
        ):
            params = f'{{"name": "{name}", "arguments": {arguments}}}'
            line = f'{{"jsonrpc": "2.0", "id": {id}, "method": "tools/call", "params": {params}}}\n'
            wire.writes(line.encode())
            answer = wire.reads()
            assert answer["id"] == id
            assert "result" in answer, answer


@pytest.mark.parametrize(
    "line",
    [
        '{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"knowledge_search","arguments":{{"query":"{}"}}}}}}',
        '{{"method":"tools/call","params":{{"name":"knowledge_search","arguments":{{"query":"{}"}}}},"jsonrpc":"2.0","id":7}}',
    ],
)
def test_a_message_of_megabytes_is_refused_by_its_id_and_the_next_one_is_taken(home: Path, line: str) -> None:
    with wired(home) as wire:
        wire.greets()
        wire.writes(line.format("x" * 20_000_000).encode() + b"\n")
        answer = wire.reads()
        assert (answer["id"], answer["error"]["message"]) == (7, "A message of more than 8 MB is not taken.")
        wire.writes(line.format("x" * 2_000_000).encode() + b"\n")
        answer = wire.reads()
        assert "2,000,000 characters; at most 2,000 fit" in answer["result"]["content"][0]["text"]


async def test_results_are_bounded_and_say_what_they_leave_out(enter: Entrance, library: Library) -> None:
    for number in range(60):
        await library.add(f"Zebra {number}", content=f"Zebra {number}. " + "x" * 19_000, status=Status.PUBLISHED)
    async with enter("read") as tool:
        listed = await tool("knowledge_list", limit=50)
        assert (len(listed["entries"]), listed["total"], listed["next_offset"]) == (50, 60, 50)
        assert len(json.dumps(listed)) < 80_000
        one = listed["entries"][0]
        whole = await tool("knowledge_get", id=one["id"])
        assert len(one["content"]) - 1 + one["content_cut"] == len(whole["content"])
        assert whole["content_cut"] == 0
        rest = await tool("knowledge_list", limit=50, offset=50)
        assert (len(rest["entries"]), rest["next_offset"]) == (10, None)
        assert len(json.dumps(await tool("knowledge_search", query="zebra", limit=50))) < 80_000
        first = await tool.client.list_resources()
        assert (len(first.resources), first.next_cursor) == (60, None)
        with pytest.raises(Exception, match="The cursor is none that this server gave"):
            await tool.client.list_resources(cursor="-1")


# who dies -----------------------------------------------------------------------------------------------------------


async def test_a_cancelled_call_is_not_answered_and_the_next_one_is(home: Path, library: Library) -> None:
    async with connected(home) as tool:
        await tool("knowledge_list")
        with _held(home) as release:
            with anyio.move_on_after(0.2) as scope:
                await tool.proposes("Cancelled while it waits for the lock")
            assert scope.cancelled_caught
            release()
        assert (await tool("knowledge_get_config"))["knowledge_config"]["min_messages"] == 4
        made = await tool.proposes("Second thing")
    titles = [entry.title for entry in (await library.knowledge.knowledge_list_candidates()).entries]
    assert made["title"] in titles
    await _consistent(home)


async def test_a_distillation_that_is_cancelled_is_given_up_and_can_be_asked_for_again(
    enter: Entrance, library: Library, home: Path
) -> None:
    gate = Gate()
    with OpenAIServer() as server:
        server.script_extraction(Turn(items(item()), before=gate), Turn(items(item())))
        await a_chat(home, server)
        async with enter("manage") as tool:
            asked = asyncio.create_task(tool.client.call_tool("knowledge_extract_now", {}))
            await asyncio.to_thread(gate.wait_reached)
            asked.cancel()
            await asyncio.wait([asked])
            gate.open()
            assert (await tool("knowledge_extract_now"))["created"] == 1
    assert (await library.knowledge.knowledge_list_candidates()).total == 1


def test_what_was_asked_before_the_input_closed_is_answered(home: Path) -> None:
    with wired(home) as wire:
        wire.greets()
        for id in range(1, 6):
            wire.calls(id, "knowledge_create", kind="pitfall", title=f"Thing {id}", content="Said.")
        code, rest, _ = wire.ends()
        assert code == 0
        assert sorted(answer["id"] for answer in rest) == [1, 2, 3, 4, 5]
        assert all(answer["result"]["isError"] is False for answer in rest)


async def test_a_client_that_is_gone_in_the_middle_ends_its_server_and_harms_nothing(
    home: Path, library: Library
) -> None:
    with wired(home) as wire:
        wire.greets()
        with _held(home) as release:
            wire.calls(1, "knowledge_create", kind="pitfall", title="From one who left", content="Said.")
            assert wire.process.stdin is not None
            assert wire.process.stdout is not None
            wire.process.stdin.close()
            wire.process.stdout.close()
            release()
        assert await asyncio.to_thread(wire.process.wait, 30) == 0
        wire.process.stdin = wire.process.stdout = None
    assert (await library.knowledge.knowledge_list_candidates()).total in (0, 1)
    await _consistent(home)


async def test_a_server_that_is_killed_in_mid_write_loses_nothing_it_acknowledged(home: Path, library: Library) -> None:
    for round_ in range(3):
        with wired(home) as wire:
            wire.greets()
            for id in range(1, 41):
                wire.calls(id, "knowledge_create", kind="pitfall", title=f"Thing {round_}.{id}", content="Said.")
            acknowledged = [wire.reads()["result"]["structuredContent"]["id"] for _ in range(5 + 7 * round_)]
            os.kill(wire.process.pid, signal.SIGKILL)
            wire.process.wait()
        kept = {entry.id for entry in (await library.knowledge.knowledge_list_candidates(limit=1_000)).entries}
        assert kept.issuperset(acknowledged)
    await _consistent(home)


# many at once -------------------------------------------------------------------------------------------------------


async def test_the_window_and_two_tools_hear_of_each_other(home: Path, library: Library) -> None:
    """The window's side of it is its watcher; what the window shows is `tests/e2e/test_other_tools.py`."""
    heard: asyncio.Queue[frozenset[str]] = asyncio.Queue()

    def hear(event: Event) -> None:
        if isinstance(event, Changes) and event.foreign and (ids := event.of(Aggregate.ENTRY)):
            heard.put_nowait(frozenset(ids))

    library.hub.subscribe(hear)
    watching = asyncio.create_task(watch(library.db, library.hub))
    try:
        async with connected(home, "--client", "one") as one, connected(home, "--client", "two") as two:
            made = await one.proposes("Zebra crossing")
            assert made["id"] in await asyncio.wait_for(heard.get(), 2)
            assert (await two("knowledge_search", query="zebra"))["hits"] == []
            await library.knowledge.knowledge_approve(made["id"], actor=USER)
            for tool in (one, two):
                assert (await tool("knowledge_search", query="zebra"))["hits"][0]["id"] == made["id"]
            await two("knowledge_record_reuse", id=made["id"])
            assert made["id"] in await asyncio.wait_for(heard.get(), 2)
    finally:
        watching.cancel()
    assert {event.actor for event in await library.events(made["id"])} == {"mcp:one", "mcp:two", "user"}


async def test_four_servers_the_window_and_a_command_line_write_at_once_and_nothing_is_lost(
    home: Path, library: Library
) -> None:
    shared = await library.add("Shared thing", status=Status.PUBLISHED)
    count = 12

    async def works(number: int) -> list[str]:
        async with connected(home, "--client", f"tool {number}") as tool:
            made = [await tool.proposes(f"Tool {number} thing {each}") for each in range(count)]
            for _ in range(count):
                await tool("knowledge_record_reuse", id=shared.id)
            return [one["id"] for one in made]

    async def by_hand() -> list[str]:
        made = []
        for each in range(count):
            made.append((await library.add(f"By hand {each}", status=Status.PUBLISHED)).id)
            await library.knowledge.knowledge_record_reuse(shared.id, actor=USER)
        return made

    async def commands() -> list[str]:
        words = ("knowledge", "add", "--kind", "pitfall", "--content", "Typed.", "--title")
        typed = [
            await asyncio.to_thread(lambda each=each: finished(start(home, *words, f"Typed {each}")))
            for each in range(3)
        ]
        assert [result.code for result in typed] == [0, 0, 0], typed
        return [result.out.strip() for result in typed]

    made = await asyncio.gather(*(works(number) for number in range(4)), by_hand(), commands())
    ids = [id for some in made for id in some]
    found = await library.knowledge.knowledge_entries(ids)
    assert len(found) == len(ids) == 5 * count + 3
    entry = await library.knowledge.knowledge_get(shared.id)
    assert entry.reuse_count == 5 * count
    reused = [event for event in await library.events(shared.id) if event.event.value == "reused"]
    assert len(reused) == 5 * count
    await _consistent(home)


# helpers ------------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _held(home: Path) -> Iterator[Callable[[], object]]:
    """Holds the database's write lock until it is released, so that a write surely waits."""
    with contextlib.closing(sqlite3.connect(home / "devflow.db", isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        yield lambda: connection.execute("ROLLBACK")


async def _consistent(home: Path) -> None:
    """The file is sound, and every entry has the event of its making."""
    with contextlib.closing(sqlite3.connect(home / "devflow.db")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        orphans = connection.execute(
            "SELECT id FROM entries WHERE id NOT IN (SELECT entry_id FROM entry_events WHERE event = 'created')"
        ).fetchall()
        assert orphans == []
