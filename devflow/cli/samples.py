"""`devflow samples …`: a dozen entries and a small wiki about DevFlow itself, to try it with."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING

from devflow.cli.output import Output, one_line
from devflow.cli.parser import Acts, Parser

if TYPE_CHECKING:
    from devflow.app.core import Core

LANGUAGES = ("en", "zh_CN")


def add(parser: Parser) -> None:
    acts = Acts(parser)
    loading = acts.add("load", _load, "Publish the entries; copy the wiki, and make it the current knowledge base.")
    loading.add_argument("--language", choices=LANGUAGES, help="of the texts; yours unless named")
    acts.add("remove", _remove, "Archive the entries, and remove the wiki but for pages that you have changed.")


async def _load(core: Core, args: Namespace, output: Output) -> int:
    from devflow.cli.taking import actor

    done = await core.samples.load(args.language or core.translator.language, actor=actor())
    base = done.base
    if output.json:
        output.value(
            {
                "entries": [entry.id for entry in done.entries],
                "base": {"id": base.id, "name": base.name, "path": base.path} if base is not None else None,
            }
        )
        return 0
    output.line(output.t.n("{count} entry is published.", "{count} entries are published.", len(done.entries)))
    if base is not None:
        output.line(output.t("{name} is the current knowledge base: {path}", name=base.name, path=one_line(base.path)))
    return 0


async def _remove(core: Core, args: Namespace, output: Output) -> int:
    from devflow.cli.taking import actor

    done = await core.samples.remove(actor=actor())
    if output.json:
        output.value({"entries": [entry.id for entry in done.entries], "kept": [str(page) for page in done.kept]})
        return 0
    output.line(output.t.n("{count} entry is archived.", "{count} entries are archived.", len(done.entries)))
    for page in done.kept:
        output.line(output.t("Kept, because you changed or added it: {path}", path=one_line(str(page))))
    return 0
