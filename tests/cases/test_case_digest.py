"""DIGEST: many files at once, what is no batch, and what is written."""

import asyncio
import re
from datetime import datetime
from pathlib import Path

import pytest

from devflow.digest.concurrency import Done, map_with_concurrency_limit
from devflow.domain.digest import FileState
from devflow.domain.errors import InvalidInput
from devflow.wiki.page import read
from tests.fakes.digest_server import DigestServer
from tests.fakes.openai_server import Turn
from tests.integration.digest.conftest import Desks, states


@pytest.mark.case("DIGEST-01")
async def test_ten_items_with_a_limit_of_three_run_three_at_a_time() -> None:
    active = most = 0
    full = asyncio.Event()

    async def work(item: int) -> int:
        nonlocal active, most
        active += 1
        most = max(most, active)
        if active == 3 or item == 9:  # nobody goes on before as many are here as may be
            full.set()
        await full.wait()
        active -= 1
        return item * item

    results = await map_with_concurrency_limit(range(10), 3, work)
    assert most == 3
    assert results == [Done(item * item) for item in range(10)]


@pytest.mark.case("DIGEST-02")
async def test_no_items_and_fewer_than_the_limit() -> None:
    async def work(item: str) -> str:
        return item.upper()

    assert await map_with_concurrency_limit([], 3, work) == []
    assert await map_with_concurrency_limit(["a", "b"], 5, work) == [Done("A"), Done("B")]


@pytest.mark.case("DIGEST-03")
@pytest.mark.parametrize("limit", [0, -1, float("nan")])
async def test_a_limit_below_one_or_none_at_all_is_an_error(limit: float) -> None:
    async def work(item: int) -> int:
        return item

    with pytest.raises(ValueError, match="limit"):
        await map_with_concurrency_limit([1], limit, work)  # type: ignore[arg-type]


@pytest.mark.case("DIGEST-10")
async def test_what_is_no_batch_is_refused_before_any_file_is_begun(desk: Desks) -> None:
    with DigestServer() as server:
        async with desk(server) as at:
            file = at.raw("a.md", "# 甲\n\n正文")
            for files, concurrency in (((file,), 2), ((Path("raw/a.md"),), 3), ((), 3)):
                with pytest.raises(InvalidInput):
                    await at.digests.start(at.base.id, files, concurrency=concurrency)
            (at.root / ".wiki-schema.md").unlink()
            with pytest.raises(InvalidInput, match=r"no \.wiki-schema\.md|no knowledge base"):
                await at.digests.start(at.base.id, (file,))
            assert (server.digests, at.pages) == ([], {})


@pytest.mark.case("DIGEST-12")
async def test_a_page_is_named_by_its_source_and_the_instant_and_says_where_it_came_from(desk: Desks) -> None:
    with DigestServer() as server:
        async with desk(server) as at:
            await at.digest(at.raw("我的 文章.v2.md", "# 怎样写标题\n\n好标题说清一件事。"))
            ((path, text),) = at.pages.items()
            stamp = r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z"
            assert re.fullmatch(rf"wiki/synthesis/sessions/我的-文章-v2-{stamp}\.md", path)
            assert text.startswith("---\n")
            page = read(path, text)
            assert page.fields["source"] == "raw/我的 文章.v2.md"
            assert re.fullmatch(r"[0-9a-f]{64}", page.fields["sha256"])
            assert datetime.fromisoformat(page.fields["created"]).tzinfo is not None
            assert page.fields["model"] == "scripted"
            assert page.content.startswith("# 怎样写标题\n\n## 核心摘要\n")


@pytest.mark.case("DIGEST-16")
async def test_white_space_alone_is_no_content(desk: Desks) -> None:
    with DigestServer(lambda request, name, before: Turn(" \n\n\t ")) as server:
        async with desk(server) as at:
            batch = await at.digest(at.raw("a.md", "# 甲\n\n正文"))
            assert states(batch) == [FileState.FAILED]
            assert batch.files[0].trouble is not None
            assert batch.files[0].trouble.code == "no_content"
            assert at.pages == {}
