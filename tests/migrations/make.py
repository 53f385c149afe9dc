"""Make the database file of the newest revision, with something in every table: `python -m tests.migrations.make`.

Run once when a schema is released; the file is kept and never made again, so that it stays what that release wrote.
"""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

from sqlalchemy import inspect

from devflow.domain.knowledge import EntryEdit, Evidence, Status
from devflow.store import schema
from devflow.store.database import Unit
from devflow.store.migrate import newest_revision
from tests.support.library import AI, USER, open_library

DATABASES = Path(__file__).parent / "databases"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        newest = asyncio.run(_fill(home))
        target = DATABASES / f"{newest}.db"
        if target.exists():
            raise SystemExit(f"{target} exists: a released schema's file is never made again")
        with closing(sqlite3.connect(home / "devflow.db")) as connection:
            connection.execute("PRAGMA journal_mode=DELETE")
            connection.execute("VACUUM")
        DATABASES.mkdir(exist_ok=True)
        shutil.copyfile(home / "devflow.db", target)
        print(f"{target.name}: {target.stat().st_size} bytes")


async def _fill(home: Path) -> str:
    async with open_library(home) as library:
        workspace = home / "a project"
        workspace.mkdir()
        project = await library.projects.ensure(workspace)
        for status in Status:
            await library.add(f"An entry that is {status}", status=status, tags=["SQLite", "锁"])
        entry = await library.add(
            "一条来自对话的知识",
            content="内容：先取锁 🔒\n\n```sql\nBEGIN IMMEDIATE\n```",
            project_id=project.id,
            source_ref="conv:conversation",
            confidence=0.7,
            evidence=Evidence(("message-1",), "先取锁", "user"),
        )
        await library.knowledge.knowledge_update(entry.id, EntryEdit(entry.version, title="改过的标题"), actor=USER)
        await library.knowledge.knowledge_approve(entry.id, actor=USER)
        await library.knowledge.knowledge_record_reuse(entry.id, actor=AI)
        gone = await library.add("Erased")
        await library.knowledge.knowledge_erase(gone.id, actor=USER)
        await library.settings.save("knowledge_config", {"min_messages": 7, "of_tomorrow": [1]})
        await library.db.write(lambda unit: _fill_the_rest(unit, entry.id, project.id))
        return newest_revision(library.paths.migrations)


def _fill_the_rest(unit: Unit, entry: str, project: str) -> None:
    """One row of every table that the library's acts do not fill."""
    at = unit.at
    other = unit.session.query(schema.EntryRow.id).filter(schema.EntryRow.id != entry).first()
    assert other is not None
    rows: list[schema.Base] = [
        schema.KnowledgeBaseRow(id="kb", name="Wiki", path="/somewhere/wiki", created_at=at, opened_at=at),
        schema.ConversationRow(
            id="conversation",
            title="A talk",
            origin="window",
            project_id=project,
            kb_id="kb",
            leaf_id="message-2",
            seq=4,
            provider_id="provider",
            model="small",
            draft={"text": "unsent", "references": []},
            queued="next",
            queued_skill={"name": "review", "source": "user", "text": "Review it."},
            created_at=at,
            updated_at=at,
        ),
        schema.MessageRow(
            id="message-1",
            conversation_id="conversation",
            role="user",
            content="怎么先取锁？",
            seq=1,
            state="complete",
            created_at=at,
            extracted_at=at,
        ),
        schema.RunRow(
            id="run",
            conversation_id="conversation",
            user_message_id="message-1",
            state="awaiting_approval",
            provider_id="provider",
            model="small",
            options={},
            skill={"name": "review", "source": "project", "text": "看一遍。"},
            created_at=at,
        ),
        schema.MessageRow(
            id="message-2",
            conversation_id="conversation",
            parent_id="message-1",
            run_id="run",
            role="assistant",
            content="As [K1] says.",
            reasoning="hm",
            seq=3,
            state="complete",
            usage={"input_tokens": 10, "output_tokens": 5},
            replay={"adapter": "anthropic", "blocks": [{"type": "redacted_thinking", "data": "…"}]},
            created_at=at,
        ),
        schema.ToolCallRow(
            id="call",
            run_id="run",
            message_id="message-2",
            position=0,
            wire_id="w1",
            tool="write_file",
            arguments="{}",
            arguments_hash="hash",
            state="awaiting",
            risk="writes",
            preview={"path": "a.txt"},
        ),
        schema.ReceiptRow(
            id="receipt",
            conversation_id="conversation",
            run_id="run",
            seq=2,
            phase="first",
            nonce="n",
            library={"is": "nothing_found"},
            pages={"is": "not_used", "why": "no_kb"},
            created_at=at,
        ),
        schema.EntryNumberRow(conversation_id="conversation", entry_id=entry, number=1),
        schema.CitationRow(message_id="message-2", entry_id=entry, created_at=at),
        schema.FeedbackRow(receipt_id="receipt", ref=entry, verdict=1, created_at=at),
        schema.EntryLinkRow(entry_id=entry, other_id=other[0], relation="similar", score=0.5, created_at=at),
        schema.EntryDismissalRow(
            one_id=min(entry, other[0]), other_id=max(entry, other[0]), one_hash="1", other_hash="2", created_at=at
        ),
        schema.ExtractionJobRow(
            id="job",
            conversation_id="conversation",
            last_message_id="message-2",
            trigger="on_complete",
            state="done",
            due_at=at,
            created_at=at,
            updated_at=at,
        ),
        schema.ProviderRow(
            id="provider",
            name="Local",
            adapter="openai_compat",
            preset="custom",
            base_url="http://127.0.0.1:1/v1",
            models=["small"],
            settings={},
            created_at=at,
            updated_at=at,
        ),
        schema.DigestBatchRow(
            id="batch",
            kb_id="kb",
            state="done",
            concurrency=3,
            force=False,
            provider_id="provider",
            model="small",
            created_at=at,
            updated_at=at,
        ),
        schema.EntryVectorRow(
            entry_id=entry,
            part=0,
            model="builtin/multilingual-e5-small",
            dimension=2,
            is_han=True,
            text_hash="hash",
            vector=b"\x00\x3c\x00\x00",
            created_at=at,
        ),
        schema.DigestFileRow(
            id="file",
            batch_id="batch",
            position=0,
            path="/somewhere/wiki/raw/文章.md",
            state="failed",
            trouble={"code": "no_content", "message": "The model wrote nothing."},
            updated_at=at,
        ),
    ]
    for row in rows:
        unit.session.add(row)
        unit.session.flush()
    empty = [
        name
        for name in inspect(unit.session.connection()).get_table_names()
        if name in schema.Base.metadata.tables and name != "changes"
        if not unit.session.connection().exec_driver_sql(f'SELECT count(*) FROM "{name}"').scalar()
    ]
    if empty:
        raise SystemExit(f"put a row into {empty}, so that migrations are tried on it")


if __name__ == "__main__":
    main()
