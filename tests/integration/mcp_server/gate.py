"""The gate between other tools and the library, tried by seeded random sequences of calls with the human at work.

`python -m tests.integration.mcp_server.gate --sequences 10000 [--seed N]` is the long form. After each step:

* a refusal changes nothing;
* nothing is published but by the human;
* whatever a call changed has a new event with the client's name, and nothing else has changed;
* below *manage* a call changes its own unpublished entries and counts uses of published ones, no more;
* with it, entries of others are archived at most;
* below *manage* no answer holds a word of what is unpublished and not the client's own, nor its id.

Words are tokens of their own, so that an answer can be searched for them: one is public once it stood in a published
entry, and belongs to a client if it stood in an entry of that client's.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import random
import sys
import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mcp.shared.exceptions import MCPError

from devflow.app.paths import app_paths
from devflow.domain.errors import UserFacing
from devflow.domain.knowledge import EntryEdit, Kind, Status, draft
from devflow.domain.rights import Right
from devflow.mcp_server.room import Opening
from devflow.mcp_server.tools import TOOLS
from devflow.store.database import Session
from devflow.store.schema import EntryEventRow, EntryRow
from tests.support.library import USER, Library, open_library
from tests.support.mcp_client import Tool, inside

STEPS = 6
SEQUENCES_A_HOME = 25
CLIENTS = ((Right.READ, "reader"), (Right.PROPOSE, "ann"), (Right.PROPOSE, "ben"), (Right.MANAGE, "max"))


ACTS = "add|add|add a revised one|approve|edit|archive|restore|erase|submit|submit".split("|")


@dataclass(frozen=True)
class State:
    """The library as it stands: each entry's row, and each entry's events by number."""

    rows: dict[str, tuple[Any, ...]]
    events: dict[str, list[str]]

    def status(self, id: str) -> str | None:
        return self.rows[id][0] if id in self.rows else None


@dataclass
class World:
    library: Library
    tools: dict[str, Tool]
    dice: random.Random
    entries: dict[str, str] = field(default_factory=dict)
    """Every id there ever was, and its source."""
    words: dict[str, set[str]] = field(default_factory=dict)
    """Every word, and the entries it was written into."""
    public: set[str] = field(default_factory=set)
    steps: int = 0
    answered: int = 0
    refused: int = 0

    def wrote(self, id: str, *words: str) -> None:
        for word in words:
            self.words.setdefault(word, set()).add(id)

    def word(self) -> str:
        return f"w{self.dice.getrandbits(48):012x}"

    def id(self) -> str:
        """Most often one of the newest, sometimes none at all."""
        known = [*self.entries]
        return self.dice.choice([*known[-6:], *known[-6:], *known, "00000000-0000-4000-8000-000000000000"])


async def run(sequences: int, seed: int, home: Path) -> tuple[int, int, int]:
    """Steps, answers and refusals; AssertionError names the step that broke a rule."""
    total = [0, 0, 0]
    for batch in range(0, sequences, SEQUENCES_A_HOME):
        async with _world(home / str(batch), seed * 1_000_003 + batch) as world:
            for number in range(batch, min(batch + SEQUENCES_A_HOME, sequences)):
                for step in range(STEPS):
                    try:
                        await _step(world)
                    except AssertionError as broken:
                        raise AssertionError(f"seed {seed}, sequence {number}, step {step}: {broken}") from broken
            total = [one + more for one, more in zip(total, (world.steps, world.answered, world.refused), strict=True)]
    return total[0], total[1], total[2]


@contextlib.asynccontextmanager
async def _world(home: Path, seed: int) -> AsyncIterator[World]:
    opening = Opening(app_paths(home))
    try:
        async with open_library(home) as library, contextlib.AsyncExitStack() as clients:
            tools = {name: await clients.enter_async_context(inside(opening, right, name)) for right, name in CLIENTS}
            yield World(library, tools, random.Random(seed))
    finally:
        await opening.close()


async def _step(world: World) -> None:
    world.steps += 1
    if world.dice.random() < 0.3:
        await _human(world)
    else:
        await _call(world)


# the human ----------------------------------------------------------------------------------------------------------


async def _human(world: World) -> None:
    """One act in the window, which may well be refused (the entry is not in that state)."""
    dice, knowledge, id = world.dice, world.library.knowledge, world.id()
    with contextlib.suppress(UserFacing):
        match dice.choice(ACTS):
            case "add":
                await _adds(world)
            case "add a revised one":  # with a history that is nobody's business
                id, content = await _adds(world), world.word()
                world.wrote(id, content)
                await knowledge.knowledge_update(id, EntryEdit(1, content=content), actor=USER, approve=True)
            case "approve":
                await knowledge.knowledge_approve(id, actor=USER)
            case "edit":
                entry, content = await knowledge.knowledge_get(id), world.word()
                await knowledge.knowledge_update(id, EntryEdit(entry.version, content=content), actor=USER)
                world.wrote(id, content)
            case "archive":
                await knowledge.knowledge_archive(id, actor=USER, reason="The human's")
            case "restore":
                await knowledge.knowledge_restore(id, actor=USER)
            case "erase":
                await knowledge.knowledge_erase(id, actor=USER)
            case _:
                await knowledge.knowledge_update_status(id, "pending_review", actor=USER)
    await _note_public(world)


async def _adds(world: World) -> str:
    title, content = world.word(), world.word()
    made = await world.library.knowledge.knowledge_create(
        draft(kind="pitfall", title=title, content=content), actor=USER
    )
    id = made.entries[0].id
    world.entries[id] = "manual"
    world.wrote(id, title, content)
    return id


async def _note_public(world: World) -> None:
    page = await world.library.knowledge.knowledge_list(limit=10_000)
    for entry in page.entries:
        world.public |= {word for word in world.words if word in entry.title or word in entry.content}


# a tool -------------------------------------------------------------------------------------------------------------


async def _call(world: World) -> None:
    dice = world.dice
    right, name = dice.choice(CLIENTS)
    if dice.random() < 0.15:
        await _look(world, right, name)
        return
    tool, arguments = dice.choice(TOOLS).name, {}
    arguments = await _arguments(world, tool)
    before = await _state(world)
    result = await world.tools[name].client.call_tool(tool, arguments)
    after = await _state(world)
    answer = result.model_dump_json()
    what = f"{name} ({right}): {tool} {json.dumps(arguments)} -> {answer[:2_000]}"
    if result.is_error:
        world.refused += 1
        assert after == before, f"a refusal changed something: {what}"
    else:
        world.answered += 1
    _note_own(world, name, tool, arguments, result.structured_content, is_error=bool(result.is_error))
    _nothing_was_published(before, after, what)
    _each_change_has_its_event(before, after, f"mcp:{name}", what)
    _only_what_is_allowed(world, right, name, before, after, what)
    if right is not Right.MANAGE:
        _nothing_hidden_is_told(world, name, after, arguments, answer, what)


async def _look(world: World, right: Right, name: str) -> None:
    """A resource by its address, or a list of resources or prompts."""
    client, id = world.tools[name].client, world.id()
    before = await _state(world)
    answer = ""
    with contextlib.suppress(MCPError):
        match world.dice.choice(("read", "read", "resources", "prompts")):
            case "read":
                answer = (await client.read_resource(f"devflow://knowledge/{id}")).model_dump_json()
            case "resources":
                answer = (await client.list_resources()).model_dump_json()
            case _:
                answer = (await client.list_prompts()).model_dump_json()
    what = f"{name} ({right}): looked for {id} -> {answer[:2_000]}"
    assert await _state(world) == before, f"a look changed something: {what}"
    if right is not Right.MANAGE:
        _nothing_hidden_is_told(world, name, before, {"id": id}, answer, what)


async def _arguments(world: World, tool: str) -> dict[str, Any]:
    """What the tool takes, mostly right, with ids and words of what there is, whoever may see it."""
    dice, id = world.dice, world.id()
    known = [*world.words] or ["zebra"]
    text = dice.choice([dice.choice(known), " ".join(dice.choices(known, k=3)), "w"])
    match tool:
        case "knowledge_search":
            return {"query": text, "limit": 50}
        case "knowledge_list":
            return {"status": dice.choice([*Status]), "sort": dice.choice(["updated", "confidence", "title"])}
        case "knowledge_similar":
            return dice.choice([{"id": id}, {"text": text}])
        case "knowledge_create":
            word = dice.choice([world.word(), world.word(), *dice.choices(known, k=1)])
            return {"kind": dice.choice([*Kind]), "title": word, "content": dice.choice([world.word(), word])}
        case "knowledge_update":
            version = await _version(world, id) if dice.random() < 0.8 else 7
            return {"id": id, "version": version, dice.choice(["title", "content"]): world.word()}
        case "knowledge_update_status":
            return {"id": id, "status": dice.choice(["published", "published", *Status])}
        case "knowledge_get" | "knowledge_timeline" | "knowledge_record_reuse" | "knowledge_archive":
            return {"id": id}
        case "knowledge_save_config":
            return {"config": dice.choice([{"min_messages": dice.randint(1, 9)}, {"min_messages": 0}])}
        case "query_knowledge_base":
            return {"query": text}
        case _:
            return {}


async def _version(world: World, id: str) -> int:
    with contextlib.suppress(UserFacing):
        return (await world.library.knowledge.knowledge_get(id)).version
    return 1


def _note_own(world: World, name: str, tool: str, arguments: dict[str, Any], given: Any, *, is_error: bool) -> None:
    if is_error:
        return
    if tool == "knowledge_create" and not given["repeated"]:
        world.entries[given["id"]] = f"mcp:{name}"
    if tool in ("knowledge_create", "knowledge_update") and "id" in given and not given.get("repeated"):
        world.wrote(given["id"], *(arguments[field] for field in ("title", "content") if field in arguments))


# the rules ----------------------------------------------------------------------------------------------------------


def _nothing_was_published(before: State, after: State, what: str) -> None:
    fresh = [id for id in after.rows if after.status(id) == "published" and before.status(id) != "published"]
    assert not fresh, f"published by a tool: {what}"


def _each_change_has_its_event(before: State, after: State, actor: str, what: str) -> None:
    assert before.rows.keys() <= after.rows.keys(), f"a tool removed a row: {what}"
    for id in after.rows:
        old, new = before.events.get(id, []), after.events.get(id, [])
        assert new[: len(old)] == old, f"history was rewritten: {what}"
        assert set(new[len(old) :]) <= {actor}, f"an event in another's name: {what}"
        if after.rows[id] != before.rows.get(id):
            assert len(new) == len(old) + 1, f"a change without its event: {what}"


def _only_what_is_allowed(world: World, right: Right, name: str, before: State, after: State, what: str) -> None:
    for id, (status, *texts, _, reuse_count) in after.rows.items():
        if (old := before.rows.get(id)) is None or old == after.rows[id]:
            continue
        *rest, reused = old
        if reused != reuse_count:
            assert (right is not Right.READ, status, rest) == (True, "published", [*after.rows[id][:-1]]), what
        elif world.entries[id] != f"mcp:{name}":
            archived = (status, texts) == ("archived", [*old[1:3]])
            assert right is Right.MANAGE, f"changed what is not its own: {what}"
            assert archived, f"did more than archive what is not its own: {what}"
        else:
            assert right is not Right.READ, what
            assert old[0] != "published" or right is Right.MANAGE, f"changed what was published: {what}"


def _nothing_hidden_is_told(
    world: World, name: str, after: State, arguments: dict[str, Any], answer: str, what: str
) -> None:
    asked = json.dumps(arguments)
    own = {id for id, source in world.entries.items() if source == f"mcp:{name}"}
    for word, ids in world.words.items():
        if word in answer:
            assert ids & own or word in world.public or word in asked, f"told the hidden word {word}: {what}"
    for id in world.entries:
        if id in answer:
            seen = id in own or after.status(id) == "published" or id in asked
            assert seen, f"told the hidden entry {id}: {what}"


async def _state(world: World) -> State:
    def work(session: Session) -> State:
        columns = (EntryRow.status, EntryRow.title, EntryRow.content, EntryRow.version, EntryRow.reuse_count)
        rows = {row[0]: tuple(row[1:]) for row in session.query(EntryRow.id, *columns)}
        events: dict[str, list[str]] = {}
        for entry_id, actor in session.query(EntryEventRow.entry_id, EntryEventRow.actor).order_by(EntryEventRow.id):
            events.setdefault(entry_id, []).append(actor)
        return State(rows, events)

    return await world.library.db.read(work)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sequences", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        steps, answered, refused = asyncio.run(run(args.sequences, args.seed, Path(folder)))
    print(
        f"seed {args.seed}: {args.sequences} sequences, {steps} steps, {answered} answers, {refused} refusals; all held"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
