"""`devflow backup [FILE]`: a consistent copy of the database, also while others write."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from devflow.cli.output import Output
from devflow.cli.parser import Parser
from devflow.domain.errors import InvalidInput, Refused
from devflow.domain.messages import N_

if TYPE_CHECKING:
    from devflow.app.paths import AppPaths


def add(parser: Parser) -> None:
    parser.add_argument(
        "file", metavar="FILE", type=Path, nargs="?", help="a new file; without it: in the data directory"
    )
    parser.set_defaults(run_alone=_run)


def _run(paths: AppPaths, args: Namespace, output: Output) -> int:
    from devflow.domain.ids import now
    from devflow.store import backup

    if not paths.database.is_file():
        raise Refused(N_("There is no database yet."), N_("The first start makes it."))
    target: Path = args.file or paths.backups / f"{backup.PREFIX}{backup.stamp(now())}.db"
    try:
        target = target.absolute()
        taken, in_a_folder = target.exists(), target.parent.is_dir()
    except OSError as error:
        raise backup.not_written(target, error) from error
    if taken:
        raise InvalidInput("file", N_("{path} exists already."), N_("Name a new file."), path=target)
    if not in_a_folder:
        raise InvalidInput("file", N_("There is no folder {path}."), N_("Name an existing folder."), path=target.parent)
    backup.back_up_or_refuse(paths.database, target)
    if output.json:
        output.value({"backup": str(target)})
    else:
        output.line(str(target))
    return 0
