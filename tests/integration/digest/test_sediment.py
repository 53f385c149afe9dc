"""`/sediment`: a conversation becomes a page of its knowledge base, when the user says so."""

import asyncio
import os
import re
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from devflow.app.core import Core, opened
from devflow.app.paths import app_paths
from devflow.digest.answer import Digest
from devflow.digest.output import NotWritten, Page, write_digest_output
from devflow.digest.sediment_summary import Summary, parse_note
from devflow.digest.subagent import NotAPage
from devflow.domain.conversation import Conversation, ModelChoice
from devflow.domain.errors import ProviderFailed, Refused
from devflow.domain.ids import now
from devflow.domain.knowledge_base import KnowledgeBase
from devflow.domain.provider import ProviderDraft
from devflow.domain.tokens import estimate_tokens
from devflow.retrieval.pages import search_knowledge_base
from devflow.wiki.page import read
from tests.fakes.openai_server import Gate, OpenAIServer, Request, Turn

NOTE = "# SQLite 写锁的取法\n\n讨论了写事务何时取锁，结论是一开始就取。\n\n- 用 BEGIN IMMEDIATE\n- 超时设为 5 秒"
KEY = "sk-proj-" + "Zx9Kq2Lm7Tr4Vb8Nw1Ys6Hd3" * 2
SESSIONS = "wiki/synthesis/sessions/"


@dataclass
class Desk:
    core: Core
    base: KnowledgeBase
    server: OpenAIServer

    @property
    def root(self) -> Path:
        return Path(self.base.path)

    @property
    def pages(self) -> dict[str, str]:
        folder = self.root / SESSIONS
        return {f"{SESSIONS}{f.name}": f.read_text(encoding="utf-8") for f in sorted(folder.glob("*.md"))}

    async def talk(self, *exchanges: tuple[str, str], to: Conversation | None = None) -> Conversation:
        talk = to or await self.core.conversations.create(kb_id=self.base.id)
        for question, answer in exchanges:
            self.server.script(answer)
            run = await self.core.turns.send(talk.id, question)
            await self.core.turns.wait(run.id)
        return talk

    def files(self) -> dict[str, bytes]:
        """Every file of the knowledge base, half-written ones too."""
        return {f.relative_to(self.root).as_posix(): f.read_bytes() for f in self.root.rglob("*") if f.is_file()}


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer() as running:
        yield running


@pytest.fixture
async def desk(home: Path, tmp_path: Path, server: OpenAIServer) -> AsyncIterator[Desk]:
    folder = tmp_path / "知识库"
    folder.mkdir()
    async with opened(app_paths(home)) as core:
        await core.models.add(ProviderDraft("Model", server.base_url, models=("scripted", "digester")))
        base = await core.bases.initialise(folder, "数据库的经验")
        wal = folder / "wiki/topics/wal.md"
        wal.write_text("# WAL 模式\n\n写锁：写事务用 BEGIN IMMEDIATE 取锁。\n", encoding="utf-8")
        yield Desk(core, base, server)


async def test_the_page_has_title_summary_links_and_transcript(desk: Desk) -> None:
    talk = await desk.talk(("写锁怎么取？", "用 BEGIN IMMEDIATE。\n\n参考页面\n- 《WAL 模式》：wiki/topics/wal.md"))
    desk.server.script(NOTE)
    made = await desk.core.sediments.write(talk.id)
    ((path, text),) = desk.pages.items()
    assert (made.path, made.title, made.base.id, made.model) == (path, "SQLite 写锁的取法", desk.base.id, "scripted")
    assert made.outcome == "written"
    assert re.fullmatch(rf"{SESSIONS}SQLite-写锁的取法-\d{{4}}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{{3}}Z\.md", path)
    page = read(path, text)
    assert page.title == "SQLite 写锁的取法"
    assert page.origin == "sediment"
    assert page.fields["conversation"] == talk.id
    assert page.fields["model"] == "scripted"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", page.fields["created"])
    assert "结论是一开始就取" in text
    assert "- [[wiki/topics/wal.md]]: WAL 模式" in text
    transcript = text.partition("## 对话记录")[2]
    assert "> 写锁怎么取？" in transcript
    assert transcript.index("> 写锁怎么取？") < transcript.index("> 用 BEGIN IMMEDIATE。")
    assert "系统检索上下文" not in text, "what was hidden from the user stays hidden"
    index, log = (desk.root / name for name in ("index.md", "log.md"))
    assert f"- [SQLite 写锁的取法]({path}): 讨论了写事务何时取锁，结论是一开始就取。" in index.read_text(
        encoding="utf-8"
    )
    assert re.search(rf"^- \S+Z sediment: {talk.id} → {re.escape(path)} \(scripted\)$", log.read_text("utf-8"), re.M)


