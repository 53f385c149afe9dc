"""A conversation as a file: what is told of it, what is not, and that nothing in it can break out."""

import re
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from devflow.domain.conversation import Conversation
from devflow.domain.errors import NotFound, Refused
from devflow.domain.messages import english
from devflow.sharing.writing import NotExported
from tests.fakes.openai_server import Call, OpenAIServer, Turn
from tests.integration.sharing.conftest import Bench
from tests.support.pages import ARTICLES, write

KEY = "sk-proj-9fK2mQ7xWb4TzLr8VnYc3HdJs6PgAe1UoXi5RtBv"


class Page(HTMLParser):
    """The elements of a page, its texts, and everything it could fetch or run."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.text = ""
        self.feed(source)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_data(self, data: str) -> None:
        self.text += data


async def html(bench: Bench, conversation: Conversation) -> Page:
    return Page(await bench.core.sharing.text(conversation.id, "html", english()))


async def markdown(bench: Bench, conversation: Conversation) -> str:
    return await bench.core.sharing.text(conversation.id, "markdown", english())


async def test_questions_answers_models_calls_and_sources_are_told(
    bench: Bench, server: OpenAIServer, tmp_path: Path
) -> None:
    base = await bench.core.bases.open(write(tmp_path / "writing", ARTICLES))
    project = await bench.core.projects.ensure(bench.workspace)
    (bench.workspace / "notes.txt").write_text("one\ntwo\n", encoding="utf-8")
    conversation = await bench.core.conversations.create(kb_id=base.id, project_id=project.id)
    server.script(Turn("先看一下。", calls=[Call("read_file", {"path": "notes.txt"})]), "多 agent 团队这样分工 [1]。")
    await bench.ask(conversation, "多agent团队怎么分工")

    told = await markdown(bench, conversation)

    assert told.startswith("# 多agent团队怎么分工\n")
    assert "## 1. Question" in told
    assert "### Answer" in told
    assert " · scripted*" in told
    assert "- *Read* `notes.txt`: done" in told
    assert "Knowledge base: writing" in told
    assert "Project: project" in told
    assert re.search(
        r"^- OpenClaw 自媒体文章 — `wiki/synthesis/sessions/openclaw\.md` \\\[1\\\] in question 1$", told, re.MULTILINE
    )
    page = await html(bench, conversation)
    assert "Read notes.txt: done" in page.text
    assert "OpenClaw 自媒体文章 — wiki/synthesis/sessions/openclaw.md [1] in question 1" in page.text


async def test_nothing_that_was_put_before_the_model_unseen_is_in_the_file(
    bench: Bench, server: OpenAIServer, tmp_path: Path
) -> None:
    base = await bench.core.bases.open(write(tmp_path / "writing", ARTICLES))
    conversation = await bench.core.conversations.create(kb_id=base.id)
    await bench.publish("怎样分工", "只在提示里的一句话：先定接口再写代码。")
    server.script(Turn("好。", reasoning="think first"))
    await bench.ask(conversation, "多agent团队怎么分工")
    sent = str(server.requests[-1].body)
    assert "用户不可见" in sent
    assert "一人公司怎么经营" in sent

    for told in (
        await markdown(bench, conversation),
        await bench.core.sharing.text(conversation.id, "html", english()),
    ):
        for hidden in ("用户不可见", "一人公司怎么经营", "先定接口", "think first"):
            assert hidden not in told


async def test_only_the_active_path_is_told(bench: Bench, server: OpenAIServer) -> None:
    conversation = await bench.conversation()
    server.script("The first answer.", "The better answer.")
    await bench.ask(conversation, "Which one?")
    run = await bench.core.turns.regenerate((await bench.answer(conversation)).id)
    await bench.core.turns.wait(run.id)

    told = await markdown(bench, conversation)

    assert "The better answer." in told
    assert "The first answer." not in told


async def test_secrets_are_taken_out_and_the_file_says_so(bench: Bench, server: OpenAIServer) -> None:
    conversation = await bench.conversation()
    server.script(f"Use OPENAI_API_KEY={KEY} there.")
    await bench.ask(conversation, f"My key is {KEY}, where does it go?")

    told, page = await markdown(bench, conversation), await html(bench, conversation)

    for text in (told, page.text):
        assert KEY not in text
        assert "[redacted: " in text.replace("\\", "")
        assert "secrets were taken out" in text


HOSTILE = (
    "<script>alert(1)</script><img src=x onerror=alert(2)> [link](javascript:alert(3)) "
    "![pixel](https://tracker.example/p.png) <!-- </style></main> [ok](https://example.com/?a=1&b=2)"
)


async def test_what_was_written_as_markup_is_text_in_the_page(bench: Bench, server: OpenAIServer) -> None:
    conversation = await bench.conversation()
    server.script(HOSTILE)
    await bench.ask(conversation, HOSTILE)
    await bench.core.conversations.rename(conversation.id, "</title><script>alert(0)</script>")

    page = await html(bench, conversation)

    assert {"script", "img", "iframe", "link", "object"}.isdisjoint(page.tags)
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    addresses = {value for name, value in page.attributes if name in ("href", "src")}
    assert addresses == {"https://tracker.example/p.png", "https://example.com/?a=1&b=2"}
    assert page.text.count("<script>alert(1)</script><img src=x onerror=alert(2)>") == 2
    assert "[link](javascript:alert(3))" in page.text
    assert page.text.count("</title><script>alert(0)</script>") == 2


async def test_the_page_stands_alone_and_has_both_themes(bench: Bench, server: OpenAIServer) -> None:
    conversation = await bench.conversation()
    server.script("```python\ndef f() -> int:\n    return 1  # one\n```")
    await bench.ask(conversation, "Show me")

    source = await bench.core.sharing.text(conversation.id, "html", english())
    page = Page(source)

    assert "prefers-color-scheme: dark" in source
    assert '<span class="code-keyword">def</span>' in source
    assert '<span class="code-comment"># one</span>' in source
    assert "default-src 'none'" in dict(page.attributes).get("content", "") or "default-src 'none'" in source
    assert "url(" not in source
    assert "@import" not in source
    assert page.text.count("return 1  # one") == 1


CUT = ["```python\nx = 1", "- item\n  ~~~~\n  x", "<!-- not closed", "> ```\n> x", "a\n\n<pre>\n\n"]


@pytest.mark.parametrize("cut", CUT)
async def test_a_cut_answer_does_not_swallow_what_follows(bench: Bench, server: OpenAIServer, cut: str) -> None:
    conversation = await bench.conversation()
    server.script(cut, "After it.")
    await bench.ask(conversation, "First")
    await bench.ask(conversation, "Second")

    told = await markdown(bench, conversation)

    tokens = MarkdownIt().parse(told)
    headings = [
        token.content for opening, token in pairwise(tokens) if opening.type == "heading_open" and opening.level == 0
    ]
    assert headings == ["First", "1. Question", "Answer", "2. Question", "Answer"]


async def test_a_file_is_written_whole_or_not_at_all(bench: Bench, server: OpenAIServer, tmp_path: Path) -> None:
    conversation = await bench.conversation()
    server.script("Yes.")
    await bench.ask(conversation, "Is it?")
    target = tmp_path / "out" / "talk.md"
    with pytest.raises(NotExported):
        await bench.core.sharing.write(conversation.id, "markdown", target, english())
    target.parent.mkdir()
    target.write_text("before", encoding="utf-8")
    await bench.core.sharing.write(conversation.id, "markdown", target, english())
    assert "Yes." in target.read_text(encoding="utf-8")
    assert [file.name for file in target.parent.iterdir()] == ["talk.md"]


async def test_an_empty_conversation_is_refused_and_one_that_is_not_there_too(bench: Bench) -> None:
    conversation = await bench.conversation()
    with pytest.raises(Refused):
        await markdown(bench, conversation)
    with pytest.raises(NotFound):
        await bench.core.sharing.text("nowhere", "html", english())


async def test_an_export_asks_no_model_and_looks_nothing_up(bench: Bench, server: OpenAIServer, tmp_path: Path) -> None:
    base = await bench.core.bases.open(write(tmp_path / "writing", ARTICLES))
    conversation = await bench.core.conversations.create(kb_id=base.id)
    server.script("好。")
    await bench.ask(conversation, "多agent团队怎么分工")
    asked = len(server.requests)
    bench.events.clear()
    await bench.core.sharing.write(conversation.id, "html", tmp_path / "talk.html", english())
    assert (bench.events, len(server.requests)) == ([], asked)
