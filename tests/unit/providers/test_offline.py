from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devflow.app.i18n import translator
from devflow.domain.errors import ProviderFailed
from devflow.domain.request import (
    AssistantTurn,
    FinishReason,
    Injected,
    InjectedItem,
    Lookup,
    LookupFailed,
    ModelRequest,
    NothingFound,
    NotUsed,
    Purpose,
    StreamEnd,
    TextChunk,
    UserText,
)
from devflow.domain.text.language import language_of
from devflow.providers.offline import OfflineAssistant, compose_answer, quoted_part
from devflow.providers.passages import best_passage, pieces, sentences

RESOURCES = Path(__file__).parents[3] / "resources"
LOCK = """SQLite 的读事务升级为写事务时会立刻返回 SQLITE_BUSY，`busy_timeout` 对它不起作用。

- 写事务用 `BEGIN IMMEDIATE` 开始，一开始就取得写锁。
- 读写分开两个连接。
"""
DEPLOY = """Restart the worker after each deploy. The cache takes 30 s to warm, e.g. on Mondays.

Keep the old build for a day. Nobody has ever needed it."""


def item(
    number: str, title: str, excerpt: str, *, score: float = 1.0, source: str = "entry", ref: str = "id"
) -> InjectedItem:
    return InjectedItem(source, ref, number, title, excerpt, "term", score, len(excerpt))


def ask(question: str, *items: InjectedItem, library: Lookup | None = None, pages: Lookup | None = None) -> str:
    found = library or (Injected("BLOCK", items) if items else NothingFound())
    request = ModelRequest(
        found, pages or NotUsed("no_kb"), "offline", "", (AssistantTurn("before"), UserText(question))
    )
    return compose_answer(request, RESOURCES)


def test_the_answer_leads_with_the_passage_and_ends_with_its_references() -> None:
    answer = ask("How long does the cache take to warm after a deploy?", item("K3", "Deploy notes", DEPLOY))
    assert answer.startswith(
        "Restart the worker after each deploy. The cache takes 30 s to warm, e.g. on Mondays. [K3]"
    )
    assert "**References**" in answer
    assert "- [K3] Deploy notes" in answer


def test_it_speaks_the_language_of_the_question() -> None:
    assert "**参考**" in ask("写事务怎么避免 BUSY？", item("K1", "先取写锁", LOCK))
    assert "**References**" in ask("avoid BUSY in SQLite", item("K1", "先取写锁", LOCK))


def test_it_speaks_the_language_that_the_prompts_are_in_for_the_same_question() -> None:
    question = "In which of the many places of a long English sentence does SQLite say BUSY 为什么"
    assert language_of(question) == "zh"
    assert "**参考**" in ask(question, item("K1", "先取写锁", LOCK))


def test_the_item_nearest_the_question_leads_though_it_came_second() -> None:
    answer = ask("cache warm", item("K1", "先取写锁", LOCK), item("K2", "Deploy notes", DEPLOY, score=0.6))
    assert answer.index("[K2]") < answer.find("[K1]") if "[K1]" in answer else "[K2]" in answer
    assert answer.startswith("Restart the worker")


def test_other_items_are_one_line_each() -> None:
    other = item(
        "K2",
        "Cache rules",
        "The cache is warm after 30 s. Deploy twice. " + "Filler words follow here. " * 40,
        score=0.8,
    )
    answer = ask("When is the cache warm after deploy?", item("K1", "Deploy notes", DEPLOY), other)
    line = next(line for line in answer.splitlines() if line.startswith("- **"))
    assert len(line) < 260
    assert line.endswith("]")


def test_a_reference_never_stands_inside_code() -> None:
    code = "Use this:\n\n```sh\nbegin immediate transaction now\n```"
    answer = ask("begin immediate transaction now", item("K1", "Locks", code))
    assert "```\n\n[K1]" in answer


