"""Every scene of the screenshots, in the order of the contact sheet. A page's helper adds its own lines here."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from devflow.domain.knowledge import Evidence, draft
from devflow.knowledge.acts import Actor
from tests.shots.chat import chat_approval, chat_stopped, chat_streaming
from tests.shots.stage import Stage


@dataclass(frozen=True, slots=True)
class Scene:
    """`play` brings the window into the state of the picture; scenes build on each other, in this order."""

    name: str
    play: Callable[[Stage], Awaitable[None]]


async def welcome(stage: Stage) -> None:
    await stage.show("chat")


async def welcome_with_samples(stage: Stage) -> None:
    await stage.core.samples.load(stage.language, actor=Actor.user())
    await stage.settled()


async def chat_answered(stage: Stage) -> None:
    question = stage.core.samples.questions(stage.language)[0]
    conversation = await stage.core.conversations.create()
    stage.conversation_id = conversation.id
    run = await stage.core.turns.send(conversation.id, question)
    await stage.core.turns.wait(run.id)
    await stage.show("chat")
    stage.window.open_link(f"devflow:conversation/{conversation.id}")
    await stage.settled()


async def library(stage: Stage) -> None:
    await stage.show("knowledge")
    await stage.focus("entryList")


async def inbox(stage: Stage) -> None:
    await _propose(stage)
    await stage.show("inbox")
    await stage.focus("inboxList")


async def inbox_empty(stage: Stage) -> None:
    await stage.show("inbox")


def settings(page: str) -> Callable[[Stage], Awaitable[None]]:
    async def play(stage: Stage) -> None:
        await stage.open_settings(page)

    return play


SCENES: tuple[Scene, ...] = (
    Scene("welcome", welcome),
    Scene("welcome-samples", welcome_with_samples),
    Scene("inbox-empty", inbox_empty),
    Scene("chat", chat_answered),
    Scene("library", library),
    Scene("inbox", inbox),
    Scene("settings-providers", settings("providers")),
    Scene("settings-knowledge", settings("knowledge")),
    Scene("settings-appearance", settings("appearance")),
    Scene("settings-data", settings("data")),
    Scene("chat-approval", chat_approval),
    Scene("chat-streaming", chat_streaming),
    Scene("chat-stopped", chat_stopped),
)


async def _propose(stage: Stage) -> None:
    """Candidates as an extraction leaves them."""
    rows = (
        (
            "pitfall",
            0.86,
            stage.say("A full queue silently drops cancel events", "队列满时静默丢弃取消事件"),
            stage.say(
                "Do not send control events with `put_nowait`: a full queue raises `QueueFull` and the catch-all above"
                " swallows it. Give control events their own unbounded channel, or use `await put()` with a timeout.",
                "给执行器发控制事件时不要用 `put_nowait`：队列满会抛出 `QueueFull`，而上层的兜底捕获把它吞掉了。"
                "控制事件走单独的无界通道，或用 `await put()` 加超时。",
            ),
            ("asyncio", stage.say("cancellation", "取消"), stage.say("back-pressure", "背压")),
        ),
        (
            "review_rule",
            0.81,
            stage.say("Every retry carries an idempotency key", "重试必须带幂等键"),
            stage.say(
                "In review, look for the key first; without one, send the change back.",
                "评审网络写操作时先找幂等键，没有就退回。",
            ),
            ("http",),
        ),
        (
            "deployment_note",
            0.77,
            stage.say("Run the read-only health check before a rolling upgrade", "滚动升级前先跑只读健康检查"),
            stage.say(
                "For ten minutes both versions run, and old replicas still get write requests.",
                "新旧版本并存的十分钟里，旧副本仍会收到写请求。",
            ),
            ("release",),
        ),
        (
            "diagnosis",
            0.72,
            stage.say("Cold start is slow in font enumeration", "冷启动慢在字体枚举"),
            stage.say(
                "600 ms before the first window go to scanning system fonts.", "首个窗口前的 600 ms 花在扫描系统字体。"
            ),
            ("qt",),
        ),
        (
            "prompt_template",
            0.66,
            stage.say("Ask for assumptions before edits", "让模型先列假设再改代码"),
            stage.say("Three lines: known, assumed, smallest change.", "三行模板：已知、假设、最小改动。"),
            ("prompt",),
        ),
        (
            "workflow_optimization",
            0.58,
            stage.say("Move slow tests to the nightly run", "把慢测试移到夜间流水线"),
            stage.say("Waiting to merge fell from 18 to 6 minutes.", "合并等待从 18 分钟降到 6 分钟。"),
            ("ci",),
        ),
        (
            "architecture_pattern",
            0.55,
            stage.say("Append events, rebuild views", "事件表只追加，视图可重建"),
            stage.say(
                "When a query is slow, rebuild the view and leave history alone.", "查询慢时重建视图，不动历史。"
            ),
            ("events",),
        ),
    )
    path = await stage.core.conversations.path(stage.conversation_id)
    first = path.messages[0]
    said = Evidence((first.id,), first.content, first.role.value)
    source = f"conv:{stage.conversation_id}"
    drafts = [
        draft(
            kind=kind, title=title, content=content, tags=tags, confidence=confidence, source_ref=source, evidence=said
        )
        for kind, confidence, title, content, tags in rows
    ]
    await stage.core.knowledge.knowledge_submit(drafts, actor=Actor.ai())
    await stage.settled()
