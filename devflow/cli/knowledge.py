"""`devflow knowledge …`: the library's commands, one service call each."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING

from devflow.cli import merging, vectors
from devflow.cli.output import Output
from devflow.cli.parser import Acts, Parser, WrongUsage
from devflow.domain.knowledge import NOT_ARCHIVED, UNSET, EntryEdit, Kind, Status, draft
from devflow.domain.messages import N_

if TYPE_CHECKING:
    from devflow.app.core import Core
    from devflow.knowledge.acts import Actor


KINDS = ", ".join(Kind)
ONE = "an entry's id"


def add(parser: Parser) -> None:
    acts = Acts(parser)
    _add_reading(acts)
    _add_writing(acts)
    _add_reviewing(acts)
    merging.add(acts)
    vectors.add(acts)


def _add_reading(acts: Acts) -> None:
    listing = acts.add("list", _list, "Published entries, or those of a status.")
    listing.add_argument("--status", metavar="S", help=", ".join(Status))
    _add_filters(listing, limit=50)
    listing.add_argument("--offset", metavar="N", type=int, default=0, help="leave out so many at the beginning")
    listing.add_argument(
        "--sort", metavar="ORDER", default="updated", help="updated, created, reuse, confidence or title (updated)"
    )
    search = acts.add("search", _search, "Published entries that match the words, best first.")
    search.add_argument("query", metavar="QUERY", help="words, or a question")
    _add_filters(search, limit=3)
    search.add_argument("--all", action="store_true", help="every status but archived")
    for name, run, about in (
        ("get", _get, "One entry."),
        ("timeline", _timeline, "What happened to an entry, newest first."),
        ("similar", _similar, "Entries that resemble an entry."),
    ):
        acts.add(name, run, about).add_argument("id", metavar="ID", help=ONE)
    acts.add("stats", _stats, "How many entries there are, by status, kind and source.")


def _add_writing(acts: Acts) -> None:
    adding = acts.add("add", _add, "A new candidate; prints its id.")
    _add_fields(adding, required=True)
    editing = acts.add("edit", _edit, "Change fields of an entry.")
    editing.add_argument("id", metavar="ID", help=ONE)
    _add_fields(editing, required=False)
    editing.add_argument("--everywhere", action="store_true", help="of no project: it holds everywhere")
    editing.add_argument("--version", metavar="N", type=int, help="refuse if the entry is not at this version")
    for name, run, about in (
        ("erase", _erase, "Remove an entry and every text of it. Cannot be undone."),
        ("reuse", _reuse, "Count one more use of a published entry."),
    ):
        acts.add(name, run, about).add_argument("id", metavar="ID", help=ONE)


def _add_reviewing(acts: Acts) -> None:
    inbox = acts.add("inbox", _inbox, "Candidates and entries in review, the most confident first.")
    inbox.add_argument("--kind", metavar="K", help=KINDS)
    inbox.add_argument("--limit", metavar="N", type=int, default=500, help="at most so many (500)")
    status = acts.add("status", _status, "Move an entry along: candidate, pending_review, published, archived.")
    status.add_argument("id", metavar="ID", help=ONE)
    status.add_argument("status", metavar="STATUS", help=", ".join(Status))
    for name, run, about in (
        ("approve", _approve, "Publish candidates: all of them, or none."),
        ("archive", _archive, "Archive entries: all of them, or none."),
        ("restore", _restore, "Bring archived entries back into the inbox."),
    ):
        made = acts.add(name, run, about)
        made.add_argument("ids", metavar="ID", nargs="+", help="ids of entries")
        if name == "archive":
            made.add_argument("--reason", metavar="WHY", default="", help="kept in the timeline")


async def _list(core: Core, args: Namespace, output: Output) -> int:
    from devflow.cli import show

    page = await core.knowledge.knowledge_list(
        args.status,
        kind=args.kind,
        tag=args.tag,
        project=await _project(core, args),
        limit=args.limit,
        offset=args.offset,
        sort=args.sort,
    )
    show.entries(output, page.entries)
    if not page.entries:
        output.note(output.t("No entries."))
    elif len(page.entries) < page.total:
        output.note(output.t("{count} of {total} entries.", count=len(page.entries), total=page.total))
    return 0


async def _search(core: Core, args: Namespace, output: Output) -> int:
    from devflow.cli import show

    found = await core.knowledge.knowledge_search(
        args.query,
        args.kind,
        args.limit,
        statuses=NOT_ARCHIVED if args.all else None,
        tag=args.tag,
        project=await _project(core, args),
    )
    show.hits(output, found.hits)
    if not found.hits:
        output.note(output.t("Nothing matches."))
    if found.partial:
        output.note(output.t("There may be more: not everything was searched."))
    if (unheard := core.embeddings.unheard) is not None:
        output.note(unheard.render(output.t))
    return 0


async def _get(core: Core, args: Namespace, output: Output) -> int:
    from devflow.cli import show

    show.entry(output, await core.knowledge.knowledge_get(args.id))
    return 0


async def _timeline(core: Core, args: Namespace, output: Output) -> int:
    from devflow.cli import show

    show.events(output, await core.knowledge.knowledge_timeline(args.id))
    return 0


async def _similar(core: Core, args: Namespace, output: Output) -> int:
    from devflow.cli import show

    await core.knowledge.knowledge_get(args.id)
    show.alike(output, await core.knowledge.knowledge_similar(args.id))
    return 0


async def _add(core: Core, args: Namespace, output: Output) -> int:
    from devflow.cli import show, taking

    text = taking.content(args)
    if text is None:
        raise WrongUsage(N_("The content is missing."), N_("Give it with --content, --file or - (standard input)."))
    entry = draft(
        kind=args.kind,
        title=args.title,
        content=text,
        tags=args.tag or (),
        confidence=args.confidence,
        project_id=None if args.project is None else await taking.project_id(core.projects, args.project),
    )
    done = await core.knowledge.knowledge_create(entry, actor=_actor())
    if output.json:
        show.changed(output, done.entries)
    else:
        output.line(done.entries[0].id)
    return 0


async def _edit(core: Core, args: Namespace, output: Output) -> int:
    from devflow.cli import show, taking

    text = taking.content(args)
    given = (args.kind, args.title, text, args.tag, args.confidence, args.project)
    if not args.everywhere and all(value is None for value in given):
        raise WrongUsage(N_("There is nothing to change."), N_("Name a field, for example --title T."))
    current = await core.knowledge.knowledge_get(args.id)
    project = UNSET if args.project is None else await taking.project_id(core.projects, args.project)
    edit = EntryEdit(
        version=current.version if args.version is None else args.version,
        kind=UNSET if args.kind is None else args.kind,
        title=UNSET if args.title is None else args.title,
        content=UNSET if text is None else text,
        tags=UNSET if args.tag is None else args.tag,
        confidence=UNSET if args.confidence is None else args.confidence,
        project_id=None if args.everywhere else project,
    )
    done = await core.knowledge.knowledge_update(args.id, edit, actor=_actor())
    show.changed(output, done.entries)
    return 0


async def _status(core: Core, args: Namespace, output: Output) -> int:
    from devflow.cli import show

    done = await core.knowledge.knowledge_update_status(args.id, args.status, actor=_actor())
    show.changed(output, done.entries)
    return 0


async def _approve(core: Core, args: Namespace, output: Output) -> int:
    from devflow.cli import show

    show.changed(output, (await core.knowledge.knowledge_approve(args.ids, actor=_actor())).entries)
    return 0


async def _archive(core: Core, args: Namespace, output: Output) -> int:
    from devflow.cli import show

    done = await core.knowledge.knowledge_archive(args.ids, actor=_actor(), reason=args.reason)
    show.changed(output, done.entries)
    return 0


async def _restore(core: Core, args: Namespace, output: Output) -> int:
    from devflow.cli import show

    show.changed(output, (await core.knowledge.knowledge_restore(args.ids, actor=_actor())).entries)
    return 0


async def _erase(core: Core, args: Namespace, output: Output) -> int:
    await core.knowledge.knowledge_erase(args.id, actor=_actor())
    if output.json:
        output.value({"id": args.id, "erased": True})
    else:
        output.line(output.t("Erased {id}", id=args.id))
        output.note(output.t("Backups made before may still hold it."))
    return 0


async def _inbox(core: Core, args: Namespace, output: Output) -> int:
    from devflow.cli import show

    page = await core.knowledge.knowledge_list_candidates(kind=args.kind, limit=args.limit)
    show.entries(output, page.entries)
    if not page.entries:
        output.note(output.t("Nothing to review."))
    return 0


async def _reuse(core: Core, args: Namespace, output: Output) -> int:
    from devflow.cli import show

    done = await core.knowledge.knowledge_record_reuse(args.id, actor=_actor(), detail={"by": "command line"})
    show.changed(output, done.entries)
    return 0


async def _stats(core: Core, args: Namespace, output: Output) -> int:
    from devflow.cli import show

    show.stats(output, await core.knowledge.knowledge_stats())
    return 0


def _add_filters(parser: Parser, *, limit: int) -> None:
    parser.add_argument("--kind", metavar="K", help=f"only entries of this kind: {KINDS}")
    parser.add_argument("--tag", metavar="T", help="only entries with this tag")
    parser.add_argument("--project", metavar="P", help="only entries of this project (folder, name or id)")
    parser.add_argument("--limit", metavar="N", type=int, default=limit, help=f"at most so many ({limit})")


def _add_fields(parser: Parser, *, required: bool) -> None:
    from devflow.cli import taking

    parser.add_argument("--project", metavar="P", help="the project it holds for (folder, name or id)")
    parser.add_argument("--kind", metavar="K", required=required, help=KINDS)
    parser.add_argument("--title", metavar="T", required=required, help="one line")
    taking.add_content(parser)
    parser.add_argument("--tag", metavar="T", action="append", help="may be repeated")
    parser.add_argument("--confidence", metavar="X", type=float, default=1.0 if required else None, help="0.0 to 1.0")


async def _project(core: Core, args: Namespace) -> str | None:
    from devflow.cli import taking
    from devflow.knowledge.service import ANY

    return ANY if args.project is None else await taking.project_id(core.projects, args.project)


def _actor() -> Actor:
    from devflow.cli import taking

    return taking.actor()
