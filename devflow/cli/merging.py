"""`devflow knowledge merge` and `undo`: several entries become one, and whatever one act did is put back."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace
from typing import TYPE_CHECKING

from devflow.cli.output import Output
from devflow.cli.parser import Acts

if TYPE_CHECKING:
    from devflow.app.core import Core


def add(acts: Acts) -> None:
    merging = acts.add("merge", _merge, "Merge entries into the first: the others are archived, and lead to it.")
    merging.add_argument("id", metavar="ID", help="the entry that stays")
    merging.add_argument("others", metavar="OTHER", nargs="+", help="the entries that it takes in")
    merging.add_argument("--title", metavar="T", help="its title from now on (its own)")
    merging.add_argument("--content", metavar="C", help="its text from now on (its own, and what the others add)")
    undoing = acts.add("undo", _undo, "Put back what one act changed, as the timeline names it.")
    undoing.add_argument("operation", metavar="OPERATION", help="the `operation` of an event in the timeline")


async def _merge(core: Core, args: Namespace, output: Output) -> int:
    from devflow.cli import show, taking
    from devflow.knowledge.as_json import entry_json

    ids = [args.id, *args.others]
    given = await core.knowledge.knowledge_merge_proposal(ids)
    named = {name: value for name in ("title", "content") if (value := getattr(args, name)) is not None}
    given = replace(given, edit=replace(given.edit, **named))
    merged = await core.knowledge.knowledge_merge(ids, given, actor=taking.actor())
    if output.json:
        others = [entry_json(other) for other in merged.others]
        output.value({"operation": merged.operation, "entry": entry_json(merged.entry), "others": others})
        return 0
    output.line(show.entry_line(merged.entry))
    for other in merged.others:
        output.line(show.entry_line(other))
    output.note(output.t("To undo it: devflow knowledge undo {operation}", operation=merged.operation))
    return 0


async def _undo(core: Core, args: Namespace, output: Output) -> int:
    from devflow.cli import show, taking

    done = await core.knowledge.knowledge_undo(args.operation, actor=taking.actor())
    show.changed(output, done.entries)
    return 0
