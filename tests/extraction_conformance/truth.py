"""The ground truth: a transcript, and items that a model might find in it, each with words that were really said."""

from __future__ import annotations

import random
from typing import Any

from devflow.domain.knowledge import Kind
from devflow.extraction.transcript import Line

SAID = (
    "Take the write lock first: BEGIN IMMEDIATE avoids SQLITE_BUSY in the middle. A deferred transaction that upgrades "
    'gets "database is locked" at once, whatever the busy timeout. Set it with PRAGMA busy_timeout=5000.'
)
ASKED = "谢谢，原来写事务一开始就要取写锁。那么读事务呢？长时间的读事务会让日志一直变大，对吗？"
CODE = "Run `ruff check --fix .` before each commit;\n\tit's in `.pre-commit-config.yaml` (see {repo}/docs)."
LINES = (
    Line("m1", "user", "Why do I get the busy error when I upgrade?", new=False),
    Line("m2", "assistant", SAID, new=True),
    Line("m3", "user", ASKED, new=True),
    Line("m4", "assistant", CODE, new=True),
)

_QUOTES = (
    "BEGIN IMMEDIATE avoids SQLITE_BUSY in the middle",
    "A deferred transaction that upgrades",
    "Set it with PRAGMA busy_timeout=5000",
    "写事务一开始就要取写锁",
    "长时间的读事务会让日志一直变大",
    "before each commit",
)
_TITLES = (
    "Take the write lock first",
    "写事务先取锁",
    "An upgrade never waits",
    "读事务要短",
    "Lint before each commit: no exceptions, ever",
    "C++ and .NET say it's busy (0x5)",
)
_CONTENTS = (
    "Begin write transactions with BEGIN IMMEDIATE.",
    "写事务以 BEGIN IMMEDIATE 开始，不要先读再写；升级时不会等锁。",
    "Two steps:\n1. open the connection\n2. `PRAGMA busy_timeout=5000`\n\n```sql\nBEGIN IMMEDIATE;\n```",
    "Paths like C:\\data\\x.db need care, so do [brackets], {braces} and commas, all of them.",
    'Say "begin" first, and only then "read"; never the other way round.',
    "It's the reader's snapshot that holds the log; keep it short.",
)


def items(chance: random.Random) -> list[dict[str, Any]]:
    """One to five of them, told apart by their titles."""
    count = chance.randint(1, 5)
    return [
        {
            "kind": chance.choice([kind.value for kind in Kind]),
            "title": title,
            "content": chance.choice(_CONTENTS),
            "tags": chance.sample(["sqlite", "并发", "ci", "lint", "wal"], chance.randint(0, 3)),
            "confidence": chance.choice([0.0, 0.4, 0.75, 0.9]),
            "evidence": chance.choice(_QUOTES),
        }
        for title in chance.sample(_TITLES, count)
    ]
