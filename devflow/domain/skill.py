"""Skills: folders with instructions that the user puts before a message by typing the skill's name.

The format is the open Agent Skills one: `SKILL.md` with a name and a description as YAML, and instructions as Markdown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from devflow.domain.errors import UserFacing


class SkillSource(StrEnum):
    """Whose folder the skill lies in; of equal names the earlier source has it."""

    KB = "kb"
    PROJECT = "project"
    USER = "user"


@dataclass(frozen=True, slots=True)
class Skill:
    """A skill that can be used. `folder` is absolute, links resolved; `shadows` are the folders of skills of the same
    name that it stands before."""

    name: str
    description: str
    folder: Path
    source: SkillSource
    shadows: tuple[Path, ...] = ()

    @property
    def command(self) -> str:
        """What the user types."""
        return f"/{self.name}"


@dataclass(frozen=True, slots=True)
class BrokenSkill:
    """A folder that is meant as a skill and cannot be used; `problem` says why."""

    folder: Path
    source: SkillSource
    problem: UserFacing


@dataclass(frozen=True, slots=True)
class FoundSkills:
    """What the folders hold. `shadowed` are usable, but another one has the name."""

    skills: tuple[Skill, ...] = ()
    shadowed: tuple[Skill, ...] = ()
    broken: tuple[BrokenSkill, ...] = ()


@dataclass(frozen=True, slots=True)
class UsedSkill:
    """The skill of a run: `text` is the part of the system prompt exactly as every request of the run carries it."""

    name: str
    source: SkillSource
    text: str = field(repr=False)

    @property
    def is_own(self) -> bool:
        """Whether it comes from the user's own folder; a project or a knowledge base may come from anywhere."""
        return self.source is SkillSource.USER

    def as_json(self) -> dict[str, str]:
        return {"name": self.name, "source": self.source.value, "text": self.text}

    @staticmethod
    def of_json(value: object) -> UsedSkill | None:
        """None for none, and for what somebody has edited by hand."""
        if not isinstance(value, Mapping):
            return None
        name, source, text = value.get("name"), value.get("source"), value.get("text")
        if not isinstance(name, str) or not isinstance(text, str) or source not in list(SkillSource):
            return None
        return UsedSkill(name, SkillSource(source), text)