def test_a_fence_that_the_budget_cut_open_is_not_quoted() -> None:
    answer = ask("write lock", item("K1", "Locks", "Take the write lock first.\n\n```sql\nBEGIN IMMED"))
    assert "```" not in answer


def test_pages_are_quoted_with_their_path() -> None:
    page = item("1", "Write lock", "One connection owns every write.", source="page", ref="wiki/lock.md")
    answer = ask("who owns every write?", library=NothingFound(), pages=Injected("PAGES", (page,)))
    assert answer.startswith("One connection owns every write. [1]")
    assert "- [1] Write lock: wiki/lock.md" in answer


def test_the_block_of_pages_is_no_part_of_the_question() -> None:
    request = ModelRequest(
        NothingFound(),
        Injected("\n\n---\nPAGES ABOUT 写锁", ()),
        "offline",
        "",
        (UserText("hello\n\n---\nPAGES ABOUT 写锁"),),
    )
    assert compose_answer(request, RESOURCES).startswith("Hello.")


def page(number: str, title: str, excerpt: str, reason: str, *, score: float = 1.0) -> InjectedItem:
    return InjectedItem("page", f"wiki/{title}.md", number, title, excerpt, reason, score, len(excerpt))


def test_a_page_that_the_question_names_is_quoted_before_better_ones() -> None:
    named = page("1", "账本", "# 账本\n\n第一年收入分成三块。", "explicit")
    better = page("2", "亮点", "# 亮点\n\n传播亮点有三个。", "body")
    pages = Injected("PAGES", (named, better))
    answer = ask("[[wiki/账本.md]] 的传播亮点是什么", library=NothingFound(), pages=pages)
    assert answer.startswith("第一年收入分成三块。 [1]")
    assert answer.index("- [1] 《账本》：wiki/账本.md") < answer.index("- [2] 《亮点》：wiki/亮点.md")


def test_two_named_pages_each_stand_under_their_title() -> None:
    pages = Injected("PAGES", (page("1", "甲", "甲说快。", "explicit"), page("2", "乙", "乙说慢。", "explicit")))
    answer = ask("[[wiki/甲.md]] [[wiki/乙.md]] 对比", library=NothingFound(), pages=pages)
    assert "**甲**\n\n甲说快。 [1]\n\n**乙**\n\n乙说慢。 [2]" in answer


def test_a_question_about_the_knowledge_base_gets_a_line_of_each_page_and_no_list_of_links() -> None:
    index = InjectedItem("page", "index.md", "1", "索引", "- [甲](wiki/甲.md)", "kb_meta", 1.0, 9)
    told = [page(str(n), title, f"{title}的摘要。", "recent_synthesis") for n, title in enumerate("甲乙丙", 2)]
    answer = ask("总结一下", library=NothingFound(), pages=Injected("PAGES", (index, *told)))
    assert all(f"- **{title}**：{title}的摘要。 [{n}]" in answer for n, title in enumerate("甲乙丙", 2))
    assert "索引" not in answer
    assert "**参考页面**" in answer


def test_no_page_is_said_before_an_entry_is_quoted_and_a_missing_page_by_its_path() -> None:
    entry = Injected("BLOCK", (item("K1", "先取写锁", LOCK),))
    answer = ask("[[wiki/无.md]] 写事务怎么避免 BUSY？", library=entry, pages=NothingFound("none"))
    assert answer.startswith("当前知识库未找到相关内容。\n\n没有页面 wiki/无.md。\n\n")
    assert "[K1]" in answer
    nothing = ask("How do I train a whale?", library=NothingFound(), pages=NothingFound("none"))
    assert nothing.startswith("Nothing relevant was found in the current knowledge base.")
    failed = ask("训练鲸鱼", library=NothingFound(), pages=LookupFailed("gone"))
    assert failed.startswith("知识库检索失败，已按普通对话处理。")


