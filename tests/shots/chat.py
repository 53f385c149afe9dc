"""The chat at work: waiting for an approval, streaming with a queued message, and stopped."""

import asyncio
import tempfile
from collections.abc import Callable
from pathlib import Path

from PySide6.QtWidgets import QDialog

from devflow.domain.conversation import ModelChoice
from devflow.domain.knowledge import draft
from devflow.domain.provider import ProviderDraft, Roles
from devflow.knowledge.acts import Actor
from devflow.ui.pages.chat import ChatPage
from tests.fakes.openai_server import Call, Gate, OpenAIServer, Turn
from tests.shots.stage import Stage

_BEFORE = "\n".join(
    [
        '"""How the store is opened."""',
        *("" for _ in range(16)),
        "@contextmanager",
        "def write_tx(engine):",
        "    with engine.begin() as conn:",
        "        yield conn",
        "",
    ]
)
_AFTER = _BEFORE.replace(
    "    with engine.begin() as conn:\n        yield conn\n",
    '    with engine.connect() as conn:\n        conn.exec_driver_sql("BEGIN IMMEDIATE")\n'
    "        yield conn\n        conn.commit()\n",
)
_CODE = (
    "\n\n```python\n# {}\nwith engine.connect() as conn:\n"
    '    conn.exec_driver_sql("BEGIN IMMEDIATE")\n    yield conn\n```\n'
)


async def chat_approval(stage: Stage) -> None:
    """A question answered from two entries, two files read, and a third call that asks."""
    server = stage.on_close.enter_context(OpenAIServer(models=["qwen3-coder:30b"], context_window=32_000))
    await _set_up(stage, server)
    page = await _page(stage)
    page.start_new()
    page.acts.set_project(await stage.core.projects.ensure(await asyncio.to_thread(_project, stage)))
    answer = stage.say(
        "Both sides open a deferred transaction: read first, write later. If someone else wrote in between, the upgrade"
        " fails at once and `busy_timeout` never applies [K1]. Take the write lock at the start and let the connection"
        " wait [K2]:",
        "原因是两边都用延迟事务开始：先读、后写，升级为写事务时若已有别的写入，SQLite 立即返回忙，`busy_timeout` 不参与"
        " [K1]。写事务改为一开始就取写锁即可，等待交给连接 [K2]：",
    )
    comment = stage.say("a write transaction holds the lock from its first step", "写事务从第一步就持有写锁")
    reads = [Call("list_dir", {"path": "store"}), Call("read_file", {"path": "store/engine.py"})]
    writes = Call("write_file", {"path": "store/engine.py", "content": _AFTER})
    server.script(Turn(answer + _CODE.format(comment), calls=reads), Turn("", calls=[writes]))
    question = stage.say(
        "When the MCP server and the window write at once we sometimes get `database is locked`."
        " How should the store layer change?",
        "MCP 服务和窗口同时写库时，偶尔报 `database is locked`。看看 store 层该怎么改。",
    )
    page.acts.send(question)
    await _until(lambda: page.transcript.card() is not None)
    assert page.session.id is not None
    title = stage.say("SQLite write lock", "SQLite 写锁与并发")
    await stage.core.conversations.rename(page.session.id, title)
    await stage.settled()
    stage.window.setFocus()


async def always_allow(stage: Stage) -> None:
    """The rule in full, before it is made; the card stays as it was."""
    await _page(stage)
    await stage.click("alwaysAllowButton")
    await stage.settled(dialog=True)
    stage.target = stage.find(QDialog, "alwaysAllowDialog")