async def test_the_model_reads_the_clean_words_between_marks_and_is_given_nothing_else(desk: Desk) -> None:
    talk = await desk.talk(("写锁怎么取？", "用 BEGIN IMMEDIATE。"))
    desk.server.script(NOTE)
    await desk.core.sediments.write(talk.id)
    asked = desk.server.requests[-1]
    nonce = re.search(
        r"<<<conversation (\w+)>>>\nUser: 写锁怎么取？\n\nAssistant: 用 BEGIN IMMEDIATE。\n", asked.last_user
    )
    assert nonce is not None
    assert f"<<<end conversation {nonce[1]}>>>" in asked.last_user
    assert nonce[1] in asked.system
    assert "系统检索上下文" not in asked.last_user
    assert asked.tools == []
    assert len(asked.messages) == 2


async def test_the_digest_role_writes_it_where_it_is_set(desk: Desk) -> None:
    (provider,) = await desk.core.models.list()
    roles = await desk.core.models.roles()
    await desk.core.models.save_roles(replace(roles, digest=ModelChoice(provider.id, "digester")))
    talk = await desk.talk(("a question", "an answer"))
    desk.server.script("# A title\n\nA summary.")
    made = await desk.core.sediments.write(talk.id)
    assert made.model == "digester"
    assert desk.server.requests[-1].body["model"] == "digester"
    assert "## Transcript" in desk.pages[made.path], "the language of the conversation"


async def test_an_answer_without_a_title_is_asked_for_once_more(desk: Desk) -> None:
    talk = await desk.talk(("写锁怎么取？", "立即取。"))
    desk.server.script("没有标题的一段话。", f"```markdown\n{NOTE}\n```")
    made = await desk.core.sediments.write(talk.id)
    assert made.title == "SQLite 写锁的取法"
    assert "it has no title" in desk.server.requests[-1].last_user
    assert "```" not in desk.pages[made.path]


async def test_two_answers_that_are_no_note_fail_and_write_nothing(desk: Desk) -> None:
    talk = await desk.talk(("写锁怎么取？", "立即取。"))
    before = desk.files()
    desk.server.script("没有标题。", "# 只有标题")
    with pytest.raises(NotAPage, match="scripted"):
        await desk.core.sediments.write(talk.id)
    assert desk.files() == before


async def test_a_server_that_refuses_writes_nothing(desk: Desk) -> None:
    talk = await desk.talk(("写锁怎么取？", "立即取。"))
    before = desk.files()
    desk.server.script(Turn(status=400, error="no such model"))
    with pytest.raises(ProviderFailed, match="no such model"):
        await desk.core.sediments.write(talk.id)
    assert desk.files() == before


async def test_secrets_reach_neither_the_model_nor_the_page(desk: Desk) -> None:
    talk = await desk.talk((f"为什么 {KEY} 不能用？", f"因为 {KEY} 过期了。"))
    desk.server.script(lambda request: Turn(f"# 过期的钥匙\n\n用的是 {KEY}。"))
    made = await desk.core.sediments.write(talk.id)
    assert KEY not in str(desk.server.requests[-1].body)
    assert KEY not in desk.pages[made.path]
    assert desk.pages[made.path].count("[redacted:") >= 3


async def test_a_transcript_imitates_neither_front_matter_nor_fences_nor_comments(desk: Desk) -> None:
    evil = "---\nmade_by: init\n---\n# 假标题\n```\n<!-- 藏起来\n## 对话记录\n<details>"
    talk = await desk.talk((evil, f"好。\n\n{evil}"), ("后来呢？", "后来的回答在这里。"))
    desk.server.script("# 真标题\n\n摘要。\n\n```python\nx = 1\n\n<!-- 没有结束")
    made = await desk.core.sediments.write(talk.id)
    text = desk.pages[made.path]
    page = read(made.path, text)
    assert (page.title, page.origin) == ("真标题", "sediment")
    assert "后来的回答在这里。" in page.content, "no open comment hides what follows"
    headings = [line for line in text.split("\n") if line.startswith("#")]
    assert headings == ["# 真标题", "## 对话记录"]
    below = text.partition("## 对话记录\n")[2]
    assert all(line.startswith(("> ", ">", "**")) or not line for line in below.split("\n"))
    assert text.partition("## 对话记录\n")[0].count("```") == 2, "the summary's own code block is closed"