def test_what_it_says_of_itself_is_taken_off_for_entries_with_pages_but_pages_alone_teach_nothing() -> None:
    entry = Injected("BLOCK", (item("K1", "先取写锁", LOCK),))
    pages = Injected("PAGES", (page("1", "写锁", "写事务要先取写锁。", "body"),))
    both = ask("写事务怎么避免 BUSY？", library=entry, pages=pages)
    assert "参考页面" in both
    assert "参考" not in quoted_part(both)
    assert "[K1]" in quoted_part(both)
    alone = ask("写事务要先取什么？", library=NothingFound(), pages=pages)
    assert quoted_part(alone) == alone


@pytest.mark.parametrize("question", ["hi", "Hello!", "thank you", "你好", "你好！", "谢谢", "你是谁？"])
def test_a_greeting_is_answered_by_a_short_hello_that_says_what_it_is(question: str) -> None:
    answer = ask(question, library=NotUsed("greeting"))
    assert len(answer) < 300
    assert "offline assistant" in answer or "离线助手" in answer


def test_nothing_found_is_said_plainly_with_what_to_do() -> None:
    english = ask("How do I train a whale?", library=NothingFound())
    assert english.startswith("Nothing in your knowledge matches this question.")
    for advice in ("Connect a model", "Add an entry", "Load the samples"):
        assert advice in english
    assert "quote published entries and pages, and" in english
    chinese = ask("怎么训练鲸鱼？", library=NothingFound())
    assert chinese.startswith("你的知识中没有与这个问题相关的内容。")
    t = translator(RESOURCES, "zh_CN")
    for name in ("Settings", "Providers", "Knowledge", "Inbox", "Data"):  # as the window calls them
        assert f"「{t(name)}」" in chinese


def test_what_was_not_searched_is_not_called_empty() -> None:
    assert ask("deploy?", library=NotUsed("off")).startswith("Knowledge is switched off")
    assert ask("deploy?", library=LookupFailed("locked")).startswith("The search in your knowledge failed")


async def test_it_streams_small_pieces_and_ends() -> None:
    request = ModelRequest(
        Injected("B", (item("K1", "Deploy notes", DEPLOY),)), NotUsed("no_kb"), "offline", "", (UserText("cache warm"),)
    )
    events = [event async for event in OfflineAssistant(RESOURCES, pace=0).stream(request)]
    assert events[-1] == StreamEnd(FinishReason.STOP)
    texts = [event.text for event in events if isinstance(event, TextChunk)]
    assert len(texts) > 3
    assert "".join(texts) == compose_answer(request, RESOURCES)


async def test_it_pretends_to_no_other_work() -> None:
    request = ModelRequest(NotUsed("x"), NotUsed("x"), "offline", "", (UserText("x"),), Purpose.EXTRACTION)
    with pytest.raises(ProviderFailed):
        async for _ in OfflineAssistant(RESOURCES).stream(request):
            pass


def test_sentences_end_where_sentences_end() -> None:
    assert sentences("Version 3.40.1 fails. Use e.g. `a.b`! 好。真的？是") == [
        "Version 3.40.1 fails.",
        "Use e.g.",
        "`a.b`!",
        "好。",
        "真的？",
        "是",
    ]


def test_pieces_are_sentences_items_code_and_tables() -> None:
    text = "# Head\nOne. Two\nwraps.\n\n- item\n  goes on\n- next\n\n```py\nx = 1\n```\n| a | b |\n|---|---|\n"
    assert [(piece.kind, piece.text) for piece in pieces(text)] == [
        ("sentence", "One."),
        ("sentence", "Two wraps."),
        ("item", "- item goes on"),
        ("item", "- next"),
        ("code", "```py\nx = 1\n```"),
        ("table", "| a | b |\n|---|---|"),
    ]


@given(st.text(max_size=300), st.text(max_size=600), st.booleans())
def test_any_text_gives_a_passage(question: str, text: str, short: bool) -> None:
    passage = best_passage(question, item("K1", "t", text), short=short)
    assert len(passage.text) <= max(1200, len(text) + 10)
