"""Reading one skill's folder: `SKILL.md`, as the open Agent Skills format has it. Blocks; run it on a thread.

Readers of this format are lenient, because skills are written for many programs: a name that differs from its
folder's, a description that is too long, or a colon that YAML forbids does not make a skill useless. What cannot be
used says why.
"""

from __future__ import annotations

import json
import os
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISREG
from typing import Any

from devflow.domain.errors import UserFacing
from devflow.domain.messages import N_
from devflow.domain.skill import Skill, SkillSource
from devflow.domain.text.hidden import with_hidden_shown
from devflow.domain.text.storable import is_storable

FILE = "SKILL.md"
FILE_MAX = 100_000
"""Bytes of a `SKILL.md`; the format advises some 20,000."""
FRONT_MAX = 16_000
"""Characters of the front matter."""
NAME_MAX = 64
DESCRIPTION_MAX = 1_024
DEPTH_MAX = 50
"""Brackets in the front matter that are open at once."""

_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?)^---[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_BRACKET = re.compile(r"[\[\]{}]")
_PLAIN_FIELD = re.compile(r"^([A-Za-z][\w-]*):[ \t]+([^\s\"'|>\[{&*!#].*)$", re.MULTILINE)


class UnusableSkill(UserFacing):
    """The folder is no skill that could be used."""

    code = "unusable_skill"


@dataclass(frozen=True, slots=True)
class SkillText:
    """A skill with its instructions as they stand in the file, hidden characters spelled out: what the model reads can
    be seen by whoever looks at it."""

    skill: Skill
    instructions: str


def read_skill(folder: Path, source: SkillSource, inside: Sequence[Path]) -> SkillText:
    """Read the skill in `folder`, which with all links followed must lie in one of `inside`. Raises `UnusableSkill`."""
    skill = folder.name
    file = _real_file(folder, inside)
    front, body = _parts(_text_of(file, skill), skill)
    fields = _fields(front, skill)
    name, description = _text(fields, "name"), _text(fields, "description")
    _check_name(name, skill)
    if not description:
        raise UnusableSkill(
            N_("The skill {skill} has no description."), N_("Say in its {file} what it does, and when."), **_of(skill)
        )
    if not body.strip():
        raise UnusableSkill(
            N_("The skill {skill} has no instructions."),
            N_("Write them into its {file}, below the second line of dashes."),
            **_of(skill),
        )
    return SkillText(Skill(name, _within(description), file.parent, source), with_hidden_shown(body.strip()))


def _real_file(folder: Path, inside: Sequence[Path]) -> Path:
    try:
        real = Path(os.path.realpath(folder / FILE, strict=True))
        if not any(Path(os.path.realpath(root)) in real.parents for root in inside):
            raise UnusableSkill(
                N_("The skill {skill} is a link that leads out of the folder that skills are taken from here."),
                N_("Copy the skill instead of linking to it."),
                **_of(folder.name),
            )
        if not S_ISREG(real.stat().st_mode):
            raise UnusableSkill(N_("The {file} of the skill {skill} is no file."), "", **_of(folder.name))
    except OSError as error:
        raise _unreadable(error, folder.name) from error
    return real


def _text_of(file: Path, skill: str) -> str:
    try:
        with file.open("rb") as opened:
            raw = opened.read(FILE_MAX + 1)
    except OSError as error:
        raise _unreadable(error, skill) from error
    if len(raw) > FILE_MAX:
        raise UnusableSkill(
            N_("The {file} of the skill {skill} is larger than {limit} bytes."),
            N_("Keep it short, and put the rest into files beside it."),
            **_of(skill),
            limit=f"{FILE_MAX:,}",
        )
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UnusableSkill(
            N_("The {file} of the skill {skill} is not UTF-8 text."), N_("Convert it first."), **_of(skill)
        ) from None
    if not is_storable(text):
        raise UnusableSkill(
            N_("The {file} of the skill {skill} is no text: it holds a NUL character."), "", **_of(skill)
        )
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _parts(text: str, skill: str) -> tuple[str, str]:
    found = _FRONT_MATTER.match(text)
    if found is None or len(found[1]) > FRONT_MAX:
        raise UnusableSkill(
            N_("The {file} of the skill {skill} does not begin with name and description between two lines of dashes."),
            N_("The format is described at agentskills.io."),
            **_of(skill),
        )
    return found[1], text[found.end() :]


def _fields(front: str, skill: str) -> dict[Any, Any]:
    """The front matter as YAML; once more with its plain values quoted, for a colon in one is a common slip."""
    from yaml import BaseLoader, YAMLError, load  # every value a text; no tag makes anything else

    problem = "it is nested too deep" if _is_deep(front) else ""
    for text in (
        ()
        if problem
        else (front, _PLAIN_FIELD.sub(lambda field: f"{field[1]}: {json.dumps(field[2].rstrip())}", front))
    ):
        try:
            fields = load(text, Loader=BaseLoader)  # noqa: S506 - it knows texts, lists and mappings alone
        except (YAMLError, RecursionError, ValueError) as error:
            problem = problem or str(getattr(error, "problem", "") or type(error).__name__)
        else:
            if isinstance(fields, dict):
                return fields
            problem = problem or "no mapping"
    raise UnusableSkill(
        N_("The head of the {file} of the skill {skill} is not YAML: {problem}."),
        N_("Put texts with special characters between quotation marks."),
        **_of(skill),
        problem=problem,
    )


def _is_deep(front: str) -> bool:
    """Whether reading it would take long for nothing: the reader's time grows with the square of the open brackets."""
    depth = 0
    for bracket in _BRACKET.findall(front):
        depth += 1 if bracket in "[{" else -1
        if depth > DEPTH_MAX:
            return True
    return False


def _text(fields: dict[Any, Any], key: str) -> str:
    value = fields.get(key)
    return with_hidden_shown(" ".join(unicodedata.normalize("NFC", value).split())) if isinstance(value, str) else ""


def _check_name(name: str, skill: str) -> None:
    if not name:
        raise UnusableSkill(
            N_("The skill {skill} has no name."), N_("Write the name of its folder into its {file}."), **_of(skill)
        )
    if len(name) > NAME_MAX or not all(char.isalnum() or char in "-_" for char in name) or name.strip("-_") != name:
        raise UnusableSkill(
            N_("The name of the skill {skill} cannot be typed as a command: {name}."),
            N_("A name has at most {limit} letters, digits and hyphens, such as code-review."),
            **_of(skill),
            name=name if len(name) <= NAME_MAX else f"{name[:NAME_MAX]}…",
            limit=NAME_MAX,
        )


def _within(description: str) -> str:
    return description if len(description) <= DESCRIPTION_MAX else f"{description[: DESCRIPTION_MAX - 1]}…"


def _of(skill: str) -> dict[str, str]:
    return {"skill": with_hidden_shown(skill), "file": FILE}


def _unreadable(error: OSError, skill: str) -> UnusableSkill:
    return UnusableSkill(
        N_("The {file} of the skill {skill} cannot be read: {reason}."),
        N_("Check that you may read it."),
        **_of(skill),
        reason=error.strerror or type(error).__name__,
    )
