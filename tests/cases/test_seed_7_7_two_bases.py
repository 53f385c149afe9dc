"""The seed's §7.7, line by line: nothing of one knowledge base in another (§7.1)."""

from pathlib import Path

from tests.cases.asking import SESSIONS
from tests.cases.conftest import Talk
from tests.support.articles import write_articles


async def digested(talk: Talk, tmp_path: Path) -> None:
    files = write_articles(tmp_path / "a")
    base = await talk.core.bases.initialise(tmp_path / "a", "自媒体文章")
    await talk.digest(base, files[:3])
    await talk.use(base)


async def test_7_7_1_a_summary_is_about_what_was_digested_here(talk: Talk, tmp_path: Path) -> None:
    await digested(talk, tmp_path)
    said = await talk.ask("总结一下")
    said.found(least=3)
    there = {path.relative_to(tmp_path / "a").as_posix() for path in (tmp_path / "a").rglob("*.md")}
    assert set(said.paths) <= there
    assert sum(path.startswith(SESSIONS) for path in said.paths) == 3


async def test_7_7_2_an_empty_one_has_nothing_to_say(talk: Talk, tmp_path: Path) -> None:
    await digested(talk, tmp_path)
    (await talk.ask("总结一下")).found()
    await talk.empty(tmp_path / "b")
    (await talk.ask("总结一下")).found_nothing()


async def test_7_7_3_back_in_the_first_it_is_all_there(talk: Talk, tmp_path: Path) -> None:
    await digested(talk, tmp_path)
    first = talk.conversation
    before = await talk.ask("总结一下")
    await talk.empty(tmp_path / "b")
    (await talk.ask("总结一下")).found_nothing()
    talk.conversation = first
    after = await talk.ask("总结一下")
    after.found(least=3)
    assert after.line["results"] == before.line["results"]
