"""`devflow conversation …`: the conversations there are, and one of them as a file for others."""

from __future__ import annotations

import asyncio
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from devflow.cli.output import Output, one_line
from devflow.cli.parser import Acts, Parser
from devflow.domain.errors import Refused
from devflow.domain.messages import N_
from devflow.knowledge.as_json import instant_json

if TYPE_CHECKING:
    from devflow.app.core import Core
    from devflow.domain.conversation import Conversation
    from devflow.sharing.conversation import SharedConversation
    from devflow.sharing.service import TextFormat


def add(parser: Parser) -> None:
    acts = Acts(parser)
    listed = acts.add("list", _list, "The conversations, pinned ones first, then the newest.")
    listed.add_argument("query", metavar="QUERY", nargs="?", default="", help="only those that contain this")
    listed.add_argument("--limit", metavar="N", type=int, default=50, help="at most so many (50)")
    export = acts.add(
        "export", _export, "A conversation as Markdown or HTML: questions, answers, sources; secrets are taken out."
    )
    export.add_argument("conversation", metavar="ID", help="a conversation's id")
    export.add_argument("--format", choices=("markdown", "html"), help="by default what FILE ends in, else markdown")
    export.add_argument("--output", "-o", metavar="FILE", type=Path, help="a file instead of standard output")
    export.add_argument("--overwrite", action="store_true", help="replace FILE if it is there")


async def _list(core: Core, args: Namespace, output: Output) -> int:
    from devflow.cli.show import local

    found = await core.conversations.list(args.query, limit=max(1, args.limit))
    if output.json:
        output.value([_as_json(each) for each in found])
        return 0
    for each in found:
        title = one_line(each.title) or output.t("New conversation")
        output.line(f"{each.id}  {local(each.updated_at)}  {title}")
    if not found:
        output.note(output.t("No conversations."))
    return 0


async def _export(core: Core, args: Namespace, output: Output) -> int:
    target: Path | None = args.output
    format: TextFormat = args.format or _format_of(target)
    if target is not None:
        if await asyncio.to_thread(target.exists) and not args.overwrite:
            raise Refused(N_("{path} is there already."), N_("Name another file, or add --overwrite."), path=target)
        await core.sharing.write(args.conversation, format, target, output.t)
        output.value({"path": str(target)}) if output.json else output.line(str(target))
        return 0
    if output.json:
        output.value(_shared_json(await core.sharing.read(args.conversation)))
    else:
        output.text(await core.sharing.text(args.conversation, format, output.t))
    return 0


def _format_of(target: Path | None) -> TextFormat:
    return "html" if target is not None and target.suffix.lower() in (".html", ".htm") else "markdown"


def _as_json(each: Conversation) -> dict[str, Any]:
    return {
        "id": each.id,
        "title": each.title,
        "origin": each.origin.value,
        "project": each.project.name if each.project is not None else None,
        "kb_id": each.kb_id,
        "pinned": each.pinned,
        "created_at": instant_json(each.created_at),
        "updated_at": instant_json(each.updated_at),
    }


def _shared_json(shared: SharedConversation) -> dict[str, Any]:
    return {
        "title": shared.title,
        "kb": shared.base or None,
        "project": shared.project or None,
        "messages": [
            {
                "role": each.role.value,
                "text": each.text,
                "at": instant_json(each.at),
                "model": each.model or None,
                "complete": not each.partial,
                "calls": [{"tool": call.tool, "target": call.target, "state": call.state.value} for call in each.calls],
            }
            for each in shared.messages
        ],
        "sources": [
            {"title": each.title, "path": each.path or None, "mark": each.mark or None} for each in shared.sources
        ],
        "redacted": dict(shared.redacted),
    }
