"""A library as it looks after some months, and an inbox that fills: for the pictures of both pages."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from sqlalchemy import text

from devflow.app.core import Core
from devflow.domain.ids import now
from devflow.domain.knowledge import EntryEdit, Evidence, draft
from devflow.knowledge.acts import Actor
from devflow.store import citations, entries
from devflow.store.database import Unit

Say = Callable[[str, str], str]
DAY = 24 * 60
USER, AI = Actor.user(), Actor.ai()


@dataclass(frozen=True, slots=True)
class Row:
    """`minutes` is how long ago it changed."""

    kind: str
    title: str
    content: str
    tags: tuple[str, ...] = ()
    minutes: int = 5
    confidence: float = 1.0
    reused: int = 0
    source: str = "manual"
    project_id: str | None = None
    evidence: Evidence | None = None


@dataclass(slots=True)
class Seeded:
    """Ids of what a scene points at."""

    first: str = ""
    others: list[str] = field(default_factory=list)


async def seed_library(core: Core, say: Say) -> Seeded:
    """Published entries of every age; the first has a life worth looking at, and a contradiction."""
    chat = await core.conversations.create()
    await core.conversations.rename(chat.id, say("lock hunt", "写锁排查"))
    rows = _published(say, f"conv:{chat.id}")
    seeded = Seeded()
    for row in rows:
        id = await _add(core, row, AI if row.source.startswith("conv") else USER)
        await core.knowledge.knowledge_approve(id, actor=USER)
        seeded.others.append(id)
    seeded.first = seeded.others[0]
    before = await core.knowledge.knowledge_get(seeded.first)
    content = before.content.replace(
        say("Raise `busy_timeout` to 30 s.", "把 `busy_timeout` 调大到 30 s。"),
        say("Start write transactions with `BEGIN IMMEDIATE`.", "写事务请以 `BEGIN IMMEDIATE` 开始。"),
    )
    await core.knowledge.knowledge_update(seeded.first, EntryEdit(before.version, content=content), actor=USER)
    await _cite(core, seeded.first, say)
    detail = {"conversation": chat.id, "message": ""}
    for id, row in zip(seeded.others, rows, strict=True):
        for _ in range(row.reused):
            await core.knowledge.knowledge_record_reuse(id, actor=AI, detail=detail)
        await _age(core, id, row.minutes)
    contrary = next(id for id, row in zip(seeded.others, rows, strict=True) if row.reused == 0)
    await core.db.write(lambda unit: entries.link(unit, seeded.first, contrary, "conflict", 1.0))
    for row in _put_away(say):
        id = await _add(core, row, USER)
        await core.knowledge.knowledge_archive(id, actor=USER, reason="outdated")
    return seeded


async def _cite(core: Core, entry_id: str, say: Say) -> None:
    """Three conversations whose answers cite the entry."""
    for question in (
        say("Why is it busy?", "为什么一直忙？"),
        say("Who writes?", "谁在写？"),
        say("And now?", "现在呢？"),
    ):
        chat = await core.conversations.create()
        run = await core.turns.send(chat.id, question)
        await core.turns.wait(run.id)
        answer = (await core.conversations.path(chat.id)).messages[-1].id
        await core.db.write(lambda unit, answer=answer: citations.record(unit, answer, entry_id))


async def seed_inbox(core: Core, say: Say, folder: Path) -> Seeded:
    """Candidates with evidence in a real conversation, one of them like a published entry."""
    await asyncio.to_thread(lambda: folder.mkdir(parents=True, exist_ok=True))
    project = await core.projects.ensure(folder)
    chat, message_id = await _chat(core, say)
    seeded = Seeded()
    for row in _proposed(say, f"conv:{chat}", project.id, message_id):
        id = await _add(core, row, AI)
        await _age(core, id, row.minutes)
        seeded.others.append(id)
    seeded.first = seeded.others[0]
    published = (await core.knowledge.knowledge_list(limit=50)).entries
    like = next(entry for entry in published if entry.content.startswith(say("When a bounded queue", "有界队列满时")))
    links = {seeded.first: (like,), seeded.others[2]: published[:1], seeded.others[5]: published[1:2]}

    def link(unit: Unit) -> None:
        for id, others in links.items():
            for other in others:
                entries.link(unit, id, other.id, "similar", 0.84)

    await core.db.write(link)
    return seeded


async def _chat(core: Core, say: Say) -> tuple[str, str]:
    """A conversation of three turns with the offline assistant; the third question is the evidence."""
    chat = await core.conversations.create()
    questions = (
        say("The worker keeps writing files after I press stop.", "点了停止它还在写文件。"),
        say("Where do control events go?", "控制事件走哪条队列？"),
        say(
            "I pressed stop and it kept writing files. The log has one line: QueueFull.",
            "点了停止它还在写文件，日志里只有一行 QueueFull。",
        ),
    )
    for question in questions:
        run = await core.turns.send(chat.id, question)
        await core.turns.wait(run.id)
    await core.conversations.rename(chat.id, say("job runs after cancel", "取消后任务仍在跑"))
    messages = (await core.conversations.path(chat.id)).messages
    return chat.id, messages[4].id


async def _add(core: Core, row: Row, actor: Actor) -> str:
    made = draft(
        kind=row.kind,
        title=row.title,
        content=row.content,
        tags=row.tags,
        confidence=row.confidence,
        project_id=row.project_id,
        source_ref=row.source,
        evidence=row.evidence,
    )
    if actor == USER:
        return (await core.knowledge.knowledge_create(made, actor=USER)).entries[0].id
    return (await core.knowledge.knowledge_submit([made], actor=actor)).entries[0].id


async def _age(core: Core, id: str, minutes: int) -> None:
    """Move an entry's life into the past: its last change so many minutes ago, its uses after that."""

    def work(unit: Unit) -> None:
        bind = unit.session.connection()
        changed_at = now() - timedelta(minutes=minutes)
        rows = bind.execute(text("SELECT rowid, event FROM entry_events WHERE entry_id = :id ORDER BY id"), {"id": id})
        events = rows.all()
        changes = [row for row, event in events if event != "reused"]
        uses = [row for row, event in events if event == "reused"]
        at = {row: changed_at - timedelta(hours=19 * back) for back, row in enumerate(reversed(changes))}
        at |= {row: changed_at + timedelta(minutes=minutes * n / (len(uses) + 1)) for n, row in enumerate(uses, 1)}
        for row, moment in at.items():
            bind.execute(text("UPDATE entry_events SET at = :at WHERE rowid = :row"), {"at": _sql(moment), "row": row})
        values = {"id": id, "created": _sql(at[changes[0]]), "updated": _sql(changed_at)}
        bind.execute(text("UPDATE entries SET created_at = :created, updated_at = :updated WHERE id = :id"), values)
        bind.execute(text("UPDATE search_docs SET updated_at = :updated WHERE entry_id = :id"), values)
        unit.changed("entry", id)

    await core.db.write(work)


