"""`devflow kb …`: knowledge bases, the folders of Markdown pages that questions are answered from."""

from __future__ import annotations

import asyncio
from argparse import Namespace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from devflow.cli import kb_digest, kb_sediment
from devflow.cli.output import Output, one_line
from devflow.cli.parser import Acts, Parser
from devflow.domain.errors import InvalidInput, Refused
from devflow.domain.messages import N_
from devflow.knowledge.as_json import instant_json

if TYPE_CHECKING:
    from devflow.app.core import Core
    from devflow.domain.knowledge_base import KnowledgeBase
    from devflow.retrieval.pages import PageHit
    from devflow.store.page_file import PageRow


def add(parser: Parser) -> None:
    acts = Acts(parser)
    acts.add("list", _list, "The knowledge bases that were opened; the current one is marked.")
    acts.add("open", _open, "Open a folder that is a knowledge base, and make it the current one.").add_argument(
        "folder", metavar="DIR", type=Path, help="a folder with a wiki folder in it"
    )
    founding = acts.add("init", _init, "Make a folder a knowledge base; nothing is overwritten unasked.")
    founding.add_argument("folder", metavar="DIR", type=Path, help="a folder that is there")
    founding.add_argument("--purpose", metavar="P", required=True, help="what it is for, in a sentence")
    founding.add_argument(
        "--overwrite", action="store_true", help="replace files that are in the way; copies go into a backup folder"
    )
    acts.add("use", _use, "Make a knowledge base the current one.").add_argument(
        "base", metavar="KB", help="its folder, its name, or its id"
    )
    pages = acts.add("pages", _pages, "The pages of the current knowledge base.")
    search = acts.add("search", _search, "Search the current knowledge base as a question would.")
    search.add_argument("query", metavar="QUERY", help="words, or a question")
    search.add_argument("--ref", metavar="PATH", action="append", default=[], help="a page that comes first")
    search.add_argument("--limit", metavar="N", type=int, default=6, help="at most so many (6)")
    for parser_ in (pages, search):
        parser_.add_argument("--kb", metavar="KB", help="another than the current one: its folder, its name, or its id")
    kb_digest.add(acts, _chosen)
    kb_sediment.add(acts)


async def _list(core: Core, args: Namespace, output: Output) -> int:
    from devflow.wiki.registry import is_there

    bases, current = await core.bases.list(), await core.bases.current()
    rows = [{**_as_json(base), "current": base == current, "available": is_there(base)} for base in bases]
    if output.json:
        output.value(rows)
        return 0
    for row in rows:
        mark = "*" if row["current"] else " "
        gone = "" if row["available"] else "  " + output.t("(the folder is gone)")
        output.line(f"{mark} {one_line(row['name'])}  {one_line(row['path'])}{gone}")
    if not rows:
        output.note(output.t("No knowledge bases. Open a folder with `devflow kb open DIR`, or make one with init."))
    return 0


async def _open(core: Core, args: Namespace, output: Output) -> int:
    base = await core.bases.open(args.folder)
    await _use_and_show(core, base, output)
    return 0


async def _init(core: Core, args: Namespace, output: Output) -> int:
    from devflow.wiki.founding import survey

    found = await asyncio.to_thread(survey, args.folder)  # before: what is written now needs no word
    base = await core.bases.initialise(args.folder, args.purpose, overwrite=args.overwrite)
    await _use_and_show(core, base, output)
    if found.counts:
        output.note(
            output.t(
                "The files that were there are no pages yet: move Markdown into its wiki folder, or make a page about"
                " each with `devflow kb digest`."
            )
        )
    return 0


async def _use(core: Core, args: Namespace, output: Output) -> int:
    await _use_and_show(core, await _named(core, args.base), output)
    return 0


async def _pages(core: Core, args: Namespace, output: Output) -> int:
    base = await _chosen(core, args.kb)
    progress = await core.bases.refresh(base)
    pages = await core.bases.ask(base, lambda index: index.pages())
    if output.json:
        output.value([_page_as_json(page) for page in pages])
        return 0
    for page in pages:
        why = "  " + output.t("(skipped: {why})", why=page.problem) if page.problem else ""
        output.line(f"{one_line(page.path)}  {one_line(page.title)}{why}")
    for folder in progress.closed:
        output.note(output.t("The folder {path} cannot be read.", path=folder or base.path))
    return 0


async def _search(core: Core, args: Namespace, output: Output) -> int:
    from devflow.knowledge.queries import check_limit
    from devflow.retrieval.pages import search_knowledge_base

    limit = check_limit(args.limit)
    base = await _chosen(core, args.kb)
    await core.bases.refresh(base)
    found = await core.bases.ask(
        base,
        lambda index: search_knowledge_base(
            index, args.query, explicit_refs=args.ref, max_pages=max(limit, len(args.ref))
        ),
    )
    if output.json:
        output.value([_hit_as_json(hit) for hit in found.hits])
    else:
        for number, hit in enumerate(found.hits, 1):
            output.line(f"[{number}] {one_line(hit.title)}  {one_line(hit.path)}  ({hit.hit_reason}, {hit.score:.2f})")
            output.line(f"    {one_line(hit.snippet)[:200]}")
    if not found.hits:
        output.note(output.t("Nothing matches."))
    elif found.matching > len(found.hits):
        output.note(output.t("{count} of {total} pages.", count=len(found.hits), total=found.matching))
    for path in found.missing:
        output.note(output.t("There is no page {path}.", path=path))
    return 0


async def _chosen(core: Core, given: str | None) -> KnowledgeBase:
    if given is not None:
        return await _named(core, given)
    current = await core.bases.current()
    if current is None:
        raise Refused(N_("No knowledge base is open."), N_("Open one with `devflow kb open DIR`."))
    return current


async def _named(core: Core, given: str) -> KnowledgeBase:
    """By id, by name, else by folder, which is opened."""
    known = await core.bases.list()
    for base in known:
        if given in (base.id, base.path):
            return base
    named = [base for base in known if base.name == given]
    if len(named) == 1:
        return named[0]
    if len(named) > 1:
        raise InvalidInput(
            "kb",
            N_("There are {count} knowledge bases with the name {name}."),
            N_("Name its folder instead."),
            count=len(named),
            name=given,
        )
    return await core.bases.open(Path(given))


async def _use_and_show(core: Core, base: KnowledgeBase, output: Output) -> None:
    await core.bases.use(base.id)
    used = await core.bases.get(base.id)
    if output.json:
        output.value(_as_json(used))
    else:
        output.line(f"{one_line(used.name)}  {one_line(used.path)}")


def _as_json(base: KnowledgeBase) -> dict[str, Any]:
    return {
        "id": base.id,
        "name": base.name,
        "path": base.path,
        "created_at": instant_json(base.created_at),
        "opened_at": instant_json(base.opened_at),
    }


def _page_as_json(page: PageRow) -> dict[str, Any]:
    return {
        "path": page.path,
        "title": page.title,
        "mtime": _instant(page.mtime_ns / 1e9),
        "size": page.size,
        "skipped": page.problem or None,
    }


def _hit_as_json(hit: PageHit) -> dict[str, Any]:
    from devflow.knowledge.as_json import match_json

    return {
        "path": hit.path,
        "title": hit.title,
        "snippet": hit.snippet,
        "mtime": _instant(hit.mtime),
        "hit_reason": hit.hit_reason.value,
        "score": hit.score,
        "match": match_json(hit.hit_reason.value, hit.matched, [field for field, _ in hit.places], hit.places),
    }


def _instant(seconds: float) -> str | None:
    return instant_json(datetime.fromtimestamp(seconds, UTC))