async def chat_streaming(stage: Stage) -> None:
    """The call was allowed; the next answer streams while another message is queued."""
    page = await _page(stage)
    card = page.transcript.card()
    assert card is not None
    more = stage.say(
        "The callers, checked one by one:\n\n| Where | Transaction | Change |\n|---|---|---|\n"
        "| `entries.py:42` | read only | none |\n| `entries.py:118` | read, then write | write_tx |\n"
        "| `events.py:57` | write only | write_tx |\n\nThe read can stay. Next I will bring both write paths to a"
        " single entry, so that no caller can forget the",
        "逐个检查调用方：\n\n| 位置 | 事务 | 改动 |\n|---|---|---|\n| `entries.py:42` | 只读 | 无 |\n"
        "| `entries.py:118` | 先读后写 | write_tx |\n| `events.py:57` | 只写 | write_tx |\n\n"
        "只读的可以不动。下一步把两条写路径收到同一个入口，避免调用方忘记",
    )
    assert isinstance(stage.model_server, OpenAIServer)
    stage.model_server.script(Turn([more, Gate()]))
    card.foot.approve.click()
    await _until(lambda: page.transcript.blocks[-1].turn.working and len(page.transcript.blocks[-1].answers) == 3)
    page.acts.send(stage.say("Then add a test with two processes writing at once", "再加一个两个进程同时写的测试"))
    await _until(page.composer.queue.isVisible)
    await _until(lambda: more.split("|")[0] in _shown(page))
    await stage.settled()


async def chat_stopped(stage: Stage) -> None:
    """Stopped in the middle: the text is kept, and there is a way on."""
    page = await _page(stage)
    page.acts.set_queued("")
    await _until(lambda: not page.composer.queue.isVisible())
    page.acts.stop()
    await _until(lambda: not page.session.turns[-1].open_run)
    await stage.settled()


def _project(stage: Stage) -> Path:
    folder = Path(stage.on_close.enter_context(tempfile.TemporaryDirectory())) / "inkwell-server"
    (folder / "store").mkdir(parents=True)
    (folder / "store" / "engine.py").write_text(_BEFORE, encoding="utf-8")
    return folder


async def _set_up(stage: Stage, server: OpenAIServer) -> None:
    stage.model_server = server
    config = await stage.core.models.add(
        ProviderDraft("Ollama", server.base_url, "ollama", models=tuple(server.models))
    )
    await stage.core.models.save_roles(Roles(main=ModelChoice(config.id, server.models[0])))
    for kind, title, content in (
        (
            "pitfall",
            stage.say("A deferred transaction does not wait when it upgrades", "延迟事务升级为写事务时不等锁"),
            stage.say(
                "When the MCP server and the window write at once, `database is locked` comes from a transaction that"
                " reads first: upgrading it returns SQLITE_BUSY at once. Take the write lock at the start.",
                "MCP 服务和窗口同时写库时报 `database is locked`：读事务里再写会立刻得到 SQLITE_BUSY，"
                "busy_timeout 不生效。写事务一开始就取写锁。",
            ),
        ),
        (
            "architecture_pattern",
            stage.say("One thread owns every write connection", "一个线程拥有全部写连接"),
            stage.say(
                "The window and the MCP server write through one store layer and meet only at transaction edges; keep"
                " those short, and nobody sees `database is locked`.",
                "MCP 服务和窗口同时写库时只在事务边界相遇，事务保持短小；store 层只用一个写连接，"
                "就不会偶尔报 `database is locked`。",
            ),
        ),
    ):
        knowledge = stage.core.knowledge
        made = await knowledge.knowledge_create(draft(kind=kind, title=title, content=content), actor=Actor.user())
        await knowledge.knowledge_approve(made.entries[0].id, actor=Actor.user())


async def _page(stage: Stage) -> ChatPage:
    await stage.show("chat")
    page = stage.window.page("chat")
    assert isinstance(page, ChatPage)
    return page


def _shown(page: ChatPage) -> str:
    blocks = page.transcript.blocks[-1].answers.values()
    return "".join(block.text.source for block in blocks if block.text is not None)


async def _until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not condition():  # noqa: ASYNC110  # pictures are taken, nothing is measured
            await asyncio.sleep(0.02)
