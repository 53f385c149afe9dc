"""Injection is stricter than search (spec 01): the right entry for a message about it, nothing for any other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from devflow.domain.knowledge import Status
from devflow.store import projects
from tests.benchmarks.retrieval.related import SUBJECTS
from tests.benchmarks.retrieval.small_talk import UNRELATED
from tests.support.search_library import SearchLibrary

LIBRARY = {
    "Redis locks need an expiry": "Use SET key value NX PX 30000. Without PX a crashed worker holds the lock forever.",
    "Retry with exponential backoff and jitter": "Without jitter all clients retry at the same moment after an outage.",
    "SQLite: writers must BEGIN IMMEDIATE": "A deferred transaction that upgrades gets SQLITE_BUSY at once.",
    "Docker layer cache order": "Copy the lock file and install dependencies before copying the sources.",
    "Review rule: no mutable default arguments": "A list as a default is shared between calls; use None.",
    "Prompt for release notes": "Summarise merged pull requests by user-visible effect, newest first, one line each.",
    "Kubernetes liveness probes restart slow starters": "Use a startupProbe for slow boots, or it restarts forever.",
    "Idempotency keys for payment webhooks": "The provider delivers twice. Store the event id, answer 200 for repeats.",
    "Time zones: store UTC": "Store instants in UTC and convert at the edge; naive datetimes are refused.",
    "Qt: never block the event loop": "Work longer than 50 ms goes to a thread; exec() inside a coroutine wedges it.",
    "Feature flags expire": "Every flag has an owner and a removal date; stale flags caused the March outage.",
    "Postgres index on foreign keys": "Deletes on the parent scan the child table without one.",
    "分布式锁要设置过期时间": "持有者崩溃后锁不会释放，用 SET NX PX 并由看门狗续期。",
    "缓存穿透用布隆过滤器": "不存在的键会直达数据库；先查布隆过滤器，再缓存空值。",
    "灰度发布先切百分之五流量": "观察错误率十分钟，再逐步放量；出现告警立刻回滚。",
    "消息队列消费要幂等": "消息至少投递一次，用业务主键去重，重复消费不产生副作用。",
    "代码评审清单：并发": "检查共享状态、锁的范围、超时与取消，别在持锁时调用外部服务。",
    "数据库连接池耗尽的诊断": "看活跃连接与慢查询；常见原因是事务里调用了远程接口。",
    "日志里不要打印令牌": "在日志过滤器中统一脱敏 Authorization 头和密钥。",
    "前端构建变慢的排查": "先看依赖是否重复打包，再用分析插件找最大的模块。",
    "MySQL 深分页用游标": "OFFSET 很大时改为按主键续查，避免扫描丢弃的行。",
    "线上 OOM 先留堆转储": "重启前执行 jmap，否则现场就没了；容器要挂载卷保存文件。",
}

RELATED = (
    ("Should my redis lock have an expiry?", "Redis locks need an expiry"),
    ("our worker crashed and the lock in redis is held forever", "Redis locks need an expiry"),
    ("how do we retry failed calls without hammering the server? jitter?", "Retry with exponential backoff and jitter"),
    ("add exponential backoff to the http client", "Retry with exponential backoff and jitter"),
    ("I get SQLITE_BUSY although the timeout is 15 seconds", "SQLite: writers must BEGIN IMMEDIATE"),
    ("sqlite database is locked when two writers upgrade", "SQLite: writers must BEGIN IMMEDIATE"),
    ("docker build reinstalls dependencies every time, layer cache?", "Docker layer cache order"),
    ("is a list as default argument ok in this review?", "Review rule: no mutable default arguments"),
    ("write the release notes for the merged pull requests", "Prompt for release notes"),
    ("the pod restarts forever, liveness probe fails at startup", "Kubernetes liveness probes restart slow starters"),
    ("payment webhook is delivered twice", "Idempotency keys for payment webhooks"),
    ("which timezone should we store datetimes in, UTC?", "Time zones: store UTC"),
    ("the Qt window freezes, is the event loop blocked?", "Qt: never block the event loop"),
    ("when do we remove a stale feature flag", "Feature flags expire"),
    ("deletes are slow in postgres, foreign keys without index?", "Postgres index on foreign keys"),
    ("分布式锁忘记设置过期时间会怎样？", "分布式锁要设置过期时间"),
    ("持有锁的进程崩溃了怎么办", "分布式锁要设置过期时间"),
    ("怎么防止缓存穿透？", "缓存穿透用布隆过滤器"),
    ("布隆过滤器适合什么场景", "缓存穿透用布隆过滤器"),
    ("灰度发布一开始切多少流量？", "灰度发布先切百分之五流量"),
    ("消息重复消费怎么保证幂等", "消息队列消费要幂等"),
    ("评审并发代码要检查哪些点", "代码评审清单：并发"),
    ("数据库连接池又耗尽了，怎么诊断？", "数据库连接池耗尽的诊断"),
    ("日志里打印了 token 令牌，如何脱敏", "日志里不要打印令牌"),
    ("前端构建越来越慢怎么排查", "前端构建变慢的排查"),
    ("MySQL 分页 OFFSET 太大很慢", "MySQL 深分页用游标"),
    ("线上 OOM 了，重启之前要做什么？", "线上 OOM 先留堆转储"),
    ("jmap 堆转储保存到哪里", "线上 OOM 先留堆转储"),
)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SearchLibrary]:
    opened = SearchLibrary(tmp_path_factory.mktemp("relevance"))
    for title, content in LIBRARY.items():
        opened.add(title, content)
    yield opened
    opened.close()


def test_messages_about_an_entry_get_it(library: SearchLibrary) -> None:
    missed = [message for message, title in RELATED if title not in library.inject(message)]
    assert len(missed) <= 0.15 * len(RELATED), missed


def test_messages_about_other_things_get_nothing(library: SearchLibrary) -> None:
    fired = {message: found for message in UNRELATED if (found := library.inject(message))}
    assert len(fired) <= 0.05 * len(UNRELATED), fired


@pytest.fixture(scope="module")
def subjects(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SearchLibrary]:
    opened = SearchLibrary(tmp_path_factory.mktemp("subjects"))
    for subject in SUBJECTS:
        opened.add(subject.title, subject.content)
    yield opened
    opened.close()


def test_of_two_hundred_messages_about_entries_most_get_the_right_one(subjects: SearchLibrary) -> None:
    asked = [(message, subject.title) for subject in SUBJECTS for message in subject.messages]
    missed = [message for message, title in asked if title not in subjects.inject(message)]
    assert len(asked) == 200
    assert len(missed) <= 0.15 * len(asked), missed


def test_of_two_hundred_greetings_and_other_messages_hardly_any_gets_one(subjects: SearchLibrary) -> None:
    fired = {message: found for message in UNRELATED if (found := subjects.inject(message))}
    assert len(UNRELATED) == 200
    assert len(fired) <= 0.05 * len(UNRELATED), fired


@pytest.mark.parametrize("message", ["Hello!", "谢谢", "继续", "what is this?", "那是什么", "do it", ""])
def test_a_message_without_content_terms_gets_nothing(library: SearchLibrary, message: str) -> None:
    assert library.inject(message) == []


def test_search_shows_what_injection_leaves_out(library: SearchLibrary) -> None:
    message = "the worker"
    assert library.find(message)
    assert library.inject(message) == []


@pytest.mark.parametrize(
    "message",
    [
        "What is the name of the harbour of our project? Answer in one short sentence.",
        "Which harbour is it? Please explain step by step, with examples, and list three alternatives at the end.",
        "The harbour's name?\n\n" + "2026-11-30 12:00:01 worker started, queue empty, nothing to do\n" * 40,
    ],
)
def test_wishes_and_pasted_logs_do_not_dilute_the_question(home: Path, message: str) -> None:
    opened = SearchLibrary(home)
    try:
        opened.add("The name of the harbour", "The harbour of our project is called Tangerine Bay.")
        assert opened.inject(message) == ["The name of the harbour"]
    finally:
        opened.close()


def test_entries_of_another_project_are_not_injected(home: Path, tmp_path: Path) -> None:
    opened = SearchLibrary(home)
    try:
        mine, other = (
            opened.database.run_write(lambda unit, name=name: projects.ensure(unit, tmp_path / name))
            for name in ("mine", "other")
        )
        opened.add("Redis locks here", "expiry of redis locks in this project", project_id=mine.id)
        opened.add("Redis locks there", "expiry of redis locks in the other project", project_id=other.id)
        opened.add("Redis locks everywhere", "expiry of redis locks")
        message = "which expiry for redis locks?"
        assert set(opened.inject(message, mine.id)) == {"Redis locks here", "Redis locks everywhere"}
        assert set(opened.inject(message, None)) == {"Redis locks everywhere"}
    finally:
        opened.close()


def test_only_published_entries_are_injected(home: Path) -> None:
    opened = SearchLibrary(home)
    try:
        for status in Status:
            opened.add(f"Redis lock expiry {status.value}", "words", status=status)
        assert opened.inject("what is the redis lock expiry?") == ["Redis lock expiry published"]
    finally:
        opened.close()
