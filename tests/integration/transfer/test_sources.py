"""Every source from a small sample, and a broken one each: named with its line, and nothing of it comes in."""

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from devflow.domain.conversation import Role
from devflow.domain.knowledge import Entry, Kind, Status
from devflow.transfer.preview import Preview
from tests.integration.transfer.conftest import USER, Desk

Write = Callable[..., Path]

NOTE = """---
title: Read after the lock
tags: [sqlite, locking]
kind: pitfall
confidence: 0.8
---

# Read after the lock

Begin *immediate*; a deferred one may fail when it wants to write.
"""
VAULT_NOTE = """---
tags:
  - 数据库
aliases: [WAL]
---
See [[Locks#Shared|shared locks]], [[folder/Journal]] and ![[plan.png]]. #todo/read

```sh
echo "[[ -f x ]]" #no-tag
```
"""
MEMORY_NOTE = """---
title: Write-ahead log
type: note
permalink: notes/wal
tags: [sqlite]
---

# Write-ahead log

## Observations
- [fact] Readers do not wait for the writer #concurrency
- [limit] A checkpoint waits for the oldest reader (seen in March)

## Relations
- part_of [[Journal modes]]
"""
CLAUDE_MD = """# Shop

What holds in this repository.

## Style

Four spaces. No tabs.

```md
## Not a heading
```

## Tests

Every mended bug has one.

### Names

Say what holds.
"""
CURSOR_RULE = """---
description: How handlers report errors
globs: src/api/**/*.ts, src/jobs/**/*.ts
alwaysApply: false
---

Return a problem, never throw.
"""
GRAPH = """{"type":"entity","name":"Ledger","entityType":"service","observations":["Written in Go","Owns the balances"]}
{"type":"entity","name":"Empty","entityType":"service","observations":[]}
{"type":"relation","from":"Ledger","to":"Postgres","relationType":"stores its data in"}
"""


def chatgpt(**changes: object) -> dict[str, object]:
    def node(id: str, parent: str | None, role: str, text: str, at: float, **more: object) -> dict[str, object]:
        message = {
            "id": id,
            "author": {"role": role},
            "create_time": at,
            "content": {"content_type": "text", "parts": [text]},
            "metadata": {},
            "recipient": "all",
            **more,
        }
        return {"id": id, "parent": parent, "message": message}

    nodes: list[dict[str, Any]] = [
        {"id": "root", "parent": None, "message": None},
        node("s", "root", "system", "", 1.0),
        node("u", "s", "user", "Why is the page torn?", 1_700_000_000.5),
        node("old", "u", "assistant", "An answer that was regenerated.", 1_700_000_001.0),
        node("t", "u", "assistant", "search()", 1_700_000_002.0, recipient="browser"),
        node("tool", "t", "tool", "results", 1_700_000_003.0),
        node("a", "tool", "assistant", "The writer\ue200cite\ue202turn0\ue201 was killed.", 1_700_000_004.0),
    ]
    return {
        "conversation_id": "c-1",
        "title": "Torn page",
        "create_time": 1_700_000_000.0,
        "update_time": 1_700_000_005.0,
        "current_node": "a",
        "mapping": {node["id"]: node for node in nodes},
        **changes,
    }


def claude(**changes: object) -> dict[str, object]:
    return {
        "uuid": "c-2",
        "name": "",
        "created_at": "2026-03-01T10:00:00.000000Z",
        "updated_at": "2026-03-01T10:05:00.000000Z",
        "chat_messages": [
            {
                "uuid": "m1",
                "sender": "human",
                "text": "怎么看日志？",
                "content": [],
                "created_at": "2026-03-01T10:00:00Z",
            },
            {
                "uuid": "m2",
                "sender": "assistant",
                "text": "",
                "content": [
                    {"type": "thinking", "thinking": "hm"},
                    {"type": "text", "text": "用 journalctl。"},
                    {"type": "tool_use", "name": "x", "input": {}},
                ],
                "created_at": "2026-03-01T10:01:00Z",
            },
        ],
        **changes,
    }


def only(entries: list[Entry]) -> Entry:
    assert len(entries) == 1
    return entries[0]


def refused(seen: Preview) -> list[tuple[str, int]]:
    return [(bad.file, bad.line) for bad in seen.bad]


# Notes --------------------------------------------------------------------------------------------------------------


async def test_a_note_becomes_a_candidate_with_its_fields(desk: Desk, source: Write) -> None:
    entry = only(await desk.taken(source({"db/lock.md": NOTE, "db/picture.png": b"\x89PNG"})))
    assert (entry.title, entry.kind, entry.tags) == ("Read after the lock", Kind.PITFALL, ("sqlite", "locking"))
    assert entry.content.strip() == "Begin *immediate*; a deferred one may fail when it wants to write."
    assert (entry.status, entry.confidence) == (Status.CANDIDATE, 0.8)
    assert entry.source_ref == "import:markdown/db/lock.md"
    assert [event.actor for event in await desk.library.events(entry.id)] == ["user"]


