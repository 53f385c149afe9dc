"""When the knowledge base is searched: always, but for what is plainly about nothing in it."""

import pytest

from devflow.retrieval.overview import overview_of
from devflow.retrieval.trigger import should_use_knowledge_base


@pytest.mark.parametrize(
    "message",
    [
        "[[wiki/x.md]] 说了啥",
        "总结一下",
        "这是我自媒体创作的文章，总结一下",
        "OpenClaw 相关页面讲了什么",
        "a b",
        "登录页面的 bug 怎么修",
        "界面设计的原则有哪些",
        "模型怎么训练",
        "API key 泄露了怎么办",
        "/usr/x 是什么目录",
        "How do I set up the database?",
    ],
)
def test_a_question_is_searched_for(message: str) -> None:
    assert should_use_knowledge_base(message, kb_selected=True)


@pytest.mark.parametrize("message", ["/sediment", "/pdf", "  /pdf  ", "/sediment [[wiki/a.md]]", "/unknown thing"])
def test_a_command_is_not_even_with_a_reference(message: str) -> None:
    assert not should_use_knowledge_base(message, kb_selected=True)


@pytest.mark.parametrize("message", ["嗯", "ab", "", "  ", "😀😀😀"])
def test_what_is_too_short_to_search_for_is_not(message: str) -> None:
    assert not should_use_knowledge_base(message, kb_selected=True)


@pytest.mark.parametrize(
    "message",
    [
        "你好。",
        "你好～",
        "谢谢",
        "谢谢你",
        "嗯嗯嗯",
        "ok",
        "OK。",
        "好的。",
        "Hello!!",
        "HELLO",
        "thx!",
        "早上好",
        "哈喽",
    ],
)
def test_a_greeting_is_not_however_it_is_decorated(message: str) -> None:
    assert not should_use_knowledge_base(message, kb_selected=True)


@pytest.mark.parametrize(
    "message",
    [
        "当前模型是什么",
        "当前模型是什么？",
        "怎么设置快捷键",
        "API key 在哪里填？",
        "where do I put the API key?",
        "How do I change the theme?",
        "which model are you?",
    ],
)
def test_a_question_about_this_application_is_not(message: str) -> None:
    assert not should_use_knowledge_base(message, kb_selected=True)


@pytest.mark.parametrize("message", ["把这个对话导出为 PDF", "Export this conversation as PDF", "帮我导出当前会话"])
def test_a_request_to_export_the_conversation_is_not(message: str) -> None:
    assert not should_use_knowledge_base(message, kb_selected=True)


def test_nothing_is_searched_for_without_a_knowledge_base() -> None:
    assert not should_use_knowledge_base("[[wiki/x.md]] 总结一下", kb_selected=False)


@pytest.mark.parametrize(
    "question",
    ["总结一下", "这些文章总结一下", "summarize these articles", "这个知识库讲了什么", "What is this wiki about?"],
)
def test_an_overview_question_is_about_the_whole_and_nothing_else(question: str) -> None:
    overview = overview_of(question)
    assert (overview.whole, overview.recent, overview.rest) == (True, True, "")


@pytest.mark.parametrize("question", ["这是我自媒体创作的文章，总结一下。", "总结一下 OpenClaw 的文章"])
def test_a_summary_of_something_asks_for_the_newest_pages_but_not_for_the_whole(question: str) -> None:
    overview = overview_of(question)
    assert (overview.whole, overview.recent) == (False, True)
    assert overview.rest.strip()


@pytest.mark.parametrize(
    "question",
    ["分析一下这段代码 print(1)", "帮我总结一下刚才的对话", "summarise our chat", "OpenClaw 的文章讲了什么？"],
)
def test_code_the_chat_and_a_plain_question_are_no_overview(question: str) -> None:
    overview = overview_of(question)
    assert not overview.whole
    assert not overview.recent
