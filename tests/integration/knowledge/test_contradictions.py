"""Contradictions (KP-10): told from the words as they are now, never claimed as certain, dismissed by a human."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from devflow.domain.errors import HumanOnly
from devflow.domain.knowledge import EntryEdit, EventKind, Status
from devflow.domain.messages import english
from devflow.knowledge.service import Likeness
from devflow.retrieval.contradict import Opposition, oppositions
from devflow.retrieval.contradict_statements import statements
from devflow.retrieval.contradict_words import against
from devflow.store import entries
from tests.support.library import AI, USER, Library


def told(one: tuple[str, str], other: tuple[str, str]) -> list[Opposition]:
    return list(oppositions(statements(*one), statements(*other)))


SAID = [
    ("number", "5 s", "30 s", ("Timeout", "Calls time out after 5 s."), ("Timeout", "Calls time out after 30 s.")),
    ("number", "3 分钟", "10 分钟", ("缓存", "缓存 3 分钟后过期。"), ("缓存", "缓存 10 分钟后过期。")),
    ("number", "18", "22", ("We build with Node 18", "x"), ("We build with Node 22", "x")),
    ("number", "两个", "四个", ("发布需要两个人签字", "x"), ("发布需要四个人签字", "x")),
    ("opposite", "always", "never", ("Always squash commits", "x"), ("Never squash commits", "x")),
    ("opposite", "启用", "禁用", ("生产环境启用压缩", "x"), ("生产环境禁用压缩", "x")),
    ("opposite", "before", "after", ("Lint before the build", "x"), ("Lint after the build", "x")),
    ("choice", "YAML", "TOML", ("Write settings in YAML", "x"), ("Write settings in TOML", "x")),
    ("choice", "Kafka", "RabbitMQ", ("订单消息走 Kafka", "x"), ("订单消息走 RabbitMQ", "x")),
    (
        "negation",
        "Vendored code is formatted too",
        "Do not format vendored code",
        ("Vendored code is formatted too", "x"),
        ("Do not format vendored code", "x"),
    ),
    ("negation", "不要缓存用户列表", "缓存用户列表", ("不要缓存用户列表", "x"), ("缓存用户列表", "x")),
]


@pytest.mark.parametrize("kind,mine,theirs,one,other", SAID, ids=[f"{kind}-{mine}" for kind, mine, *_ in SAID])
def test_it_says_which_words_stand_against_which(
    kind: str, mine: str, theirs: str, one: tuple[str, str], other: tuple[str, str]
) -> None:
    first = next(each for each in told(one, other) if each.kind == kind)
    assert (first.mine.lower(), first.theirs.lower()) == (mine.lower(), theirs.lower())
    back = next(each for each in told(other, one) if each.kind == kind)
    assert (back.mine, back.theirs) == (first.theirs, first.mine)
    said = against(english(), first)
    assert first.mine in said
    assert first.theirs in said


NOT_SAID = [
    (("Timeout", "Calls time out after 60 s."), ("Timeout", "Calls time out after 1 minute.")),
    (("Close files", "Always close files."), ("Never leave files open", "Close them.")),
    (("文件要关闭", "打开的文件必须关闭。"), ("不要忘记关闭文件", "文件打开后要关闭。")),
    (("Deploy", "Migrate before the rollout."), ("Deploy", "Roll out after the migration.")),
    (("Orders service: 20 connections", "x"), ("Reports service: 5 connections", "x")),
    (("订单服务最多 20 个连接", "x"), ("报表服务最多 5 个连接", "x")),
    (("Use Redis", "If you do not use Redis, sessions are lost."), ("Use Redis", "Use Redis, sessions are kept.")),
    (("Logs", "Logs are kept for 14 days."), ("Logs", "Logs were kept for 7 days, now for 14 days.")),
    (("Kernel notes, part 3", "x"), ("Kernel notes, part 4", "x")),
    (("发布流程第 2 步", "x"), ("发布流程第 3 步", "x")),
    (("Builds", "Pass --no-cache to the build."), ("Builds", "The cache of the build is cleared by --no-cache.")),
]


@pytest.mark.parametrize("one,other", NOT_SAID)
def test_other_words_for_the_same_are_no_contradiction(one: tuple[str, str], other: tuple[str, str]) -> None:
    assert told(one, other) == []
    assert told(other, one) == []


PARTS = [*"不要没有禁止先后 aB19._-“”|\n，。：（）```%🔒", " not ", " never ", " use ", " 30 s", "三次", " \u0301 "]
TEXT = st.lists(st.sampled_from(PARTS), max_size=40).map("".join)


@settings(max_examples=150, deadline=None)
@given(TEXT, TEXT)
def test_any_text_is_read_and_none_contradicts_itself(title: str, content: str) -> None:
    assert told((title, content), (title, content)) == []
    for one in told((title, content), (content, title)):
        assert one.mine
        assert one.theirs


TITLE, WORDS = "Redis lock expiry", "Take the Redis lock with an expiry of {} seconds."


async def alike(library: Library, id: str) -> Likeness:
    (found,) = await library.knowledge.knowledge_similar(id)
    return found


async def test_a_contradiction_is_seen_from_both_sides_and_gone_after_an_edit(library: Library) -> None:
    one = await library.add(TITLE, Status.PUBLISHED, content=WORDS.format(30))
    two = await library.add(f"{TITLE} again", content=WORDS.format(5))
    for own, other in ((one, two), (two, one)):
        found = await alike(library, own.id)
        assert found.entry.id == other.id
        assert found.contradicts is not None
        assert found.contradicts.against[0].kind == "number"
        assert [each.id for each in await library.knowledge.knowledge_conflicts(own.id)] == [other.id]
    counts = await library.knowledge.knowledge_likeness_counts([one.id, two.id])
    assert [(counts[id].similar, counts[id].contradicting) for id in (one.id, two.id)] == [(1, 1), (1, 1)]
    await library.knowledge.knowledge_update(two.id, EntryEdit(two.version, content=WORDS.format(30)), actor=USER)
    found = await alike(library, one.id)
    assert found.contradicts is None
    assert await library.knowledge.knowledge_contradictions([one.id, two.id]) == ()


async def test_a_text_that_is_no_entry_yet_may_contradict_one(library: Library) -> None:
    one = await library.add(TITLE, content=WORDS.format(30))
    found = await alike(library, f"{TITLE}\n{WORDS.format(5)}")
    assert found.entry.id == one.id
    assert found.contradicts is not None
    assert (found.contradicts.against[0].mine, found.contradicts.against[0].theirs) == ("5 seconds", "30 seconds")


async def test_a_dismissal_holds_until_either_text_changes_and_can_be_undone(library: Library) -> None:
    one = await library.add(TITLE, content=WORDS.format(30))
    two = await library.add(f"{TITLE} again", content=WORDS.format(5))
    knowledge = library.knowledge

    async def said() -> bool:
        return bool(await knowledge.knowledge_contradictions([one.id, two.id]))

    done = await knowledge.knowledge_dismiss_contradiction(two.id, one.id, actor=USER)
    assert not await said()
    assert (await library.events(two.id))[-1].event is EventKind.DISMISSED
    undone = await knowledge.knowledge_undo(done.operation, actor=USER)
    assert await said()
    await knowledge.knowledge_redo(undone.operation, actor=USER)
    assert not await said()
    edit = EntryEdit(one.version, content=WORDS.format(60))
    await knowledge.knowledge_update(one.id, edit, actor=USER)
    assert await said()
    with pytest.raises(HumanOnly):
        await knowledge.knowledge_dismiss_contradiction(one.id, two.id, actor=AI)


async def test_a_pair_that_somebody_marked_is_named_though_its_words_do_not_tell(library: Library) -> None:
    one = await library.add("Tabs", content="Indent with tabs.")
    two = await library.add("Another matter", content="Nothing in common.")
    await library.db.write(lambda unit: entries.link(unit, one.id, two.id, "conflict", 1.0))
    found = await alike(library, two.id)
    assert found.entry.id == one.id
    assert found.contradicts is not None
    assert found.contradicts.against == ()
    await library.knowledge.knowledge_archive(one.id, actor=USER)
    assert await library.knowledge.knowledge_similar(two.id) == ()
