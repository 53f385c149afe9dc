"""What the window needs of a digest: what is being done, one file tried again, files looked at before they are sent."""

from __future__ import annotations

import asyncio
import functools
import os
from pathlib import Path

import pytest
from sqlalchemy.orm import Session

from devflow.digest.choosing import LeftOut, found_files, look_at, sha256_of
from devflow.domain.digest import BatchState, Doing, FileState
from devflow.domain.errors import DatabaseProblem, Refused
from devflow.domain.events import DigestStep, Event
from tests.fakes.digest_server import DigestServer, page_for
from tests.fakes.openai_server import Gate, Request, Turn
from tests.integration.digest.conftest import Desks, states

ARTICLE = "# 怎样写标题\n\n好标题说清一件事。\n\n数字比形容词有力。"


async def test_each_step_of_a_file_is_told_with_the_section_that_is_being_written(desk: Desks) -> None:
    with DigestServer() as server:
        async with desk(server) as at:
            steps: list[tuple[str, str]] = []

            def hear(event: Event) -> None:
                if isinstance(event, DigestStep):
                    steps.append((event.doing, event.detail))

            at.core.hub.subscribe(hear)
            await at.digest(at.raw("a.md", ARTICLE))
            assert steps == [
                (Doing.READING, ""),
                (Doing.ASKING, ""),
                (Doing.WRITING, ""),
                *[(Doing.WRITING, section) for section in ("core summary", "key details", "relation to the purpose")],
                (Doing.WRITING, "open questions"),
                (Doing.KEEPING, ""),
            ]


async def test_a_failed_file_is_tried_again_while_the_others_run(desk: Desks) -> None:
    gate = Gate()

    def trouble(request: Request, name: str, before: int) -> Turn | None:
        if name == "0.md" and before == 0:
            return Turn(" ")
        return Turn([gate, "x"]) if name == "1.md" and before == 0 else None

    with DigestServer(trouble) as server:
        async with desk(server) as at:
            files = [at.raw(f"{number}.md", f"# 文 {number}\n\n正文") for number in range(3)]
            batch = await at.digests.start(at.base.id, files, concurrency=1)
            await asyncio.to_thread(gate.wait_reached)
            failed = (await at.digests.status(batch.id)).files[0]
            assert failed.state is FileState.FAILED
            batch = await at.digests.retry(batch.id, [failed.id])
            assert states(batch)[0] is FileState.WAITING
            assert batch.files[0].trouble is None
            gate.open()
            batch = await at.digests.wait(batch.id)
            assert (batch.state, states(batch)) == (BatchState.DONE, [FileState.DONE] * 3)
            assert server.answered.index("0.md") == len(server.answered) - 1


async def test_one_failed_file_of_a_cancelled_digest_is_tried_alone(desk: Desks) -> None:
    gate = Gate()

    def trouble(request: Request, name: str, before: int) -> Turn | None:
        if name == "0.md" and before == 0:
            return Turn(" ")
        return Turn([gate, "x"]) if name == "1.md" else None

    with DigestServer(trouble) as server:
        async with desk(server) as at:
            files = [at.raw(f"{number}.md", f"# 文 {number}\n\n正文") for number in range(3)]
            batch = await at.digests.start(at.base.id, files, concurrency=1)
            await asyncio.to_thread(gate.wait_reached)
            batch = await at.digests.cancel(batch.id)
            await at.digests.retry(batch.id, [batch.files[0].id])
            batch = await at.digests.wait(batch.id)
            assert states(batch) == [FileState.DONE, FileState.CANCELLED, FileState.CANCELLED]
            gate.open()


async def test_what_was_cut_off_is_found_among_all_bases(desk: Desks) -> None:
    gate = Gate()
    with DigestServer(lambda request, name, before: Turn([gate, "x"]) if before == 0 else None) as server:
        async with desk(server) as at:
            batch = await at.digests.start(at.base.id, [at.raw("a.md", ARTICLE)])
            await asyncio.to_thread(gate.wait_reached)
            assert at.digests.is_here(batch.id)
        async with desk(server) as at:
            (found,) = await at.digests.running()
            assert found.id == batch.id
            assert at.digests.is_cut_off(found)
            assert not at.digests.is_here(batch.id)
            await at.digests.cancel(batch.id)
            assert await at.digests.running() == ()
            gate.open()


def test_a_folder_is_looked_at_without_what_nobody_meant(tmp_path: Path) -> None:
    folder = tmp_path / "资料"
    for name in ("a.md", "b.PDF", "sub/c.txt", ".hidden.md", ".git/d.md", "wiki/e.md", "x.png", "y.png", "Makefile"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("text")
    (folder / "empty.md").touch()
    (folder / "link.md").symlink_to(folder / "a.md")
    chosen = look_at([folder])
    assert [(file.path.name, file.inside, file.left_out) for file in chosen.files] == [
        ("a.md", "", None),
        ("b.PDF", "", None),
        ("empty.md", "", LeftOut.EMPTY),
        ("c.txt", "sub", None),
    ]
    assert chosen.others == ((".png", 2), ("Makefile", 1))
    assert chosen.files[0].size == 4
    assert look_at([folder / "a.md"], [folder / "a.md"]).files == ()
    assert [file.name for file in found_files([folder])] == ["a.md", "b.PDF", "empty.md", "c.txt"]


def test_what_a_knowledge_base_wrote_itself_is_no_source(tmp_path: Path) -> None:
    for name in (".wiki-schema.md", "purpose.md", "index.md", "log.md", "notes.md", "raw/index.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("text")
    assert [file.path.name for file in look_at([tmp_path]).files] == ["notes.md", "index.md"]


def test_a_file_that_was_named_says_why_it_cannot_be_digested(tmp_path: Path) -> None:
    (tmp_path / "a.xlsx").write_text("x")
    os.mkfifo(tmp_path / "pipe.md")
    large = tmp_path / "large.txt"
    with large.open("wb") as file:
        file.truncate(50_000_001)
    given = [tmp_path / name for name in ("a.xlsx", "pipe.md", "large.txt", "gone.md")]
    assert [file.left_out for file in look_at(given).files] == [
        LeftOut.KIND,
        LeftOut.IRREGULAR,
        LeftOut.LARGE,
        LeftOut.GONE,
    ]
    assert sha256_of(tmp_path / "gone.md") == ""


@pytest.mark.expects_log
async def test_a_digest_that_the_database_cut_off_can_be_resumed_here(desk: Desks) -> None:
    gate = Gate()
    with DigestServer(lambda request, name, before: Turn([gate, page_for(f"{name}\n正文")])) as server:
        async with desk(server) as at:
            batch = await at.digests.start(at.base.id, [at.raw("a.md", ARTICLE), at.raw("b.md", "# 乙\n\n乙")])
            await asyncio.to_thread(gate.wait_reached)
            await at.core.db.read(functools.partial(_query_only, on=True))
            gate.open()
            with pytest.raises(DatabaseProblem):
                await at.digests.wait(batch.id)
            cut_off = await at.digests.status(batch.id)
            assert at.digests.is_cut_off(cut_off)
            assert not at.digests.is_here(batch.id)
            await at.core.db.read(functools.partial(_query_only, on=False))
            await at.digests.resume(batch.id)
            with pytest.raises(Refused):
                await at.digests.resume(batch.id)
            batch = await at.digests.wait(batch.id)
            assert states(batch) == [FileState.DONE] * 2


def _query_only(session: Session, *, on: bool) -> None:
    """Let the database refuse every write, as a full disk does."""
    session.connection().exec_driver_sql(f"PRAGMA query_only = {int(on)}")
