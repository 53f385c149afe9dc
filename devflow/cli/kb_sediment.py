"""`devflow kb sediment CONVERSATION`: write what a conversation settled as a page of its knowledge base."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING

from devflow.cli.output import Output, one_line
from devflow.cli.parser import Acts

if TYPE_CHECKING:
    from devflow.app.core import Core


def add(acts: Acts) -> None:
    about = "Write what a conversation settled as a page of its knowledge base, or bring its page up to date."
    acts.add("sediment", _run, about).add_argument("conversation", metavar="CONVERSATION", help="its id")


async def _run(core: Core, args: Namespace, output: Output) -> int:
    made = await core.sediments.write(args.conversation)
    if output.json:
        output.value(
            {
                "path": made.path,
                "title": made.title,
                "kb": made.base.path,
                "model": made.model or None,
                "outcome": made.outcome,
            }
        )
        return 0
    t = output.t
    output.line(one_line(made.path))
    match made.outcome:
        case "written":
            output.note(t("Written: {title}", title=one_line(made.title)))
        case "updated":
            output.note(t("Brought up to date: {title}", title=one_line(made.title)))
        case "unchanged":
            output.note(t("Nothing was said since this page was written: {title}", title=one_line(made.title)))
    if not made.model:
        output.note(t("No model is connected: title and summary are the conversation's own words."))
    return 0