def _sql(moment: datetime) -> str:
    return moment.replace(tzinfo=None).isoformat(sep=" ")


def _published(say: Say, chat: str) -> tuple[Row, ...]:
    return (
        Row(
            "pitfall",
            say("A deferred transaction does not wait when it upgrades", "延迟事务升级为写事务时不等锁"),
            say(
                "A deferred transaction that reads and then writes fails at once with `SQLITE_BUSY` if another "
                "connection wrote meanwhile; `busy_timeout` plays no part. Raise `busy_timeout` to 30 s.",
                "用默认的延迟事务先读再写，升级时如果别的连接已经写过，会立即返回 `SQLITE_BUSY`，"
                "`busy_timeout` 不参与。把 `busy_timeout` 调大到 30 s。",
            ),
            ("sqlite", say("concurrency", "并发")),
            2 * DAY,
            0.92,
            7,
            chat,
        ),
        Row(
            "architecture_pattern",
            say("One thread owns every write connection", "一个线程拥有全部写连接"),
            say("Short transactions; each reader has its own snapshot.", "事务保持短小，读者各用各的快照。"),
            ("sqlite", "asyncio"),
            2 * DAY + 60,
            0.9,
            3,
        ),
        Row(
            "review_rule",
            say("Back up before a migration alters a table", "迁移脚本先备份再改表"),
            say("Check in review that the way back runs.", "评审时确认回退路径可执行。"),
            ("sqlite", say("release", "发布")),
            5 * DAY,
            1.0,
            12,
        ),
        Row(
            "diagnosis",
            say("Dropped frames come from relaying out everything", "流式渲染掉帧来自整篇重排"),
            say("Repaint the open block only; freeze the rest.", "只重绘未完成的块，其余冻结。"),
            ("qt",),
            8 * DAY,
            0.8,
            5,
        ),
        Row(
            "deployment_note",
            say("Strip debug symbols before signing", "签名前先剥离调试符号"),
            say("The other order breaks the signature.", "顺序反了会让签名失效。"),
            (say("release", "发布"),),
            9 * DAY,
            1.0,
            2,
        ),
        Row(
            "prompt_template",
            say("Restate constraints, then propose", "先复述约束再给方案"),
            say("For refactors that touch a lot.", "适合改动面大的重构。"),
            (say("prompts", "提示"),),
            15 * DAY,
            1.0,
            9,
        ),
        Row(
            "workflow_optimization",
            say("Put the lock-file hash in the cache key", "缓存键包含锁文件哈希"),
            say("Hit rate rose from 40 % to 91 %.", "命中率从 40% 升到 91%。"),
            ("ci",),
            22 * DAY,
            1.0,
            4,
        ),
        Row(
            "pitfall",
            say("Enter while composing is not send", "输入法组词时回车不是发送"),
            say("Check that the pre-edit text is empty.", "检查预编辑文本是否为空。"),
            ("qt", say("input", "输入法")),
            23 * DAY,
            1.0,
            6,
        ),
        Row(
            "review_rule",
            say("An error names both states", "错误信息要说出两种状态"),
            say("“Illegal transition” alone helps nobody.", "只说“非法转换”无法定位。"),
            (say("errors", "错误"),),
            35 * DAY,
            1.0,
            8,
        ),
        Row(
            "architecture_pattern",
            say("The window subscribes and never polls", "界面只订阅事件，不轮询"),
            say("A data version number shows foreign changes.", "跨进程变化靠数据版本号察觉。"),
            ("qt", "asyncio"),
            40 * DAY,
            1.0,
            3,
        ),
        Row(
            "diagnosis",
            say("Slow first paint: count disk syncs", "首屏慢先看磁盘同步次数"),
            say("One commit a row costs ten times.", "每行一次提交会放大十倍。"),
            ("sqlite", say("performance", "性能")),
            62 * DAY,
            0.7,
            2,
        ),
        Row(
            "prompt_template",
            say("Describe a bug as a failing test", "用失败的测试描述缺陷"),
            say("Assertion first, background second.", "先给断言，再给背景。"),
            (say("prompts", "提示"), "pytest"),
            70 * DAY,
            1.0,
            5,
        ),
        Row(
            "pitfall",
            say("Prefer deferred transactions for reads", "读多写少时用延迟事务"),
            say(
                "Reads under a deferred transaction see one snapshot; raise `busy_timeout` to 30 s for the rare write.",
                "延迟事务里的读只看一个快照；偶尔的写把 `busy_timeout` 调大到 30 s 即可。",
            ),
            ("sqlite",),
            90 * DAY,
            0.6,
            0,
        ),
        Row(
            "pitfall",
            say("Back-pressure must reach the caller", "有界队列的背压要让调用者知道"),
            say(
                "When a bounded queue is full, block the producer or raise `QueueFull`; do not drop data.\n\n"
                "When consumers slow down, throttle first, then scale.",
                "有界队列满时，生产者应阻塞或收到异常，不要丢弃数据。\n\n消费者变慢时先限流，再扩容。",
            ),
            ("asyncio",),
            95 * DAY,
            0.9,
            1,
        ),
    )


