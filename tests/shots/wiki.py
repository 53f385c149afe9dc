"""The wiki side, and `@` in the composer: a base about the back end, a smaller one, and one whose disk is away."""

import asyncio
import os
import tempfile
import time
from pathlib import Path

from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from devflow.ui.pages.chat import ChatPage
from devflow.ui.pages.knowledge import KnowledgePage
from tests.fakes.openai_server import OpenAIServer
from tests.shots.stage import Stage
from tests.support.pages import write

DAY_S = 86_400


async def wiki(stage: Stage) -> None:
    """One page of 214 is read; two digests came in a moment ago; three folders are folded."""
    folder = Path(stage.on_close.enter_context(tempfile.TemporaryDirectory()))
    bases = stage.core.bases
    notes = await bases.open(_notes(folder / stage.say("Backend notes", "后端笔记"), stage))
    await bases.open(_plain(folder / stage.say("Interface studies", "界面研究"), 58))
    gone = folder / stage.say("Old disk - archive", "旧硬盘 - 归档")
    await bases.open(_plain(gone, 1))
    gone.rename(folder / "away")
    await stage.core.settings.update(
        "wiki_view", folded={notes.id: ["sources", "entities", "comparisons"]}, side="wiki"
    )
    page = _page(stage)
    await page.wiki._begin()
    await stage.show("knowledge")
    page._choose(1)
    page.wiki._base_chosen(notes)
    await stage.settled()
    stage.window.open_link(f"devflow:page/{notes.id}/wiki/topics/sqlite-wal.md")
    await stage.settled()
    for path in ("lock-wait-20261130", "pool-settings-20261130"):
        (folder / notes.name / f"wiki/synthesis/sessions/{path}.md").touch()
    await page.wiki._reader.ask()
    await stage.focus("pageList")
    page.wiki.pane.list.scrollToTop()
    await stage.settled()


async def wiki_search(stage: Stage) -> None:
    page = _page(stage)
    page.wiki.pane.search.setText("wal")
    await stage.focus("pageSearch")
    await asyncio.sleep(0.3)
    page.wiki.detail.why.button.setChecked(True)
    await stage.settled()


async def chat_completion(stage: Stage) -> None:
    """A page is being named in a question."""
    _page(stage).wiki.pane.search.clear()
    await stage.show("chat")
    page = stage.window.page("chat")
    assert isinstance(page, ChatPage)
    await stage.settled()
    page.composer.set_text("")
    await stage.focus("composer")
    field = stage.find(QWidget, "composer")
    QTest.keyClicks(field, stage.say("What does @", "@"))
    QTest.keyClicks(field, "l")
    for _ in range(100):
        if page.completion.popup.isVisible():
            break
        await asyncio.sleep(0.02)
    page.completion.popup.step(1)
    await stage.settled()


async def chat_pages(stage: Stage) -> None:
    """The page that was named is answered from; what was given stands beside the answer."""
    page = stage.window.page("chat")
    assert isinstance(page, ChatPage)
    page.composer.set_text("")
    if isinstance(stage.model_server, OpenAIServer):
        stage.model_server.script(
            stage.say(
                "A reader that stays open keeps the checkpoint from starting over, so the log only grows."
                " The page advises short reads, and `wal_checkpoint(TRUNCATE)` when nobody reads [1].",
                "长时间不结束的读事务会让检查点无法从头开始，日志只增不减。页面建议缩短读事务，"
                "并在没有读者时执行 `wal_checkpoint(TRUNCATE)` [1]。",
            )
        )
    page.acts.send(
        stage.say(
            "Why does the log keep growing, and what does [[wiki/topics/sqlite-wal.md]] advise?",
            "日志为什么会一直变大，[[wiki/topics/sqlite-wal.md]] 建议怎么做？",
        )
    )
    for _ in range(200):
        if page.session.turns and not page.session.turns[-1].open_run:
            break
        await asyncio.sleep(0.02)
    page.panes.want_sources(True)
    await stage.settled()


