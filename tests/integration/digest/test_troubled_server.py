"""Dozens of files against a server that fails, stalls, limits and truncates by turns; and kills at random moments."""

from __future__ import annotations

import random
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from devflow.digest.output import digested
from devflow.digest.sources import read_raw
from devflow.domain.digest import FileState
from tests.fakes.digest_server import DigestServer, page_for
from tests.fakes.openai_server import Gate, Request, Turn
from tests.integration.digest.conftest import Desks
from tests.support.commands import devflow, finished, start

FILES = 36


def whole(name: str) -> str:
    return page_for(f"{name}\n细节\n正文")


@pytest.mark.parametrize("concurrency", [1, 3, 5])
async def test_every_file_ends_as_it_should_whatever_the_server_does_to_the_others(
    desk: Desks, concurrency: int
) -> None:
    quickly = {"Retry-After": "0"}

    def trouble(request: Request, name: str, before: int) -> Turn | None:
        number = int(name.removesuffix(".md"))
        match number % 9:
            case 1 if before < 5:
                return Turn(status=429, error="slow down", headers=quickly)
            case 2 if before < 2:
                return Turn(status=503, error="busy", headers=quickly)
            case 3 if before < 1:
                return Turn(whole(name)[:30], cut=True)
            case 4 if before < 1:
                return Turn(whole(name)[:40], finish="length")
            case 5:
                return Turn("# 只有标题\n")
            case 6:
                return Turn("  \n")
            case 7 if before < 1:
                return Turn(whole(name)[:20], break_with="the model crashed")
            case 8:
                return Turn(status=400, error="not this one")
            case _:
                return None

    with DigestServer(trouble) as server:
        async with desk(server) as at:
            files = [at.raw(f"{number}.md", f"# 第 {number} 篇\n\n正文 {number}") for number in range(FILES)]
            batch = await at.digest(*files, concurrency=concurrency)
            codes = [file.trouble.code if file.trouble else file.state.value for file in batch.files]
            expected = ["done"] * 5 + ["sections_missing", "no_content", "done", "bad_request"]
            assert codes == expected * (FILES // 9)
            done = batch.of(FileState.DONE)
            assert sorted(at.pages) == sorted(file.page for file in done)
            index = (at.root / "index.md").read_text(encoding="utf-8")
            log = (at.root / "log.md").read_text(encoding="utf-8")
            assert all(index.count(file.page) == log.count(file.page) == 1 for file in done)


@pytest.mark.parametrize("seed", range(10))
def test_a_batch_that_is_killed_again_and_again_ends_with_one_whole_page_a_file(
    home: Path, tmp_path: Path, seed: int
) -> None:
    """SIGKILL at moments drawn from the seed: at a request, in the middle of an answer, or right after a page."""
    chance = random.Random(seed)
    folder = tmp_path / "文章"
    folder.mkdir()
    names = [f"{number}.md" for number in range(8)]
    for name in names:
        (folder / name).write_text(f"# 第 {name} 篇\n\n正文 {name}", encoding="utf-8")
    shas = {read_raw(folder / name).sha256: name for name in names}
    gate = Gate()
    held = [-1, 0.0]  # which request is held, and where in its answer

    def hold(request: Request, name: str, before: int) -> Turn | None:
        if len(server.digests) != held[0]:
            return None
        page = whole(name)
        cut = int(held[1] * len(page))
        return Turn([page[:cut], gate, page[cut:]])

    finished_before: dict[str, int] = {}
    with DigestServer(hold) as server:
        assert devflow(home, "provider", "add", "--address", server.base_url, "--model", "scripted").code == 0
        assert devflow(home, "kb", "init", str(folder), "--purpose", "自媒体").code == 0
        words = [str(folder), "--concurrency", str(chance.choice([1, 3, 5]))]
        for _ in range(2):
            moment = chance.choice(["request", "middle", "page"])
            gate, more = Gate(), chance.randint(1, 3)
            held[:] = (
                [-1, 0.0] if moment == "page" else [len(server.digests) + more, chance.random() * (moment != "request")]
            )
            pages = len(digested(folder))
            process = start(home, "kb", "digest", *words)
            try:
                if moment == "page":
                    until_pages(folder, pages + more)
                else:
                    gate.wait_reached(30)
            finally:
                process.kill()
                finished(process)
            check_no_half_page(home, folder)
            finished_before |= {shas[sha]: server.asked(shas[sha]) for sha in digested(folder)}
            words = ["--resume"]
        held[0] = -1
        last = devflow(home, "kb", "digest", "--resume", "--json")
        assert last.code == 0, last.err
    assert [file["state"] for file in last.value["files"]] == ["done"] * len(names)
    check_no_half_page(home, folder)
    pages_of = digested(folder)
    assert set(pages_of) == set(shas)
    assert len(list((folder / "wiki/synthesis/sessions").iterdir())) == len(names)
    assert {file["page"] for file in last.value["files"]} == set(pages_of.values())
    index = (folder / "index.md").read_text(encoding="utf-8")
    log = (folder / "log.md").read_text(encoding="utf-8")
    assert all(index.count(page) == log.count(page) == 1 for page in pages_of.values())
    assert {name: server.asked(name) for name in finished_before} == finished_before  # none was sent twice


def until_pages(folder: Path, count: int) -> None:
    """Look until so many pages are there, without a pause: what follows a page must be caught in the act."""
    end = time.monotonic() + 30
    sessions = folder / "wiki/synthesis/sessions"
    while sum(file.suffix == ".md" for file in sessions.iterdir()) < count:
        if time.monotonic() > end:
            raise TimeoutError(f"there are no {count} pages")


def check_no_half_page(home: Path, folder: Path) -> None:
    """Every page is whole, and every finished file's page is there and was never asked for again."""
    for page in (folder / "wiki/synthesis/sessions").glob("*.md"):
        text = page.read_text(encoding="utf-8")
        assert text.startswith("---\ntitle: ")
        assert text.endswith("## 待解问题\n无\n")
    with closing(sqlite3.connect(home / "devflow.db")) as connection:
        done = connection.execute("SELECT page FROM digest_files WHERE state = 'done'").fetchall()
    assert all((folder / page).is_file() for (page,) in done)
