"""The sample wiki: copied, current, answered from, removed but for what its owner has changed (spec 05)."""

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from devflow.app.core import Core, opened
from devflow.app.paths import app_paths
from devflow.domain.errors import HumanOnly
from devflow.knowledge.acts import Actor
from devflow.knowledge.sample_wiki import MANIFEST, NAMES, SampleWikiFailed
from devflow.wiki.registry import is_there
from tests.support.library import USER
from tests.support.pages import write

LANGUAGES = ["en", "zh_CN"]
RESOURCES = Path(__file__).parents[3] / "resources" / "samples"


@pytest.fixture
async def core(home: Path) -> AsyncIterator[Core]:
    async with opened(app_paths(home)) as core:
        yield core


def pages(root: Path) -> set[str]:
    return {page.relative_to(root).as_posix() for page in root.rglob("*.md") if not page.name.startswith(".")}


@pytest.mark.parametrize("language", LANGUAGES)
async def test_loading_copies_the_pages_and_makes_them_the_current_knowledge_base(core: Core, language: str) -> None:
    assert await core.samples.state() is False
    done = await core.samples.load(language, actor=USER)
    assert len(done.entries) == 12
    assert done.base is not None
    root = Path(done.base.path)
    assert root.parent == core.paths.home.resolve() / "samples"
    assert await core.bases.current() is not None
    assert (await core.bases.list()) == (await core.bases.current(),)
    assert pages(root) == pages(RESOURCES / f"wiki.{language[:2]}")
    assert 8 <= len([page for page in pages(root) if page.startswith("wiki/")]) <= 16
    assert await core.samples.state() is True


@pytest.mark.parametrize("language", LANGUAGES)
async def test_the_offline_assistant_answers_the_first_question_from_it(core: Core, language: str) -> None:
    done = await core.samples.load(language, actor=USER)
    assert done.base is not None
    conversation = await core.conversations.create(kb_id=done.base.id)
    for question in (core.samples.wiki_question(language), *core.samples.questions(language)):
        run = await core.turns.send(conversation.id, question)
        await core.turns.wait(run.id)
        answer = (await core.conversations.path(conversation.id)).messages[-1].content
        assert re.search(r"^- \[\d\] .*[:：] ?wiki/.+\.md$", answer, re.MULTILINE), answer


@pytest.mark.parametrize("language", LANGUAGES)
async def test_the_wikis_own_question_finds_the_page_about_it_first(core: Core, language: str) -> None:
    done = await core.samples.load(language, actor=USER)
    assert done.base is not None
    conversation = await core.conversations.create(kb_id=done.base.id)
    run = await core.turns.send(conversation.id, core.samples.wiki_question(language))
    await core.turns.wait(run.id)
    receipt = (await core.conversations.receipts(conversation.id))[-1]
    names = {"en": "wiki/topics/digest.md", "zh_CN": "wiki/topics/消化.md"}
    assert receipt.pages.items[0].ref == names[language]  # type: ignore[union-attr]


async def test_removing_takes_all_of_it_and_the_base_before_is_current_again(core: Core, tmp_path: Path) -> None:
    mine = await core.bases.open(write(tmp_path / "mine", {"wiki/a.md": "# A"}))
    await core.bases.use(mine.id)
    for language in LANGUAGES:
        await core.samples.load(language, actor=USER)
    assert {base.name for base in await core.bases.list()} == {"mine", *NAMES.values()}
    removed = await core.samples.remove(actor=USER)
    assert removed.kept == ()
    assert len(removed.entries) == 24
    assert list((core.paths.home / "samples").iterdir()) == []
    current = await core.bases.current()
    assert current is not None
    assert current.id == mine.id
    assert [base.name for base in await core.bases.list()] == ["mine"]
    assert await core.samples.state() is False


