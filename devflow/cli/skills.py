"""`devflow skills …`: the skills that a message can be sent with (`devflow ask --skill`, `/name` in the window)."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from devflow.cli.output import Output, one_line
from devflow.cli.parser import Acts, Parser
from devflow.domain.errors import InvalidInput
from devflow.domain.messages import N_

if TYPE_CHECKING:
    from devflow.app.core import Core
    from devflow.domain.skill import BrokenSkill, Skill

SOURCES = {"kb": N_("knowledge base"), "project": N_("project"), "user": N_("yours")}


def add(parser: Parser) -> None:
    about = "The skills of the user, a project and a knowledge base; also those that cannot be used, and why."
    acts = Acts(parser).add("list", _list, about)
    acts.add_argument("--workspace", metavar="DIR", type=Path, help="a project folder, whose skills count, too")
    acts.add_argument("--kb", metavar="DIR", type=Path, help="a knowledge base, whose skills count, too")


async def _list(core: Core, args: Namespace, output: Output) -> int:
    found = await core.skills.found(_folder(args.kb), _folder(args.workspace))
    if output.json:
        output.value(
            [
                *(_as_json(skill) for skill in found.skills),
                *(_as_json(skill, shadowed=True) for skill in found.shadowed),
                *(_broken_as_json(each, output) for each in found.broken),
            ]
        )
        return 0
    t = output.t
    for skill in found.skills:
        about = one_line(skill.description)
        output.line(f"{one_line(skill.name)}  ({t(SOURCES[skill.source])}, {one_line(str(skill.folder))})  {about}")
    for skill in found.shadowed:
        name, folder = one_line(skill.name), one_line(str(skill.folder))
        output.note(t("{folder} is hidden by another skill named {name}.", name=name, folder=folder))
    for each in found.broken:
        output.note(f"{one_line(str(each.folder))}: {one_line(each.problem.render(t))}")
    if not found.skills:
        output.note(
            t("No skills. A skill is a folder with a SKILL.md, in {folder} for example.", folder=core.skills.own)
        )
    return 0


def _folder(given: Path | None) -> Path | None:
    if given is None:
        return None
    folder = given.expanduser().absolute()
    if not folder.is_dir():
        raise InvalidInput(
            "folder", N_("There is no folder {path}."), N_("Choose an existing folder."), path=str(given)
        )
    return folder


def _as_json(skill: Skill, *, shadowed: bool = False) -> dict[str, Any]:
    return {
        "name": skill.name,
        "description": skill.description,
        "folder": str(skill.folder),
        "source": skill.source.value,
        "shadowed": shadowed,
        "problem": None,
    }


def _broken_as_json(broken: BrokenSkill, output: Output) -> dict[str, Any]:
    return {
        "name": None,
        "description": None,
        "folder": str(broken.folder),
        "source": broken.source.value,
        "shadowed": False,
        "problem": output.described(broken.problem),
    }
