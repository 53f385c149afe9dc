"""`devflow extract [CONVERSATION]`: distil a conversation into candidates now."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING, Any

from devflow.cli.output import Output
from devflow.cli.parser import Parser
from devflow.domain.errors import Refused, UserFacing
from devflow.domain.messages import N_

if TYPE_CHECKING:
    from devflow.app.core import Core
    from devflow.extraction.outcome import ExtractionOutcome


def add(commands: Any, options: Parser) -> None:
    parser = commands.add_parser("extract", help="distil a conversation into candidates now", parents=[options])
    parser.add_argument("conversation", metavar="CONVERSATION", nargs="?", help="its id; without it: the latest")
    parser.set_defaults(run=_run)


async def _run(core: Core, args: Namespace, output: Output) -> int:
    outcome = await core.extraction.extract_now(args.conversation)
    _raise_failure(outcome)
    if output.json:
        output.value(
            {
                "state": outcome.state.value,
                "created": outcome.created,
                "repeated": outcome.repeated,
                "conversation_id": outcome.conversation_id,
                "entry_ids": list(outcome.entry_ids),
                "detail": outcome.detail,
            }
        )
        return 0
    for id in outcome.entry_ids:
        output.line(id)
    t = output.t
    if outcome.state.value == "nothing_new":
        output.note(t("Nothing new since the last extraction."))
    else:
        output.note(t.n("{count} new candidate", "{count} new candidates", outcome.created))
        if outcome.repeated:
            output.note(t.n("{count} entry was seen again", "{count} entries were seen again", outcome.repeated))
    return 0


def _raise_failure(outcome: ExtractionOutcome) -> None:
    problem: UserFacing | None = outcome.problem
    match outcome.state.value:
        case "done" | "nothing_new":
            return
        case "no_model":
            problem = problem or Refused(
                N_("There is no model to distil with."), N_("Set one up: `devflow provider add`, or Settings.")
            )
        case "no_conversation":
            problem = problem or Refused(N_("There is no conversation to distil."))
        case _:
            problem = problem or Refused(
                N_("Nothing was distilled: {detail}"), N_("The log says more."), detail=outcome.detail
            )
    raise problem
