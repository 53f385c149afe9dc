"""A full disk: what was acknowledged stays, what is refused is a sentence, and all goes on once there is room."""

import asyncio
import contextlib
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from devflow.agent.turns import Decision
from devflow.app.core import Core, close_core, open_core
from devflow.app.paths import app_paths
from devflow.domain.errors import DatabaseProblem
from devflow.domain.events import TextArrived
from devflow.domain.health import Health
from devflow.domain.knowledge import draft
from devflow.domain.provider import ProviderDraft
from devflow.domain.run import RunState
from devflow.knowledge.service import Actor
from devflow.store import health
from devflow.store.database import Database
from tests.fakes.openai_server import Call, Gate, OpenAIServer, Turn
from tests.integration.agent.conftest import Bench, Processes
from tests.support.commands import ROOT, environment

USER = Actor.user()


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer() as running:
        yield running


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
async def bench(home: Path, server: OpenAIServer, workspace: Path) -> AsyncIterator[Bench]:
    async with contextlib.AsyncExitStack() as stack:
        made = await Processes(home, server, workspace, stack).start()
        await made.core.models.add(ProviderDraft("Scripted", server.base_url, models=("scripted",)))
        yield made


def limit_pages(db: Database, more: int | None) -> None:
    """Let the file grow by so many pages and no further; None: as far as it likes."""

    def work(session) -> None:  # type: ignore[no-untyped-def]
        connection = session.connection()
        now = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
        connection.exec_driver_sql(f"PRAGMA max_page_count = {4_000_000_000 if more is None else now + more}")

    db.run_read(work)


async def fill(core: Core) -> list[str]:
    """Add entries until the disk refuses; the ids that were acknowledged."""
    added: list[str] = []
    hints: list[str] = []
    for number in range(10_000):
        text = f"Entry {number} " * 300
        try:
            done = await core.knowledge.knowledge_create(
                draft(kind="pitfall", title=f"Entry {number}", content=text), actor=USER
            )
        except DatabaseProblem as problem:
            hints.append(problem.hint)
            break
        added.append(done.entries[0].id)
    assert "Free some space" in hints[0]
    return added


async def test_on_a_full_disk_entries_are_refused_with_a_sentence_and_none_is_lost_or_half_written(
    bench: Bench, home: Path
) -> None:
    core = bench.core
    limit_pages(core.db, 200)
    added = await fill(core)
    assert len(added) > 3
    with pytest.raises(DatabaseProblem):
        await fill_once(core)
    assert (await core.knowledge.knowledge_stats()).total == len(added)
    assert len((await core.knowledge.knowledge_list_candidates(query="Entry")).entries) == len(added)
    limit_pages(core.db, None)
    await fill_once(core)
    assert (await core.knowledge.knowledge_stats()).total == len(added) + 1
    assert {finding.health for finding in health.examine(app_paths(home))} == {Health.OK}


async def fill_once(core: Core) -> None:
    await core.knowledge.knowledge_create(
        draft(kind="pitfall", title="One more", content="One more. " * 1_900), actor=USER
    )


@pytest.mark.expects_log
async def test_a_run_whose_end_the_disk_refuses_to_record_ends_when_it_does_not_any_more(
    bench: Bench, server: OpenAIServer
) -> None:
    gate = Gate()
    server.script(Turn(["Begun. ", gate, "and told to the end."]), "At last.")
    conversation = await bench.conversation()
    run = await bench.core.turns.send(conversation.id, "Tell me all.")
    await bench.event(TextArrived)
    read_only(bench.core.db, True)
    gate.open()
    asyncio.get_running_loop().call_later(1.5, read_only, bench.core.db, False)
    ended = await bench.core.turns.wait(run.id)
    assert ended.state is RunState.FAILED
    assert ended.problem is not None
    assert ended.problem.code == "database"
    await bench.core.turns.retry(run.id)
    assert (await bench.core.turns.wait(run.id)).state is RunState.COMPLETED
    assert (await bench.answer(conversation)).content == "At last."