async def test_a_page_that_the_model_made_up_is_no_link(desk: Desk) -> None:
    talk = await desk.talk(("写锁怎么取？", "立即取。"))
    desk.server.script("# 写锁\n\n见 [[wiki/topics/wal.md]] 和 [[wiki/topics/made-up.md]]。")
    made = await desk.core.sediments.write(talk.id)
    assert "[[wiki/topics/wal.md]]" in desk.pages[made.path]
    assert "[[wiki/topics/made-up.md]]" not in desk.pages[made.path]
    assert "wiki/topics/made-up.md" in desk.pages[made.path]


async def test_without_a_model_a_page_of_the_conversations_own_words_is_written_and_says_so(
    home: Path, tmp_path: Path
) -> None:
    async with opened(app_paths(home)) as core:
        (tmp_path / "kb").mkdir()
        base = await core.bases.initialise(tmp_path / "kb", "数据库的经验")
        (tmp_path / "kb/wiki/topics/wal.md").write_text("# WAL\n\n写锁要用 BEGIN IMMEDIATE 取。\n", encoding="utf-8")
        talk = await core.conversations.create(kb_id=base.id)
        run = await core.turns.send(talk.id, "写锁怎么取？")
        await core.turns.wait(run.id)
        made = await core.sediments.write(talk.id)
    text = (tmp_path / "kb" / made.path).read_text(encoding="utf-8")
    assert made.model == ""
    assert made.title == "写锁怎么取？"
    assert read(made.path, text).fields["model"] == "none"
    assert "没有连接模型" in text
    assert "- 写锁怎么取？" in text
    assert "BEGIN IMMEDIATE" in text
    assert "[[wiki/topics/wal.md]]" in text


async def test_without_a_model_the_index_says_what_was_answered_and_follows_it(home: Path, tmp_path: Path) -> None:
    async with opened(app_paths(home)) as core:
        (tmp_path / "kb").mkdir()
        base = await core.bases.initialise(tmp_path / "kb", "数据库的经验")
        for name, words in (("wal", "写锁要用 BEGIN IMMEDIATE 取。"), ("wait", "超时设为五秒。")):
            (tmp_path / f"kb/wiki/topics/{name}.md").write_text(f"# {name}\n\n{words}\n", encoding="utf-8")
        talk = await core.conversations.create(kb_id=base.id)
        lines = []
        for question in ("写锁怎么取？", "超时设为多少？"):
            run = await core.turns.send(talk.id, question)
            await core.turns.wait(run.id)
            await core.sediments.write(talk.id)
            index = (tmp_path / "kb/index.md").read_text(encoding="utf-8")
            lines.append([line.rpartition("): ")[2] for line in index.splitlines() if line.startswith("- [")])
    assert [len(each) for each in lines] == [1, 1]
    assert lines[0][0].startswith("写锁要用 BEGIN IMMEDIATE 取。")
    assert lines[1][0].startswith("超时设为五秒。")


async def test_it_is_never_written_by_itself(desk: Desk) -> None:
    await desk.talk(("写锁怎么取？", "立即取。"), ("确定吗？", "确定。"))
    assert desk.pages == {}


# where there is nothing to write, or nowhere ------------------------------------------------------------------------


async def test_without_a_knowledge_base_it_is_refused(desk: Desk) -> None:
    talk = await desk.talk(("a", "b"), to=await desk.core.conversations.create())
    with pytest.raises(Refused, match="belongs to no knowledge base"):
        await desk.core.sediments.write(talk.id)


async def test_without_an_answer_it_is_refused(desk: Desk) -> None:
    talk = await desk.core.conversations.create(kb_id=desk.base.id)
    with pytest.raises(Refused, match="no answer yet"):
        await desk.core.sediments.write(talk.id)