def _put_away(say: Say) -> tuple[Row, ...]:
    return (
        Row(
            "workflow_optimization",
            say("Restart the runner every night", "每晚重启构建机"),
            say("It leaked handles until version 3.", "第 3 版之前会泄漏句柄。"),
            ("ci",),
        ),
    )


def _proposed(say: Say, chat: str, project_id: str, message_id: str) -> tuple[Row, ...]:
    said = say(
        "I pressed stop and it kept writing files. The log has one line: QueueFull.",
        "点了停止它还在写文件，日志里只有一行 QueueFull。",
    )
    return (
        Row(
            "pitfall",
            say("A full queue silently drops cancel events", "队列满时静默丢弃取消事件"),
            say(
                "When a bounded queue is full, `put_nowait` raises `QueueFull` and the catch-all above swallows it; do "
                "not drop control events.\n\nWhen consumers slow down, throttle first, then scale.\n\n"
                "Give control events their own channel, or use `await put()` with a timeout.",
                "有界队列满时，`put_nowait` 抛出 `QueueFull`，上层的兜底捕获把它吞掉了；不要丢弃控制事件。\n\n"
                "消费者变慢时先限流，再扩容。\n\n控制事件走单独的无界通道，或用 `await put()` 加超时。",
            ),
            ("asyncio", say("cancellation", "取消"), say("back-pressure", "背压")),
            4,
            0.86,
            0,
            chat,
            project_id,
            Evidence((message_id,), said, "user"),
        ),
        Row(
            "review_rule",
            say("Every retry carries an idempotency key", "重试必须带幂等键"),
            say(
                "In review, look for the key first; without one, send the change back.",
                "评审网络写操作时先找幂等键，没有就退回。",
            ),
            ("http",),
            4,
            0.81,
            0,
            chat,
        ),
        Row(
            "deployment_note",
            say("Run the read-only health check before a rolling upgrade", "滚动升级前先跑只读健康检查"),
            say(
                "For ten minutes both versions run, and old replicas still get write requests.",
                "新旧版本并存的十分钟里，旧副本仍会收到写请求。",
            ),
            ("release",),
            31,
            0.77,
            0,
            chat,
        ),
        Row(
            "diagnosis",
            say("Cold start is slow in font enumeration", "冷启动慢在字体枚举"),
            say(
                "600 ms before the first window go to scanning system fonts.", "首个窗口前的 600 ms 花在扫描系统字体。"
            ),
            ("qt",),
            130,
            0.72,
            0,
            chat,
        ),
        Row(
            "prompt_template",
            say("Ask for assumptions before edits", "让模型先列假设再改代码"),
            say("Three lines: known, assumed, smallest change.", "三行模板：已知、假设、最小改动。"),
            (say("prompts", "提示"),),
            DAY + 60,
            0.66,
            0,
            chat,
        ),
        Row(
            "workflow_optimization",
            say("Move slow tests to the nightly run", "把慢测试移到夜间流水线"),
            say("Waiting to merge fell from 18 to 6 minutes.", "合并等待从 18 分钟降到 6 分钟。"),
            ("ci",),
            DAY + 90,
            0.58,
            0,
            chat,
        ),
        Row(
            "architecture_pattern",
            say("Append events, rebuild views", "事件表只追加，视图可重建"),
            say("When a query is slow, rebuild the view and leave history alone.", "查询慢时重建视图，不改历史。"),
            (say("events", "事件"),),
            2 * DAY,
            0.55,
            0,
            chat,
        ),
        Row(
            "pitfall",
            say("A missing time zone runs the nightly job twice", "时区缺失让夜间任务跑两次"),
            say("It fired twice in the hour the clock went back.", "夏令时回拨的一小时内触发了两次。"),
            ("cron",),
            2 * DAY + 30,
            0.5,
            0,
            chat,
        ),
    )
