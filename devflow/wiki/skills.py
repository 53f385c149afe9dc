"""`Skills`: which skills there are for a conversation, and the text of the one that the user has called."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from devflow.domain.errors import InvalidInput
from devflow.domain.messages import N_
from devflow.domain.skill import BrokenSkill, FoundSkills, Skill, SkillSource
from devflow.wiki.skill_file import FILE, SkillText, UnusableSkill, read_skill

OWN = "skills"
SHARED = (".agents/skills", ".claude/skills")
"""Where many programs look for skills, below a project and below the user's home (decision 28)."""
OF_A_PROJECT = (".devflow/skills", *SHARED)
FOLDERS_MAX = 500
"""So many folders are looked at in each place."""
NAMED_MAX = 20
"""So many skills are named to whoever asked for one that is not there."""


@dataclass(frozen=True, slots=True)
class _Place:
    """A folder of skills. `inside`: where a link in it may lead."""

    folder: Path
    source: SkillSource
    inside: tuple[Path, ...]


class Skills:
    """Nothing is kept: folders are read when somebody asks, so a changed skill counts at once.

    `data` is the data directory, whose folder `own` has DevFlow's own; `shared` are the user's folders of skills that
    belong to no one program.
    """

    def __init__(self, data: Path, shared: Sequence[Path]) -> None:
        self.own = data / OWN
        users = (self.own, *shared)
        self._users = tuple(_Place(folder, SkillSource.USER, users) for folder in users)

    async def offered(self, base: Path | str | None, project: Path | str | None) -> tuple[Skill, ...]:
        """The skills that a conversation with this knowledge base and project folder can use, by name.

        Of equal names the knowledge base's comes before the project's, and that before the user's.
        """
        return (await self.found(base, project)).skills

    async def found(self, base: Path | str | None, project: Path | str | None) -> FoundSkills:
        """Everything that the folders hold: also what another of the same name hides, and what cannot be used."""
        return await asyncio.to_thread(self._found, base, project)

    async def text(self, skill: Skill) -> str:
        """Its instructions as they are on the disk now; raises `UserFacing` where it cannot be used any more."""
        return (await asyncio.to_thread(self._read_again, skill)).instructions

    async def named(self, name: str, base: Path | str | None, project: Path | str | None) -> SkillText:
        """The skill that is called so, with its instructions; `user:name` names a source, too. Raises `UserFacing`."""
        return await asyncio.to_thread(self._named, name.removeprefix("/"), base, project)

    # on a thread -----------------------------------------------------------------------------------------------------

    def _places(self, base: Path | str | None, project: Path | str | None) -> tuple[_Place, ...]:
        places: list[_Place] = []
        if base is not None:
            places.append(_Place(Path(base, OWN), SkillSource.KB, (Path(base),)))
        if project is not None:
            places += (_Place(Path(project, name), SkillSource.PROJECT, (Path(project),)) for name in OF_A_PROJECT)
        return (*places, *self._users)

    def _found(self, base: Path | str | None, project: Path | str | None) -> FoundSkills:
        seen: set[Path] = set()
        first: dict[str, Skill] = {}
        shadowed: list[Skill] = []
        broken: list[BrokenSkill] = []
        for place in self._places(base, project):
            for folder in _folders(place, broken):
                try:
                    skill = read_skill(folder, place.source, place.inside).skill
                except UnusableSkill as problem:
                    broken.append(BrokenSkill(folder, place.source, problem))
                    continue
                if skill.folder in seen:  # the same one, linked from a second place
                    continue
                seen.add(skill.folder)
                other = first.setdefault(skill.name.casefold(), skill)
                if other is not skill:
                    shadowed.append(skill)
                    first[skill.name.casefold()] = replace(other, shadows=(*other.shadows, skill.folder))
        skills = tuple(first[name] for name in sorted(first))
        return FoundSkills(skills, tuple(shadowed), tuple(broken))

    def _read_again(self, skill: Skill) -> SkillText:
        return read_skill(skill.folder, skill.source, (skill.folder.parent,))

    def _named(self, name: str, base: Path | str | None, project: Path | str | None) -> SkillText:
        found = self._found(base, project)
        source, colon, plain = name.rpartition(":")
        for skill in (*found.skills, *found.shadowed):
            if skill.name.casefold() == plain.casefold() and (not colon or skill.source == source):
                return self._read_again(skill)
        for each in found.broken:
            if each.folder.name.casefold() == plain.casefold():
                raise each.problem
        more = len(found.skills) > NAMED_MAX
        raise InvalidInput(
            "skill",
            N_("There is no skill {name} here."),
            N_("Skills there are: {known}."),
            name=name,
            known=", ".join(skill.name for skill in found.skills[:NAMED_MAX]) + ("…" if more else "") or "-",
        )


def _folders(place: _Place, broken: list[BrokenSkill]) -> Iterator[Path]:
    """The folders of one place that have a `SKILL.md`, by name."""
    try:
        with os.scandir(place.folder) as entries:
            names = sorted(entry.name for entry in entries if not entry.name.startswith("."))
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        reason = error.strerror or type(error).__name__
        problem = UnusableSkill(
            N_("The folder {path} cannot be read: {reason}."), "", path=str(place.folder), reason=reason
        )
        broken.append(BrokenSkill(place.folder, place.source, problem))
        return
    if len(names) > FOLDERS_MAX:
        problem = UnusableSkill(
            N_("Only the first {limit} folders of {path} are looked at."), "", limit=FOLDERS_MAX, path=str(place.folder)
        )
        broken.append(BrokenSkill(place.folder, place.source, problem))
    for name in names[:FOLDERS_MAX]:
        if _may_be_skill(place.folder / name / FILE):
            yield place.folder / name


def _may_be_skill(file: Path) -> bool:
    """One that cannot be looked at may be; reading it says why it cannot be used."""
    try:
        os.lstat(file)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return True


def readable_folder(skill: Skill, project: Path | str | None) -> str:
    """The skill's folder relative to the project, for the agent's file tools; empty where they cannot read it."""
    if project is None:
        return ""
    root = Path(os.path.realpath(project))
    return skill.folder.relative_to(root).as_posix() if root in skill.folder.parents else ""