async def test_while_it_is_being_answered_it_is_refused(desk: Desk) -> None:
    gate = Gate()
    talk = await desk.talk(("第一个问题", "第一个回答"))
    desk.server.script(Turn(["一半", gate, "另一半"]))
    run = await desk.core.turns.send(talk.id, "第二个问题")
    await asyncio.to_thread(gate.wait_reached)
    with pytest.raises(Refused, match="still being answered"):
        await desk.core.sediments.write(talk.id)
    gate.open()
    await desk.core.turns.wait(run.id)


async def test_a_folder_that_is_gone_is_said_before_a_model_is_asked(desk: Desk) -> None:
    talk = await desk.talk(("写锁怎么取？", "立即取。"))
    desk.root.rename(desk.root.with_name("moved"))
    asked = len(desk.server.requests)
    with pytest.raises(Refused, match="is gone"):
        await desk.core.sediments.write(talk.id)
    assert len(desk.server.requests) == asked
    assert not desk.root.exists()


async def test_a_folder_that_takes_no_file_is_said_before_a_model_is_asked(desk: Desk) -> None:
    talk = await desk.talk(("写锁怎么取？", "立即取。"))
    (desk.root / SESSIONS).rmdir()
    (desk.root / SESSIONS.rstrip("/")).write_text("a file", encoding="utf-8")
    asked = len(desk.server.requests)
    with pytest.raises(NotWritten):
        await desk.core.sediments.write(talk.id)
    assert len(desk.server.requests) == asked


async def test_a_sessions_folder_that_leads_out_is_not_written_to(desk: Desk, tmp_path: Path) -> None:
    talk = await desk.talk(("写锁怎么取？", "立即取。"))
    outside = tmp_path / "outside"
    outside.mkdir()
    (desk.root / SESSIONS).rmdir()
    (desk.root / SESSIONS.rstrip("/")).symlink_to(outside)
    with pytest.raises(NotWritten, match="leads out"):
        await desk.core.sediments.write(talk.id)
    assert list(outside.iterdir()) == []


async def test_what_a_kill_left_half_written_is_removed(desk: Desk) -> None:
    talk = await desk.talk(("写锁怎么取？", "立即取。"))
    (desk.root / SESSIONS / ".half.md.devflow-new").write_text("# half", encoding="utf-8")
    desk.server.script(NOTE)
    await desk.core.sediments.write(talk.id)
    assert not list(desk.root.rglob("*.devflow-new"))


async def test_closing_while_a_model_is_asked_writes_nothing(home: Path, desk: Desk) -> None:
    talk = await desk.talk(("写锁怎么取？", "立即取。"))
    gate = Gate()
    desk.server.script(Turn(["# 写锁", gate, "\n\n摘要。"]))
    before = desk.files()
    async with opened(app_paths(home)) as other:
        asked = asyncio.create_task(other.sediments.write(talk.id))
        await asyncio.to_thread(gate.wait_reached)
    with pytest.raises(asyncio.CancelledError):
        await asked
    gate.open()
    assert desk.files() == before


# again --------------------------------------------------------------------------------------------------------------


async def test_two_calls_at_once_write_one_page_and_ask_once(desk: Desk) -> None:
    talk = await desk.talk(("写锁怎么取？", "立即取。"))
    desk.server.script(NOTE)
    first, second = await asyncio.gather(desk.core.sediments.write(talk.id), desk.core.sediments.write(talk.id))
    assert first == second
    assert len(desk.pages) == 1


async def test_two_processes_at_once_write_one_page(desk: Desk, home: Path) -> None:
    talk = await desk.talk(("写锁怎么取？", "立即取。"))
    gates = Gate(), Gate()
    desk.server.script(*(Turn(["# 写锁", gate, "\n\n摘要。"]) for gate in gates))
    async with opened(app_paths(home)) as other:
        both = [asyncio.create_task(core.sediments.write(talk.id)) for core in (desk.core, other)]
        for gate in gates:
            await asyncio.to_thread(gate.wait_reached)
        for gate in gates:
            gate.open()
        first, second = await asyncio.gather(*both)
    assert first.path == second.path
    assert sorted((first.outcome, second.outcome)) == ["unchanged", "written"]
    assert len(desk.pages) == 1
    assert (desk.root / "index.md").read_text(encoding="utf-8").count(first.path) == 1


