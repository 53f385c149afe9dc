"""`devflow export FILE`: the library as a zip, a folder, or one JSON file."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from devflow.cli.output import Output, one_line
from devflow.cli.parser import Parser

if TYPE_CHECKING:
    from devflow.app.core import Core


def add(parser: Parser) -> None:
    parser.add_argument(
        "file",
        metavar="FILE",
        type=Path,
        help="what ends in .zip becomes a zip, in .json one JSON file, anything else a folder of Markdown files",
    )
    parser.set_defaults(run=_run)


async def _run(core: Core, args: Namespace, output: Output) -> int:
    done = await core.transfer.export(args.file.absolute())
    if output.json:
        output.value({"path": str(done.target), "entries": done.entries})
        return 0
    path = one_line(str(done.target))
    output.line(output.t.n("{count} entry is in {path}", "{count} entries are in {path}", done.entries, path=path))
    return 0
