"""An import before anything is written: rules and notes of a project folder, chats, and two files that are no good."""

import json
import tempfile
from pathlib import Path

from devflow.domain.knowledge import draft
from devflow.knowledge.acts import Actor
from devflow.ui.dialogs.transfer.found import FoundList
from devflow.ui.dialogs.transfer.import_dialog import ImportDialog
from tests.shots.stage import Stage

LOCK = {
    "en": (
        "Take the write lock before the first read",
        "A transaction that reads first and writes later gets `database is locked` at once: use `BEGIN IMMEDIATE`.",
        " Keep what needs a model outside of it.",
    ),
    "zh": (
        "先拿写锁，再做第一次读",
        "先读后写的事务会立刻得到 `database is locked`：用 `BEGIN IMMEDIATE` 开始。",
        "需要等模型的步骤放到事务外面。",
    ),
}


async def importing(stage: Stage) -> None:
    title, content, more = LOCK["zh" if stage.zh else "en"]
    folder = Path(stage.on_close.enter_context(tempfile.TemporaryDirectory())) / "inkwell-server"
    entry = draft(kind="pitfall", title=title, content=content)
    done = await stage.core.knowledge.knowledge_create(entry, actor=Actor.user())
    _write(stage, folder, title, content, more)
    dialog = ImportDialog(stage.window.ctx, [folder], stage.window)
    dialog.open()
    stage.target = dialog
    await dialog.looked
    dialog.list.setCurrentIndex(dialog.list.model().index(_row(dialog.list, title), 0))
    await stage.settled()
    await stage.core.knowledge.knowledge_erase(done.entries[0].id, actor=Actor.user())


def _row(found: FoundList, title: str) -> int:
    return next(row for row in range(found.model().rowCount()) if found.model().index(row, 0).data() == title)


def _write(stage: Stage, folder: Path, title: str, content: str, more: str) -> None:
    rules = stage.say(
        "# Inkwell\n\n## Errors\n\nReturn a problem, never throw.\n\n## Tests\n\nEvery mended bug has one.\n",
        "# Inkwell\n\n## 错误处理\n\n返回问题对象，不要抛异常。\n\n## 测试\n\n修过的缺陷都要有测试。\n",
    )
    name = stage.say("Roll back a release", "回滚一次发布")
    deploy = stage.say("Point the link at the release before, then restart.", "把链接指回上一个版本，再重启服务。")
    asked = stage.say("Why is the page torn?", "为什么页面写了一半？")
    answered = stage.say("The writer was killed between two pages.", "写进程在两页之间被结束了。")
    chat = {
        "uuid": "c",
        "name": asked,
        "created_at": "2026-11-20T10:00:00Z",
        "updated_at": "2026-11-20T10:05:00Z",
        "chat_messages": [
            {"uuid": "1", "sender": "human", "text": asked, "created_at": "2026-11-20T10:00:00Z"},
            {"uuid": "2", "sender": "assistant", "text": answered, "created_at": "2026-11-20T10:01:00Z"},
        ],
    }
    files = {
        "AGENTS.md": rules,
        ".cursor/rules/api.mdc": f"---\ndescription: {name}\nglobs: *.ts\n---\n{deploy}\n",
        "docs/locks.md": f"---\ntitle: {title}\nkind: pitfall\ntags: [sqlite]\n---\n{content}{more}\n",
        "docs/draft.md": "---\ntags: [a, b\n---\n",
        "conversations.json": json.dumps([chat]),
        "memory.jsonl": '{"type":"entity","name":"Ledger"}\n',
    }
    for path, text in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