async def test_again_without_a_new_word_gives_the_page_there_is(desk: Desk) -> None:
    talk = await desk.talk(("写锁怎么取？", "立即取。"))
    desk.server.script(NOTE)
    first = await desk.core.sediments.write(talk.id)
    before, asked = desk.files(), len(desk.server.requests)
    (desk.root / "index.md").write_bytes(b"# Index\n")  # as a kill right after the page would leave it
    again = await desk.core.sediments.write(talk.id)
    assert (again.path, again.title, again.outcome) == (first.path, first.title, "unchanged")
    after = desk.files()
    assert first.path in after.pop("index.md").decode()
    assert {**before, "index.md": b""} == {**after, "index.md": b""}
    assert len(desk.server.requests) == asked


async def test_after_more_messages_the_page_is_brought_up_to_date_in_its_place(desk: Desk) -> None:
    talk = await desk.talk(("写锁怎么取？", "立即取。"))
    desk.server.script(NOTE)
    first = await desk.core.sediments.write(talk.id)
    await desk.talk((f"[[{first.path}]] 里的超时是多少？", "十秒。"), to=talk)
    desk.server.script("# 写锁与超时\n\n立即取锁，超时十秒。")
    again = await desk.core.sediments.write(talk.id)
    assert (again.path, again.title, again.outcome) == (first.path, "写锁与超时", "updated")
    assert f"- [[{first.path}]]" not in desk.pages[first.path], "no page names itself as a source"
    text = desk.pages[first.path]
    assert len(desk.pages) == 1
    assert "> 十秒。" in text
    assert "> 立即取。" in text
    assert "\nupdated: '" in text
    index = (desk.root / "index.md").read_text(encoding="utf-8")
    assert f"- [写锁与超时]({first.path}): 立即取锁，超时十秒。" in index
    assert "SQLite 写锁的取法" not in index
    assert (desk.root / "log.md").read_text(encoding="utf-8").count(first.path) == 2


async def test_a_page_that_somebody_has_changed_stays_and_a_new_one_is_written(desk: Desk) -> None:
    talk = await desk.talk(("写锁怎么取？", "立即取。"))
    desk.server.script(NOTE)
    first = await desk.core.sediments.write(talk.id)
    mine = (desk.root / first.path).read_text(encoding="utf-8").replace("超时设为 5 秒", "我改成 8 秒")
    (desk.root / first.path).write_text(mine, encoding="utf-8")
    await desk.talk(("超时多少？", "十秒。"), to=talk)
    desk.server.script("# 写锁与超时\n\n立即取锁，超时十秒。")
    again = await desk.core.sediments.write(talk.id)
    assert again.outcome == "written"
    assert again.path != first.path
    assert desk.pages[first.path] == mine
    assert len(desk.pages) == 2


async def test_another_branch_of_the_conversation_is_written_beside(desk: Desk) -> None:
    talk = await desk.talk(("写锁怎么取？", "立即取。"))
    desk.server.script(NOTE)
    first = await desk.core.sediments.write(talk.id)
    question = (await desk.core.conversations.path(talk.id)).messages[0]
    desk.server.script("读锁共享。", "# 读锁\n\n读锁是共享的。")
    run = await desk.core.turns.resend(question.id, "读锁怎么取？")
    await desk.core.turns.wait(run.id)
    again = await desk.core.sediments.write(talk.id)
    assert again.path != first.path
    assert "立即取。" in desk.pages[first.path]
    assert "立即取。" not in desk.pages[again.path].partition("## 对话记录")[2]


async def test_pages_of_several_conversations_and_digests_at_once_are_all_listed(desk: Desk) -> None:
    talks = [await desk.talk((f"问题 {number}", f"回答 {number}")) for number in range(4)]
    desk.server.script(*(f"# 第 {number} 页\n\n摘要。" for number in range(4)))
    guard = desk.core.paths.locks / f"digest-{desk.base.id}"

    def digest(number: int) -> str:
        page = f"{SESSIONS}digest-{number}.md"
        made = Page(Digest(f"第 {number} 篇", "摘要", f"# 第 {number} 篇"), "a.md", "0" * 64, "m", now())
        write_digest_output(desk.root, page, made, guard)
        return page

    made, pages = await asyncio.gather(
        asyncio.gather(*(desk.core.sediments.write(talk.id) for talk in talks)),
        asyncio.gather(*(asyncio.to_thread(digest, number) for number in range(20))),
    )
    index = (desk.root / "index.md").read_text(encoding="utf-8")
    log = (desk.root / "log.md").read_text(encoding="utf-8")
    for path in (*pages, *(each.path for each in made)):
        assert index.count(f"({path})") == 1
        assert log.count(f"→ {path} ") == 1
    assert not list(desk.root.rglob("*.devflow-new"))


