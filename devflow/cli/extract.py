"""`devflow extract [CONVERSATION]`: distil a conversation into candidates now."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING

from devflow.cli.output import Output
from devflow.cli.parser import Parser
from devflow.domain.errors import Refused
from devflow.domain.messages import N_

if TYPE_CHECKING:
    from devflow.app.core import Core
    from devflow.extraction.outcome import ExtractionOutcome


def add(parser: Parser) -> None:
    parser.add_argument("conversation", metavar="CONVERSATION", nargs="?", help="its id; without it: the latest")
    parser.set_defaults(run=_run)


async def _run(core: Core, args: Namespace, output: Output) -> int:
    from devflow.extraction.words import sentence

    outcome = await core.extraction.extract_now(args.conversation)
    _raise_failure(outcome)
    if output.json:
        output.value(outcome.as_json())
        return 0
    for id in outcome.entry_ids:
        output.line(id)
    output.note(sentence(outcome, output.t))
    return 0


def _raise_failure(outcome: ExtractionOutcome) -> None:
    from devflow.extraction.outcome import State

    if outcome.problem is not None:
        raise outcome.problem
    match outcome.state:
        case State.DONE | State.NOTHING_NEW:
            return
        case State.NO_MODEL:
            raise Refused(
                N_("There is no model to distil with."), N_("Set one up: `devflow provider add`, or Settings.")
            )
        case State.NO_CONVERSATION:
            raise Refused(
                N_("There is no conversation to distil."),
                N_("Ask something first, in the window or with `devflow ask`."),
            )
        case State.DROPPED:
            raise Refused(
                N_("The model's answer could not be read; nothing was added."),
                N_("Try once more, or choose another model for it: `devflow config set extraction_model`."),
            )
        case _:
            raise Refused(N_("Nothing was distilled: {detail}."), N_("The log says more."), detail=outcome.detail)