@pytest.mark.expects_log
async def test_a_stop_that_cannot_be_recorded_says_so_and_works_once_it_can(bench: Bench, server: OpenAIServer) -> None:
    gate = Gate()
    server.script(Turn(["Begun. ", gate, "never."]))
    run = await bench.core.turns.send((await bench.conversation()).id, "Tell me all.")
    await bench.event(TextArrived)
    read_only(bench.core.db, True)
    with pytest.raises(DatabaseProblem):
        await bench.core.turns.cancel(run.id)
    assert server.requests[0].aborted.wait(5)
    read_only(bench.core.db, False)
    assert (await bench.core.turns.cancel(run.id)).state is RunState.CANCELLED
    gate.open()


def read_only(db: Database, on: bool) -> None:
    """As a disk is that the system has made read-only after an error: nothing at all can be written."""
    db.run_read(lambda session: session.connection().exec_driver_sql(f"PRAGMA query_only = {int(on)}"))


async def fill_to_the_brim(core: Core) -> None:
    """Use up what is free inside the file too."""
    with contextlib.suppress(DatabaseProblem):
        for size in (15_000, 4_000, 1_000, 200):
            with contextlib.suppress(DatabaseProblem):
                for number in range(10_000):
                    await core.settings.save(f"filler {size} {number}", {"text": "x" * size})


async def test_a_decision_that_cannot_be_recorded_is_refused_and_the_call_waits(
    bench: Bench, server: OpenAIServer
) -> None:
    server.script(Turn(calls=[Call("write_file", {"path": "a.txt", "content": "new\n"})]), "Done.")
    conversation = await bench.conversation(project=True)
    run = await bench.ask(conversation, "Write.")
    (call,) = await bench.calls(conversation)
    limit_pages(bench.core.db, 0)
    await fill_to_the_brim(bench.core)
    with pytest.raises(DatabaseProblem):
        await bench.core.turns.decide(call.id, Decision(False, reason="because " * 20_000))
    assert await bench.calls(conversation) == [call]
    limit_pages(bench.core.db, None)
    await bench.core.turns.decide(call.id, Decision(True, shown=call.shown_hash))
    assert (await bench.core.turns.wait(run.id)).state is RunState.COMPLETED


@pytest.mark.expects_log
async def test_closing_on_a_full_disk_lets_go_of_the_database_and_the_next_start_mends_the_run(
    home: Path, server: OpenAIServer, workspace: Path
) -> None:
    gate = Gate()
    server.script(Turn(["Begun. ", gate, "x" * 400_000]))
    core = await open_core(app_paths(home), background=True)
    bench = Bench(core, server, workspace)
    await core.models.add(ProviderDraft("Scripted", server.base_url, models=("scripted",)))
    conversation = await bench.conversation()
    run = await core.turns.send(conversation.id, "Tell me all.")
    await bench.event(TextArrived)
    limit_pages(core.db, 0)
    await fill_to_the_brim(core)
    gate.open()
    with contextlib.suppress(DatabaseProblem):
        await close_core(core)
    assert list(app_paths(home).locks.glob("*.lock")) == []
    again = await open_core(app_paths(home), background=True)
    try:
        assert (await again.conversations.run(run.id)).state in (RunState.INTERRUPTED, RunState.FAILED)
        assert {finding.health for finding in health.examine(app_paths(home))} == {Health.OK}
    finally:
        await close_core(again)


def test_a_limit_on_the_size_of_files_loses_nothing_that_was_acknowledged(home: Path) -> None:
    """A real process under `ulimit -f`, as a quota would do it."""
    devflow = f"{sys.executable} -m devflow --home {home}"
    script = f"""
        {devflow} knowledge add --kind pitfall --title first --content C
        ulimit -f 700
        for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
            head -c 14000 /dev/urandom | base64 -w 0 | {devflow} knowledge add --kind pitfall --title "T $i" - || exit 9
        done
    """
    said = subprocess.run(["bash", "-c", script], cwd=ROOT, env=environment(), capture_output=True, text=True)
    added = said.stdout.split()
    assert "Traceback" not in said.stderr
    listed = subprocess.run(
        [*devflow.split(), "knowledge", "inbox"],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert {line.split()[0] for line in listed.stdout.splitlines()} == set(added)
    assert said.returncode == 9, "the limit was never met"
    assert "devflow: The database cannot be used" in said.stderr
    assert {finding.health for finding in health.examine(app_paths(home))} == {Health.OK}