# long ones, and being found -----------------------------------------------------------------------------------------


async def test_a_conversation_that_is_too_long_for_the_model_is_shortened_and_asked_again(desk: Desk) -> None:
    talk = await desk.talk(("头一个问题" + "甲" * 3_000, "乙" * 6_000), ("末了的问题", "末了的回答"))
    refused: list[int] = []

    def answer(request: Request) -> Turn:
        if len(request.last_user) > 4_000:
            refused.append(len(request.last_user))
            return Turn(status=400, error="This model's maximum context length is 4096 tokens, you sent more.")
        return Turn(NOTE)

    desk.server.script(answer, answer)
    made = await desk.core.sediments.write(talk.id)
    assert refused
    sent = desk.server.requests[-1].last_user
    assert "头一个问题" in sent
    assert "末了的回答" in sent
    assert "乙" * 6_000 in desk.pages[made.path], "the page has every word"


@pytest.mark.parametrize("window", [2_048, 4_096, 32_768])
async def test_the_request_fits_into_the_window_that_the_model_has(desk: Desk, window: int) -> None:
    talk = await desk.talk(("头一个问题" + "甲" * 9_000, "乙" * 30_000), ("末了的问题", "末了的回答"))
    (provider,) = await desk.core.models.list()
    draft = ProviderDraft("Model", provider.base_url, models=provider.models, settings={"context_window": window})
    await desk.core.models.update(provider.id, draft)
    desk.server.script(NOTE)
    await desk.core.sediments.write(talk.id)
    asked = desk.server.requests[-1]
    assert estimate_tokens(asked.system + asked.last_user) < 0.8 * window
    assert "头一个问题" in asked.last_user
    assert "末了的回答" in asked.last_user


async def test_a_page_of_a_conversation_ranks_below_a_source_of_equal_merit(desk: Desk) -> None:
    talk = await desk.talk(("写锁怎么取？", "立即取。"))
    desk.server.script(NOTE)
    made = await desk.core.sediments.write(talk.id)
    source = desk.root / "wiki/sources/锁.md"
    source.write_text(NOTE, encoding="utf-8")
    os.utime(source, (1, 1))  # the older one, which would come last among equals
    for question in ("SQLite 写锁的取法", "超时设为 5 秒", "写锁怎么取？", "BEGIN IMMEDIATE 什么时候用"):
        await desk.core.bases.refresh(desk.base)
        found = await desk.core.bases.ask(
            desk.base, lambda index, question=question: search_knowledge_base(index, question)
        )
        paths = [hit.path for hit in found.hits]
        assert paths.index("wiki/sources/锁.md") < paths.index(made.path), question


async def test_the_page_is_found_on_the_very_next_turn(desk: Desk) -> None:
    talk = await desk.talk(("写锁怎么取？", "立即取。"))
    desk.server.script(NOTE)
    made = await desk.core.sediments.write(talk.id)
    other = await desk.talk(("SQLite 写锁的取法是什么？", "立即取。"))
    (receipt,) = await desk.core.conversations.receipts(other.id)
    assert made.path in [item.ref for item in receipt.pages.items]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "text,title",
    [
        ("<think>hm</think>\n# A\n\nB", "A"),
        ("Here you are:\n\n# **A**\nB", "A"),
        ("```md\n# A\n\nB\n```", "A"),
        ("## 标题：甲\n\n乙", "甲"),
    ],
)
def test_what_a_model_wraps_around_its_note_is_left_out(text: str, title: str) -> None:
    found = parse_note(text)
    assert isinstance(found, Summary)
    assert found.title == title


async def test_a_question_that_opens_a_comment_hides_nothing_of_the_page(desk: Desk) -> None:
    await desk.core.models.remove((await desk.core.models.list())[0].id)
    talk = await desk.core.conversations.create(kb_id=desk.base.id)
    for question in ("What does <!-- do?", "And where are zebras?"):
        run = await desk.core.turns.send(talk.id, question)
        await desk.core.turns.wait(run.id)
    made = await desk.core.sediments.write(talk.id)
    page = read(made.path, desk.pages[made.path])
    assert page.content.count("zebras") == 2
    index = read("index.md", (desk.root / "index.md").read_text(encoding="utf-8"))
    assert made.path in index.content
