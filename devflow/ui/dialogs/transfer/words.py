"""What the import says of each piece, conversation and refusal."""

from __future__ import annotations

from typing import assert_never

from devflow.domain.messages import Translator
from devflow.transfer.pieces import Bad, Format
from devflow.transfer.preview import ChatRow, News, Row
from devflow.transfer.service import COMPARING, INDEXING, READING
from devflow.ui.models.words import kind_name, status_name


def format_name(t: Translator, format: Format) -> str:
    match format:
        case Format.DEVFLOW:
            return t("DevFlow library")
        case Format.MARKDOWN:
            return "Markdown"
        case Format.OBSIDIAN:
            return "Obsidian"
        case Format.BASIC_MEMORY:
            return "basic-memory"
        case Format.RULES:
            return t("Rules")
        case Format.MCP_MEMORY:
            return t("MCP memory")
        case Format.CHATGPT:
            return "ChatGPT"
        case Format.CLAUDE:
            return "Claude"
        case _:
            assert_never(format)


def row_detail(t: Translator, row: Row) -> str:
    """The line under a piece's title: its kind, where it stands, and what it resembles or repeats."""
    piece = row.piece
    where = f"{piece.file}:{piece.line}" if piece.line > 1 else piece.file
    return " · ".join(filter(None, (counterpart(t, row), kind_name(t, piece.draft.kind), where)))


def counterpart(t: Translator, row: Row) -> str:
    match row.news:
        case News.KNOWN if row.counterpart is None:
            return t("repeats itself, or was erased here")
        case News.KNOWN:
            assert row.counterpart is not None
            status = status_name(t, row.counterpart.status)
            return t("{status}: “{title}”", status=status, title=row.counterpart.title)
        case News.CHANGED:
            return t("changed since it was imported")
        case News.NEW if row.alike:
            return t(
                "like “{title}”, {percent} %", title=row.alike[0].entry.title, percent=round(row.alike[0].score * 100)
            )
        case News.NEW:
            return t("a secret was taken out") if row.redacted else ""
        case _:
            assert_never(row.news)


def chat_detail(t: Translator, row: ChatRow) -> str:
    own = row.chat.conversation
    count = t.n("{count} message", "{count} messages", len(own.messages))
    more = t.n("{count} new", "{count} new", row.added) if row.is_here and row.added else ""
    return " · ".join(filter(None, (format_name(t, row.chat.format), f"{own.updated_at:%Y-%m-%d}", count, more)))


def bad_name(bad: Bad) -> str:
    return f"{bad.file}:{bad.line}" if bad.line else bad.file


def bad_detail(t: Translator, bad: Bad) -> str:
    said, hint = bad.problem.render(t), bad.problem.render_hint(t)
    said = said[:1].upper() + said[1:]
    end = "" if said.endswith(("。", ".")) else t.p("end of a sentence", ".")
    return f"{said}{end} {hint}".strip()


def progress(t: Translator, what: str, done: int, total: int) -> str:
    match what:
        case _ if what == READING:
            return t("Reading {done} of {total}", done=f"{done:,}", total=f"{total:,}")
        case _ if what == COMPARING:
            return t("Comparing {done} of {total}", done=f"{done:,}", total=f"{total:,}")
        case _ if what == INDEXING:
            return t("Indexing {done} of {total}", done=f"{done:,}", total=f"{total:,}")
        case _:
            return t("Writing {done} of {total}", done=f"{done:,}", total=f"{total:,}")
