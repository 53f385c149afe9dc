"""`devflow import FILE…`: says what is new before anything is written; what is bad is named, the rest goes on."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from devflow.cli.output import Output, one_line
from devflow.cli.parser import Parser
from devflow.domain.errors import UserFacing
from devflow.domain.messages import Translator

if TYPE_CHECKING:
    from devflow.app.core import Core
    from devflow.transfer.pieces import Bad
    from devflow.transfer.preview import ChatRow, Preview, Row
    from devflow.transfer.service import Imported

ABOUT = (
    "A library that `devflow export` wrote comes back as it was where the library here is empty, its timeline"
    " included. Everything else comes in as candidates: Markdown folders and Obsidian vaults, notes of basic-memory,"
    " CLAUDE.md, AGENTS.md, .cursor/rules, .windsurfrules, the memory.jsonl of the MCP memory server, and the data"
    " exports of ChatGPT and Claude (their conversations, which are distilled only when you say so)."
)


def add(parser: Parser) -> None:
    parser.description = f"{parser.description} {ABOUT}"
    parser.add_argument("files", metavar="FILE", nargs="+", type=Path, help="a file, a folder or a zip")
    parser.add_argument("--dry-run", action="store_true", help="say what would be imported, and write nothing")
    parser.add_argument("--yes", "-y", action="store_true", help="do not ask on a terminal")
    parser.add_argument("--kind", metavar="K", help="the kind of every candidate, instead of a guess")
    parser.add_argument("--project", metavar="P", help="the project that the candidates hold for: a folder, or a name")
    parser.add_argument(
        "--candidates", action="store_true", help="take the entries of a library as candidates, even into an empty one"
    )
    parser.set_defaults(run=_run)


async def _run(core: Core, args: Namespace, output: Output) -> int:
    from devflow.cli.taking import actor, project_id

    home = await project_id(core.projects, args.project) if args.project and not args.dry_run else None
    paths = [path.expanduser() for path in args.files]
    seen = await core.transfer.preview(paths, kind=args.kind, restore=not args.candidates)
    done: Imported | None = None
    if not output.json:
        _tell(seen, output)
    if not args.dry_run and not seen.is_empty and (args.yes or output.json or _agrees(output)):
        done = await core.transfer.take(seen, actor=actor(), project_id=home)
        if done.restored:
            await core.transfer.index()
    if output.json:
        output.value(_json(seen, done, output))
    elif done is not None:
        _say_done(done, output)
    return 1 if seen.bad else 0


def _agrees(output: Output) -> bool:
    """A script has nobody to ask; it has asked by not saying `--dry-run`."""
    if sys.stdin is None or not sys.stdin.isatty() or not output.out.isatty():
        return True
    output.text(output.t("Import this? [y/N] "))
    output.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes", "j", "ja", "是", "好")


def _tell(seen: Preview, output: Output) -> None:
    t = output.t
    if seen.restored:
        output.line(
            t.n(
                "{count} entry comes back as it was, with its timeline: the library here is empty.",
                "{count} entries come back as they were, with their timelines: the library here is empty.",
                seen.restored,
            )
        )
    for row in seen.rows:
        output.line(_row_line(row, output))
    for chat in seen.chats:
        output.line(_chat_line(chat, output))
    if seen.read.ignored:
        ignored = t.n("{count} other file is left out.", "{count} other files are left out.", seen.read.ignored)
        output.note(ignored)
    for bad in seen.bad:
        output.note(_bad_line(bad, output))
    if seen.is_empty:
        output.note(t("Nothing new."))


def _row_line(row: Row, output: Output) -> str:
    from devflow.transfer.preview import News

    t, piece = output.t, row.piece
    where = f"{piece.file}:{piece.line}" if piece.line else piece.file
    title = one_line(piece.draft.title)
    alike = row.alike[0] if row.alike else None
    match row.news:
        case News.NEW if alike is not None:
            said = t("new, like “{title}” ({percent} %)", title=alike.entry.title, percent=round(alike.score * 100))
        case News.NEW:
            said = t("new")
        case News.CHANGED:
            said = t("changed since it was imported")
        case News.KNOWN:
            said = t("known")
    return f"{said:<8}  [{piece.draft.kind}] {title}  ({one_line(where)})"


def _chat_line(row: ChatRow, output: Output) -> str:
    t, chat = output.t, row.chat.conversation
    if not row.added:
        said = t("known")
    elif row.is_here:
        said = t.n("{count} new message", "{count} new messages", row.added)
    else:
        said = t("new")
    count = t.n("{count} message", "{count} messages", len(chat.messages))
    return f"{said:<8}  {one_line(chat.title)}  ({row.chat.format}, {count})"


def _bad_line(bad: Bad, output: Output) -> str:
    where = f"{bad.file}:{bad.line}" if bad.line else bad.file
    return one_line(f"devflow: {where}: {said_of(bad.problem, output.t)}")


def said_of(problem: UserFacing, t: Translator) -> str:
    """The problem is a clause, without a full stop, where a file's name stands before it."""
    message, hint = problem.render(t), problem.render_hint(t)
    return f"{message.rstrip('.')}. {hint}".strip()


def _say_done(done: Imported, output: Output) -> None:
    t = output.t
    if done.restored:
        output.line(t.n("{count} entry is restored.", "{count} entries are restored.", done.restored))
    if done.entries:
        output.line(
            t.n("{count} candidate is in the inbox.", "{count} candidates are in the inbox.", len(done.entries))
        )
    if done.conversations:
        told = t.n(
            "{count} conversation is in the list; `devflow extract ID` distils it.",
            "{count} conversations are in the list; `devflow extract ID` distils one.",
            len(done.conversations),
        )
        output.line(told)


def _json(seen: Preview, done: Imported | None, output: Output) -> dict[str, Any]:
    return {
        "restored": done.restored if done is not None else 0,
        "restorable": seen.restored,
        "entries": list(done.entries) if done is not None else [],
        "conversations": list(done.conversations) if done is not None else [],
        "operation": done.operation if done is not None and done.entries else None,
        "found": [_row_json(row) for row in seen.rows],
        "found_conversations": [
            {
                "id": row.chat.conversation.id,
                "title": row.chat.conversation.title,
                "format": row.chat.format.value,
                "file": row.chat.file,
                "messages": len(row.chat.conversation.messages),
                "new_messages": row.added,
            }
            for row in seen.chats
        ],
        "ignored": seen.read.ignored,
        "refused": [{"file": bad.file, "line": bad.line or None, **output.described(bad.problem)} for bad in seen.bad],
    }


def _row_json(row: Row) -> dict[str, Any]:
    piece = row.piece
    return {
        "news": row.news.value,
        "kind": piece.draft.kind.value,
        "title": piece.draft.title,
        "format": piece.format.value,
        "file": piece.file,
        "line": piece.line or None,
        "counterpart": row.counterpart.id if row.counterpart is not None else None,
        "similar": [{"id": each.entry.id, "score": round(each.score, 4)} for each in row.alike or ()],
    }
