"""`devflow restore FILE`: put a backup in the database's place; the old one stays beside it. A human act."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from devflow.cli.output import Output
from devflow.cli.parser import Parser
from devflow.domain.messages import N_

if TYPE_CHECKING:
    from devflow.app.paths import AppPaths

RESTORING = N_("Restoring a backup is a human act.")


def add(parser: Parser) -> None:
    parser.add_argument("file", metavar="FILE", type=Path, help="a backup that `devflow backup` made")
    parser.set_defaults(run_alone=_run)


def _run(paths: AppPaths, args: Namespace, output: Output) -> int:
    from devflow.app.core import is_agent_child
    from devflow.knowledge.acts import Actor, require_human
    from devflow.store.restore import restore

    require_human(Actor.user(), RESTORING, agent_child=is_agent_child())
    aside = restore(paths, args.file)
    if output.json:
        output.value({"restored": str(paths.database), "before": None if aside is None else str(aside)})
    else:
        output.line(output.t("Restored {path}", path=paths.database))
        if aside is not None:
            output.note(output.t("The database before is {path}", path=aside))
    return 0
