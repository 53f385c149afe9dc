"""Digests into knowledge bases that are moved, full of links and pipes, or that nobody may write to."""

from __future__ import annotations

import asyncio
import errno
import os
from pathlib import Path

import pytest

from devflow.digest import output
from devflow.digest.output import NotWritten, purpose_of
from devflow.digest.plain_file import append_line, change_file, replace_file, write_new
from devflow.domain.digest import FileState
from devflow.wiki.page import read
from tests.fakes.digest_server import DigestServer, page_for
from tests.fakes.openai_server import Gate, Turn
from tests.integration.digest.conftest import Desks, states

ARTICLE = "# 怎样写标题\n\n好标题说清一件事。"


async def test_a_base_that_is_moved_while_a_model_writes_does_not_come_back_as_a_ghost(desk: Desks) -> None:
    gate = Gate()
    with DigestServer(lambda *_: Turn(page_for(ARTICLE), before=gate)) as server:
        async with desk(server) as at:
            batch = await at.digests.start(at.base.id, [at.raw("a.md", ARTICLE)])
            await asyncio.to_thread(gate.wait_reached)
            moved = at.root.rename(at.root.with_name("moved"))
            gate.open()
            batch = await at.digests.wait(batch.id)
            assert states(batch) == [FileState.FAILED]
            assert not at.root.exists()
            moved.rename(at.root)
            await at.digests.retry_failed(batch.id)
            assert states(await at.digests.wait(batch.id)) == [FileState.DONE]
            assert len(at.pages) == 1


def test_an_empty_folder_where_the_disk_was_takes_no_page(tmp_path: Path) -> None:
    with pytest.raises(NotWritten, match="is gone"):
        output.inside(tmp_path, "wiki/synthesis/sessions/a.md")
    assert list(tmp_path.iterdir()) == []


async def test_no_model_is_paid_for_a_page_that_cannot_be_written(desk: Desks, monkeypatch: pytest.MonkeyPatch) -> None:
    with DigestServer() as server:
        async with desk(server) as at:
            may = os.access
            monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK and may(path, mode))
            batch = await at.digest(at.raw("a.md", ARTICLE), at.raw("b.md", "# B\n\nb"))
            assert states(batch) == [FileState.FAILED] * 2
            assert server.digests == []


async def test_a_page_that_is_there_is_not_said_to_be_missing(desk: Desks) -> None:
    with DigestServer() as server:
        async with desk(server) as at:
            (at.root / "log.md").unlink()
            (at.root / "log.md").mkdir()
            batch = await at.digest(at.raw("a.md", ARTICLE))
            trouble = batch.files[0].trouble
            assert trouble is not None
            assert "is written, but it cannot be listed" in str(trouble.as_failure())


def test_neither_a_link_nor_a_pipe_is_read_as_what_the_base_is_for(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("not for any model", encoding="utf-8")
    (tmp_path / "purpose.md").symlink_to(secret)
    assert purpose_of(tmp_path) == ""
    (tmp_path / "purpose.md").unlink()
    os.mkfifo(tmp_path / "purpose.md")
    assert purpose_of(tmp_path) == ""


async def test_a_pipe_instead_of_the_index_holds_no_digest_up(desk: Desks) -> None:
    with DigestServer() as server:
        async with desk(server) as at:
            (at.root / "index.md").unlink()
            os.mkfifo(at.root / "index.md")
            os.mkfifo(at.root / "wiki/synthesis/sessions/pipe.md")
            assert states(await at.digest(at.raw("a.md", ARTICLE))) == [FileState.DONE]


def test_a_full_disk_leaves_no_half_file_that_fills_it_further(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    index = tmp_path / "index.md"
    index.write_text("# Index\n", encoding="utf-8")
    monkeypatch.setattr(os, "fsync", full)
    for write in (write_new, replace_file):
        with pytest.raises(OSError, match="space"):
            write(index if write is replace_file else tmp_path / "new.md", b"x")
    assert [file.name for file in tmp_path.iterdir()] == ["index.md"]
    assert index.read_text(encoding="utf-8") == "# Index\n"


async def test_what_a_model_writes_hides_nothing_from_the_search(desk: Desks) -> None:
    page = page_for("标题\n长颈鹿住在草原\n先写 <!-- 再写正文\u202e")
    with DigestServer(lambda *_: Turn(page)) as server:
        async with desk(server) as at:
            await at.digest(at.raw("a.md", ARTICLE), at.raw("b.md", "# B\n\nb"))
            for path, text in at.pages.items():
                assert "长颈鹿" in read(path, text).content
                assert "\u202e" not in text
            index = read("index.md", (at.root / "index.md").read_text(encoding="utf-8")).content
            assert [path for path in at.pages if path not in index] == []


async def test_a_files_name_of_two_lines_stays_one_line_of_the_log(desk: Desks) -> None:
    with DigestServer() as server:
        async with desk(server) as at:
            batch = await at.digest(at.raw("a\n- forged.md", ARTICLE))
            log = (at.root / "log.md").read_text(encoding="utf-8").splitlines()
            assert batch.files[0].page in log[-1]
            assert not [line for line in log if line.startswith("- forged")]


def test_a_line_for_the_index_is_added_to_what_is_there(tmp_path: Path) -> None:
    (tmp_path / "index.md").write_bytes(b"# Index\r\n\r\n- one")
    append_line(tmp_path, "index.md", "two", "- two")
    assert (tmp_path / "index.md").read_bytes() == b"# Index\r\n\r\n- one\r\n- two\r\n"


def test_a_line_that_somebody_adds_at_the_same_moment_is_kept(tmp_path: Path) -> None:
    index = tmp_path / "index.md"
    index.write_text("# Index\n", encoding="utf-8")
    times: list[bytes | None] = []

    def change(raw: bytes | None) -> bytes:
        times.append(raw)
        if len(times) == 1:
            with index.open("a", encoding="utf-8") as editor:
                editor.write("- the user's own\n")
        return (raw or b"") + b"- ours\n"

    change_file(index, change)
    assert index.read_text(encoding="utf-8") == "# Index\n- the user's own\n- ours\n"
    assert len(times) == 2


async def test_the_same_file_digested_by_two_programs_at_once_becomes_one_page(desk: Desks) -> None:
    gate, other = Gate(), Gate()
    gates = [gate, other]
    with DigestServer(lambda *_: Turn(page_for(ARTICLE), before=gates.pop(0))) as server:
        async with desk(server) as at:
            file = at.raw("a.md", ARTICLE)
            first, second = [await at.digests.start(at.base.id, [file]) for _ in range(2)]
            for each in (gate, other):
                await asyncio.to_thread(each.wait_reached)
                each.open()
            batches = [await at.digests.wait(batch.id) for batch in (first, second)]
            (path,) = at.pages
            assert [batch.files[0].page for batch in batches] == [path, path]
            assert sorted(states(batches[0]) + states(batches[1])) == [FileState.DONE, FileState.SKIPPED]
            assert (at.root / "index.md").read_text(encoding="utf-8").count(path) == 1
