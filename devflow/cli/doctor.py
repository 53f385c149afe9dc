"""`devflow doctor`: check everything, say how to mend each thing that is wrong."""

from __future__ import annotations

import asyncio
from argparse import Namespace
from typing import TYPE_CHECKING

from devflow.cli.output import Output, one_line
from devflow.cli.parser import Parser
from devflow.domain.errors import DatabaseProblem

if TYPE_CHECKING:
    from devflow.app.paths import AppPaths
    from devflow.domain.health import Finding


def add(parser: Parser) -> None:
    parser.add_argument("--mend", action="store_true", help="mend permissions, locks left behind, and the search index")
    parser.set_defaults(run_alone=_run)


def _run(paths: AppPaths, args: Namespace, output: Output) -> int:
    from devflow.app import health
    from devflow.domain.health import Health

    found = health.examine(paths)
    if args.mend:
        mended = health.mend(paths, found)
        found = (*mended, *health.examine(paths)) if mended else found
    if not any(finding.check == "database" and finding.health is Health.FAILED for finding in found):
        found = (*found, *asyncio.run(_models(paths)))
    failed = any(finding.health is Health.FAILED for finding in found)
    if output.json:
        output.value({"ok": not failed, "checks": [_json(finding, output) for finding in found]})
    else:
        for finding in found:
            _show(finding, output)
    return 1 if failed else 0


async def _models(paths: AppPaths) -> tuple[Finding, ...]:
    from devflow.app import health
    from devflow.app.core import opened
    from devflow.domain.health import of_problem

    try:
        async with opened(paths) as core:
            return await health.examine_models(core)
    except DatabaseProblem as problem:  # a disk that was full when the first start made the database
        return (of_problem("database", problem),)


def _json(finding: Finding, output: Output) -> dict[str, str]:
    return {
        "check": finding.check,
        "state": finding.health.value,
        "message": finding.render(output.t),
        "hint": finding.render_hint(output.t),
    }


def _show(finding: Finding, output: Output) -> None:
    output.line(f"{finding.health.value:<8} {finding.check:<12} {one_line(finding.render(output.t))}")
    if finding.hint:
        output.line(f"{'':<21} {one_line(finding.render_hint(output.t))}")