async def test_a_note_of_a_vault_keeps_its_words_and_tags(desk: Desk, source: Write) -> None:
    files: dict[str, str | bytes] = {"WAL.md": VAULT_NOTE, ".obsidian/app.json": "{}", ".trash/gone.md": "gone"}
    entry = only(await desk.taken(source(files)))
    assert entry.title == "WAL"
    assert entry.content.startswith("See shared locks, Journal and .")
    assert 'echo "[[ -f x ]]" #no-tag' in entry.content
    assert entry.tags == ("数据库", "todo/read")
    assert entry.source_ref == "import:obsidian/WAL.md"


async def test_a_note_of_basic_memory_keeps_observations_and_relations(desk: Desk, source: Write) -> None:
    entry = only(await desk.taken(source({"wal.md": MEMORY_NOTE})))
    assert entry.source_ref == "import:basic-memory/wal.md"
    assert entry.tags == ("sqlite", "concurrency")
    assert "- [limit] A checkpoint waits for the oldest reader (seen in March)" in entry.content
    assert "- part_of Journal modes" in entry.content


async def test_a_note_longer_than_an_entry_becomes_one_a_section(desk: Desk, source: Write) -> None:
    body = "".join(f"## Part {n}\n\n{'Say it again. ' * 900}\n\n" for n in (1, 2))
    taken = await desk.taken(source({"long.md": body}))
    assert sorted(entry.title for entry in taken) == ["long: Part 1", "long: Part 2"]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "gb18030"])
async def test_notes_in_the_encodings_that_notes_have(desk: Desk, source: Write, encoding: str) -> None:
    entry = only(await desk.taken(source({"锁.md": "先拿锁，再读。\r\n".encode(encoding)})))
    assert (entry.title, entry.content) == ("锁", "先拿锁，再读。")


async def test_a_bad_note_is_named_with_its_line_and_the_rest_goes_on(desk: Desk, source: Write) -> None:
    folder = source(
        {
            "bad.md": "---\ntitle: x\nlist: [a, b\n---\nNever seen.\n",
            "binary.md": b"\x00\x01\x02",
            "good.md": "Good.",
            "bomb.md": "---\na: &a [x]\nb: &b [*a, *a]\nc: [*b, *b]\n---\nNever seen.\n",
            "long.md": "word " * 5_000,
        }
    )
    seen = await desk.look(folder)
    assert refused(seen) == [("bad.md", 4), ("binary.md", 0), ("bomb.md", 3), ("long.md", 1)]
    assert [row.piece.file for row in seen.rows] == ["good.md"]


# Rules --------------------------------------------------------------------------------------------------------------


async def test_each_section_of_rules_is_a_candidate(desk: Desk, source: Write) -> None:
    folder = source({"CLAUDE.md": CLAUDE_MD})
    seen = await desk.look(folder)
    assert [(row.piece.draft.title, row.piece.line) for row in seen.rows] == [("Shop", 1), ("Style", 5), ("Tests", 13)]
    taken = await desk.taken(folder)
    assert {entry.kind for entry in taken} == {Kind.REVIEW_RULE}
    assert "## Not a heading" in next(entry for entry in taken if entry.title == "Style").content
    assert "### Names" in next(entry for entry in taken if entry.title == "Tests").content


@pytest.mark.parametrize("name", ["AGENTS.md", ".windsurfrules", ".cursorrules"])
async def test_each_point_of_a_bare_list_is_a_rule(desk: Desk, source: Write, name: str) -> None:
    taken = await desk.taken(source({name: "- Use tabs.\n  Everywhere.\n- Name the **reason**.\n"}))
    assert sorted(entry.title for entry in taken) == ["Name the reason", "Use tabs"]


async def test_a_rule_of_cursor_is_one_candidate(desk: Desk, source: Write) -> None:
    files: dict[str, str | bytes] = {".cursor/rules/api.mdc": CURSOR_RULE, ".cursor/other.json": "{}"}
    entry = only(await desk.taken(source(files)))
    assert entry.title == "How handlers report errors"
    assert entry.content == "Files: `src/api/**/*.ts`, `src/jobs/**/*.ts`\n\nReturn a problem, never throw."


async def test_a_rule_holds_for_the_project_that_its_file_stands_in(desk: Desk, source: Write) -> None:
    folder = source({"AGENTS.md": "Only here."})
    await desk.library.projects.ensure(folder)
    entry = only(await desk.taken(folder))
    assert entry.project is not None
    assert entry.project.name == folder.name


async def test_a_bad_rule_is_named_with_its_line(desk: Desk, source: Write) -> None:
    folder = source({".cursor/rules/a.mdc": "---\ndescription: [\n---\nx\n", "AGENTS.md": "## A\n\n" + "x" * 20_001})
    assert refused(await desk.look(folder)) == [(".cursor/rules/a.mdc", 3), ("AGENTS.md", 1)]


async def test_globs_that_yaml_would_not_read_are_read(desk: Desk, source: Write) -> None:
    """Cursor writes them bare, and `*` begins an alias in YAML."""
    entry = only(await desk.taken(source({".cursor/rules/a.mdc": "---\ndescription:\nglobs: *.ts,*.js\n---\nx\n"})))
    assert entry.content == "Files: `*.ts`, `*.js`\n\nx"


