"""`devflow knowledge reembed`: make the vectors that are due, or make them anew."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING

from devflow.cli.output import Output
from devflow.cli.parser import Acts

if TYPE_CHECKING:
    from devflow.app.core import Core


def add(acts: Acts) -> None:
    making = acts.add("reembed", _reembed, "Make the vectors that are due now; with ID or --all, make them anew.")
    making.add_argument("id", metavar="ID", nargs="?", help="an entry's id")
    making.add_argument("--all", action="store_true", help="every entry's anew")


async def _reembed(core: Core, args: Namespace, output: Output) -> int:
    from devflow.app.core import is_agent_child
    from devflow.cli import taking
    from devflow.knowledge.acts import require_human
    from devflow.knowledge.configuring import SAVING
    from devflow.knowledge.embedding_state import Phase
    from devflow.store.vectors import Progress

    t, embeddings = output.t, core.embeddings
    if args.all:
        require_human(taking.actor(), SAVING, agent_child=is_agent_child())
    if args.id is not None:
        await core.knowledge.knowledge_get(args.id)  # NotFound says so
    if args.id is not None or args.all:
        await core.knowledge.knowledge_reembed(args.id)
    await embeddings.start()
    await embeddings.settled()
    state = await embeddings.state()
    progress: Progress = state.progress
    if output.json:
        numbers = {"total": progress.total, "ready": progress.ready, "failed": progress.failed}
        output.value({"phase": state.phase.value, "model": state.model or None, **numbers})
    elif state.phase is Phase.OFF:
        output.line(t("Search by meaning is off."))
    else:
        output.line(t("{ready} of {total} entries have vectors.", ready=progress.ready, total=progress.total))
    if (problem := state.problem) is not None:
        output.note(problem.render(t))
        if problem.hint:
            output.note(problem.render_hint(t))
    return 0 if state.phase in (Phase.OFF, Phase.READY) and not progress.failed else 1