def _page(stage: Stage) -> KnowledgePage:
    page = stage.window.page("knowledge")
    assert isinstance(page, KnowledgePage)
    return page


def _plain(folder: Path, count: int) -> Path:
    return write(folder, {f"wiki/topics/n{number:03}.md": f"# Note {number}" for number in range(count)})


def _notes(folder: Path, stage: Stage) -> Path:
    """The pages of the picture, then as many more as make the counts."""
    say = stage.say
    topics = {
        "sqlite-wal": (say("SQLite WAL and checkpoints", "SQLite 的 WAL 与检查点"), 0.0, _wal(stage)),
        "structured-concurrency": (say("Cancellation, structured", "取消与结构化并发"), 1.0, ""),
        "incremental-markdown": (say("Incremental Markdown rendering", "增量渲染 Markdown"), 5.0, ""),
        "retry-backoff": (say("Retry, back-off, idempotency", "重试、退避与幂等"), 9.0, ""),
    }
    sessions = {
        "lock-wait-20261130": (say("Lock-wait experiment notes", "锁等待实验记录"), 0.0, ""),
        "pool-settings-20261130": (say("Pool settings compared", "连接池参数对照"), 0.0, ""),
        "release-review-20261126": (say("Release process review", "发布流程复盘"), 4.0, ""),
    }
    filler = say("Notes, part {}", "笔记，第 {} 篇")
    folder.mkdir(parents=True)
    (folder / ".wiki-schema.md").touch()
    for name, (title, days, text) in topics.items():
        _put(folder / f"wiki/topics/{name}.md", f"# {title}\n\n{text or title}", days)
    for name, (title, days, text) in sessions.items():
        _put(
            folder / f"wiki/synthesis/sessions/{name}.md",
            f"---\nmade_by: digest\n---\n\n# {title}\n\n{text or title} [[wiki/topics/sqlite-wal.md]]",
            days + 0.01,
        )
    for key, count in (
        ("topics", 0),
        ("synthesis/sessions", 38),
        ("sources", 63),
        ("entities", 19),
        ("comparisons", 5),
    ):
        for number in range(count):
            title = filler.format(number + 1)
            _put(folder / f"wiki/{key}/part-{number:03}.md", f"# {title}\n\n{title}", 20 + number)
    for number in range(82):
        title = filler.format(number + 1)
        _put(folder / f"wiki/topics/part-{number:03}.md", f"# {title}\n\n{title}", 20 + number)
    return folder


def _put(file: Path, text: str, days: float) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    at = time.time() - days * DAY_S
    os.utime(file, (at, at))


def _wal(stage: Stage) -> str:
    return stage.say(
        "WAL lets one writer and many readers work together: each reader keeps the snapshot it began with, and the"
        " writer appends new pages to the log.\n\n## When the log keeps growing\n\nA checkpoint can advance only to the"
        " oldest reader, so a read that never ends keeps the log from being reclaimed.\n\n"
        "- Close reads when done; never hold one across a wait.\n- Run a truncating checkpoint before exit.\n"
        "- See [[wiki/topics/retry-backoff.md]]\n\n"
        "```sql\nPRAGMA wal_checkpoint(TRUNCATE);   -- before exit\n```\n",
        "WAL 让一个写者与多个读者同时工作：读者看到自己开始时的快照，写者把新页追加到日志末尾。\n\n"
        "## 什么时候日志会一直变大\n\n检查点只能推进到最老的读者为止。长时间不结束的读事务会让日志无法回收。\n\n"
        "- 读事务用完即关，不跨越一次等待。\n- 退出前执行一次截断检查点。\n- 参见 [[wiki/topics/retry-backoff.md]]\n\n"
        "```sql\nPRAGMA wal_checkpoint(TRUNCATE);   -- 退出前\n```\n",
    )