async def test_what_was_changed_or_added_stays_and_is_told(core: Core) -> None:
    done = await core.samples.load("en", actor=USER)
    assert done.base is not None
    root = Path(done.base.path)
    write(root, {"wiki/topics/mine.md": "# Mine", "raw/original.txt": "text", "wiki/overview.md": "# My overview"})
    removed = await core.samples.remove(actor=USER)
    assert {page.relative_to(root).as_posix() for page in removed.kept} == {
        *("wiki/topics/mine.md", "raw/original.txt", "wiki/overview.md")
    }
    assert pages(root) == {"wiki/topics/mine.md", "wiki/overview.md"}
    assert [base.path for base in await core.bases.list()] == [str(root)]
    assert await core.bases.current() is None
    assert await core.samples.state() is False


async def test_loading_again_brings_the_pages_back_and_overwrites_nothing(core: Core) -> None:
    done = await core.samples.load("en", actor=USER)
    assert done.base is not None
    root = Path(done.base.path)
    write(root, {"wiki/overview.md": "# My overview"})
    await core.samples.remove(actor=USER)
    again = await core.samples.load("en", actor=USER)
    assert again.base is not None
    assert again.base.id == done.base.id
    assert pages(root) == pages(RESOURCES / "wiki.en")
    assert (root / "wiki/overview.md").read_text(encoding="utf-8") == "# My overview"
    assert [page.name for page in (await core.samples.remove(actor=USER)).kept] == ["overview.md"]


async def test_a_base_that_a_conversation_belongs_to_is_known_after_its_folder_is_gone(core: Core) -> None:
    done = await core.samples.load("en", actor=USER)
    assert done.base is not None
    conversation = await core.conversations.create(kb_id=done.base.id)
    run = await core.turns.send(conversation.id, "How do files become pages?")
    await core.turns.wait(run.id)
    await core.samples.remove(actor=USER)
    assert [base.id for base in await core.bases.list()] == [done.base.id]
    assert not is_there(done.base)
    again = await core.samples.load("en", actor=USER)
    assert again.base is not None
    assert again.base.id == (await core.conversations.get(conversation.id)).kb_id


async def test_a_conversation_without_a_message_keeps_no_base_in_the_list(core: Core) -> None:
    done = await core.samples.load("en", actor=USER)
    assert done.base is not None
    conversation = await core.conversations.create(kb_id=done.base.id)
    await core.samples.remove(actor=USER)
    assert await core.bases.list() == ()
    assert (await core.conversations.get(conversation.id)).kb_id is None


async def test_nothing_is_removed_through_a_link(core: Core, tmp_path: Path) -> None:
    elsewhere = write(tmp_path / "elsewhere", {"wiki/a.md": "# A", MANIFEST: '{"wiki/a.md": "x"}'})
    (core.paths.home / "samples").mkdir()
    (core.paths.home / "samples" / NAMES["en"]).symlink_to(elsewhere)
    assert (await core.samples.remove(actor=USER)).kept == ()
    assert (elsewhere / "wiki/a.md").exists()


async def test_a_folder_that_cannot_be_written_is_said_and_the_entries_are_loaded(core: Core) -> None:
    (core.paths.home / "samples").write_text("a file is in the way", encoding="utf-8")
    with pytest.raises(SampleWikiFailed, match="cannot be changed"):
        await core.samples.load("en", actor=USER)
    assert (await core.knowledge.knowledge_list()).total == 12


async def test_only_a_human_loads_and_removes_it(core: Core) -> None:
    for act in (core.samples.load("en", actor=Actor.ai()), core.samples.remove(actor=Actor.ai())):
        with pytest.raises(HumanOnly):
            await act


@pytest.mark.parametrize("spoken", ["en", "zh"])
def test_every_link_between_its_pages_leads_somewhere(spoken: str) -> None:
    root = RESOURCES / f"wiki.{spoken}"
    there = pages(root)
    texts = [(root / page).read_text(encoding="utf-8") for page in there]
    links = {link for text in texts for link in re.findall(r"\[\[(wiki/[^\]]+)\]\]", text)}
    assert links
    assert links <= there


def test_both_languages_have_the_same_number_of_pages() -> None:
    assert len(pages(RESOURCES / "wiki.en")) == len(pages(RESOURCES / "wiki.zh"))
