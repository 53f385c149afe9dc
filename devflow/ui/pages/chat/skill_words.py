"""Whose a skill is, in words: one that came with a project or a knowledge base may be by anybody."""

from __future__ import annotations

from typing import assert_never

from devflow.domain.messages import Translator
from devflow.domain.skill import Skill, SkillSource


def of_whom(t: Translator, source: SkillSource) -> str:
    match source:
        case SkillSource.KB:
            return t("A skill of the knowledge base")
        case SkillSource.PROJECT:
            return t("A skill of the project")
        case SkillSource.USER:
            return t("A skill of yours")
        case _:
            assert_never(source)


def skill_line(t: Translator, skill: Skill) -> str:
    """What the popup says of a skill: where it comes from, whether it hides others of its name, what it does."""
    match skill.source:
        case SkillSource.KB:
            whose = t.p("skill", "Knowledge base")
        case SkillSource.PROJECT:
            whose = t.p("skill", "Project")
        case SkillSource.USER:
            whose = t.p("skill", "Yours")
        case _:
            assert_never(skill.source)
    if skill.shadows:
        hides = t.n("hides {count} other", "hides {count} others", len(skill.shadows))
        whose = t("{whose}, {hides}", whose=whose, hides=hides)
    return f"{whose} · {skill.description}"