# The memory server --------------------------------------------------------------------------------------------------


async def test_each_entity_is_a_candidate(desk: Desk, source: Write) -> None:
    entry = only(await desk.taken(source({"memory.jsonl": GRAPH})))
    assert (entry.title, entry.tags) == ("Ledger", ("service",))
    assert entry.content == "- Written in Go\n- Owns the balances\n- stores its data in → Postgres"
    assert entry.source_ref == "import:mcp-memory/memory.jsonl"


@pytest.mark.parametrize("line", ["{", "[]", '{"type":"entity","name":"x"}', '{"type":"other"}', '{"type":"relation"}'])
async def test_a_bad_line_of_the_memory_is_named_and_nothing_of_it_comes_in(
    desk: Desk, source: Write, line: str
) -> None:
    folder = source({"memory.jsonl": f"{GRAPH}{line}\n", "good.md": "Good."})
    seen = await desk.look(folder)
    assert refused(seen) == [("memory.jsonl", 4)]
    assert [row.piece.file for row in seen.rows] == ["good.md"]


# Conversations ------------------------------------------------------------------------------------------------------


async def said(desk: Desk, id: str) -> list[tuple[Role, str]]:
    from devflow.store import conversations

    path = await desk.library.db.read(lambda session: conversations.path(session, id))
    return [(message.role, message.content) for message in path.messages]


@pytest.mark.parametrize("zipped", [True, False])
async def test_conversations_of_chatgpt_are_shown_as_they_were_seen(desk: Desk, tmp_path: Path, zipped: bool) -> None:
    export = tmp_path / ("export.zip" if zipped else "conversations.json")
    if zipped:
        with zipfile.ZipFile(export, "w") as archive:
            archive.writestr("conversations.json", json.dumps([chatgpt()]))
            archive.writestr("chat.html", "<html></html>")
            archive.writestr("user.json", "{}")
    else:
        export.write_text(json.dumps([chatgpt()]))
    done = await desk.take(export)
    assert (done.entries, len(done.conversations)) == ((), 1)
    assert await said(desk, done.conversations[0]) == [
        (Role.USER, "Why is the page torn?"),
        (Role.ASSISTANT, "The writer was killed."),
    ]


async def test_conversations_of_claude_are_shown_as_they_were_seen(desk: Desk, source: Write) -> None:
    done = await desk.take(source({"conversations.json": json.dumps([claude()])}))
    assert await said(desk, done.conversations[0]) == [(Role.USER, "怎么看日志？"), (Role.ASSISTANT, "用 journalctl。")]


async def test_an_imported_conversation_waits_to_be_distilled(desk: Desk, source: Write) -> None:
    """It is offered in the inbox, as others that nobody has read; no job is made for it."""
    from devflow.store import extraction_jobs

    done = await desk.take(source({"conversations.json": json.dumps([claude()])}))
    assert await desk.library.db.read(extraction_jobs.every) == ()
    assert await desk.library.db.read(lambda session: extraction_jobs.unread(session, 2, 5)) == done.conversations


async def test_a_bad_conversation_is_named_and_the_others_come_in(desk: Desk, source: Write) -> None:
    export = json.dumps([chatgpt(), chatgpt(conversation_id="c-9", title="Broken", mapping=[]), 7])
    seen = await desk.look(source({"conversations.json": export}))
    assert refused(seen) == [("conversations.json › Broken", 0), ("conversations.json › 3", 0)]
    assert [row.chat.conversation.title for row in seen.chats] == ["Torn page"]


async def test_an_export_that_is_cut_is_named_with_its_line(desk: Desk, source: Write) -> None:
    whole = json.dumps([claude()], indent=1)
    seen = await desk.look(source({"conversations.json": whole[:-40]}))
    assert [file for file, _ in refused(seen)] == ["conversations.json"]
    assert refused(seen)[0][1] > 1
    assert seen.is_empty


async def test_the_same_export_twice_adds_nothing_and_a_later_one_what_was_said_since(
    desk: Desk, source: Write
) -> None:
    first = source({"conversations.json": json.dumps([claude()])})
    id = (await desk.take(first)).conversations[0]
    assert (await desk.look(first)).is_empty
    grown = claude()
    more = {"uuid": "m3", "sender": "human", "text": "And older?", "created_at": "2026-03-02T10:00:00Z"}
    grown["chat_messages"] = [*grown["chat_messages"], more]  # type: ignore[misc]
    later = source({"conversations.json": json.dumps([grown])}, "later")
    assert [row.added for row in (await desk.look(later)).chats] == [1]
    await desk.take(later)
    assert [text for _, text in await said(desk, id)] == ["怎么看日志？", "用 journalctl。", "And older?"]


async def test_a_deleted_conversation_stays_deleted(desk: Desk, source: Write) -> None:
    export = source({"conversations.json": json.dumps([claude()])})
    done = await desk.take(export)
    await desk.transfer.undo(done, actor=USER)
    assert (await desk.look(export)).is_empty
