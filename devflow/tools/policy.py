"""Who decides about a call: deny beats ask beats allow (spec 03, Runs and approvals, rule 4).

A rule is exact: one tool, one workspace, one pattern that was shown in full. It never says "everything".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Any

from devflow.domain.errors import InvalidInput
from devflow.domain.messages import N_
from devflow.domain.run import Risk
from devflow.knowledge.settings import Settings

GROUP = "tool_rules"
_CHANGING = frozenset({Risk.WRITES, Risk.RUNS, Risk.REACHES_OUT})


class Effect(StrEnum):
    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


@dataclass(frozen=True, slots=True)
class Subject:
    """What is about to happen: the tool, how much it could do, and on what (a path inside the workspace, a line).

    `words`: a command's words, started without a shell; a shell line has none. Without `rule_allowed` no rule that
    allows is made of it or holds for it (interpreters, shells, starters of other programs: `command_words`).
    """

    tool: str
    risk: Risk
    target: str
    words: tuple[str, ...] = ()
    rule_allowed: bool = True


@dataclass(frozen=True, slots=True)
class Rule:
    """`workspace` is the folder's absolute path. With a `conversation_id` it holds there only.

    `after_untrusted`: it holds even after the run has read text from outside.
    """

    effect: Effect
    tool: str
    workspace: str
    pattern: str
    conversation_id: str | None = None
    after_untrusted: bool = False


@dataclass(frozen=True, slots=True)
class Situation:
    """Where the call happens, and by which rules."""

    workspace: str
    conversation_id: str
    rules: tuple[Rule, ...] = ()
    read_untrusted: bool = False


def effect_of(subject: Subject, default: Effect, situation: Situation) -> Effect:
    """What is to be done with the call: the strictest matching rule, else the tool's own default."""
    effects = {_effect(rule, subject, situation) for rule in situation.rules if _matches(rule, subject, situation)}
    for strictest in (Effect.DENY, Effect.ASK, Effect.ALLOW):
        if strictest in effects:
            return strictest
    return default


def rule_for(subject: Subject, workspace: str, *, conversation_id: str | None = None) -> Rule:
    """The rule that "allow always" makes, or "allow in this conversation": exactly this target."""
    return Rule(Effect.ALLOW, subject.tool, workspace, check_pattern(_literal(subject.target)), conversation_id)


def check_pattern(pattern: str) -> str:
    """Raise `InvalidInput` for a pattern that means everything."""
    if not pattern.strip("*?/. \t") or pattern.strip() in ("**/*", "*/**"):
        raise InvalidInput(
            "pattern",
            N_("The pattern {pattern} would allow everything."),
            N_("Name a file or a folder."),
            pattern=repr(pattern),
        )
    return pattern


async def read_rules(settings: Settings) -> tuple[Rule, ...]:
    """The stored rules; one that cannot be read is left out, so that the call asks."""
    return _rules_in(await settings.get(GROUP))


async def add_rule(settings: Settings, rule: Rule) -> None:
    """Keep a rule, once."""
    await settings.modify(GROUP, lambda value: with_rule(value, rule))


def with_rule(value: Any, rule: Rule) -> dict[str, Any]:
    """The group's value with one more rule; what cannot be read in it stays as it is, unless it is no list at all."""
    check_pattern(rule.pattern)
    known = value if isinstance(value, dict) else {}
    rules = [*_rows(known), _to_json(rule)]
    return {**known, "rules": [one for at, one in enumerate(rules) if one not in rules[:at]]}


async def remove_rule(settings: Settings, rule: Rule) -> None:
    """Revoke a rule."""

    def change(value: Any) -> dict[str, Any]:
        known = value if isinstance(value, dict) else {}
        return {**known, "rules": [one for one in _rows(known) if one != _to_json(rule)]}

    await settings.modify(GROUP, change)


def _effect(rule: Rule, subject: Subject, situation: Situation) -> Effect:
    """Text from outside may have talked the model into it: then a rule that allows asks again, unless it says more."""
    changing = subject.risk in _CHANGING
    if rule.effect is Effect.ALLOW and changing and situation.read_untrusted and not rule.after_untrusted:
        return Effect.ASK
    return rule.effect


def _matches(rule: Rule, subject: Subject, situation: Situation) -> bool:
    return (
        rule.tool == subject.tool
        and rule.workspace == situation.workspace
        and rule.conversation_id in (None, situation.conversation_id)
        and fnmatchcase(subject.target, rule.pattern)
    )


def _literal(target: str) -> str:
    return "".join(f"[{char}]" if char in "*?[" else char for char in target)


def _rows(value: Mapping[str, Any]) -> list[Any]:
    rows = value.get("rules")
    return rows if isinstance(rows, list) else []


def _rules_in(value: Mapping[str, Any]) -> tuple[Rule, ...]:
    return tuple(rule for row in _rows(value) if (rule := _from_json(row)) is not None)


def _from_json(row: object) -> Rule | None:
    if not isinstance(row, Mapping):
        return None
    texts = [row.get(name) for name in ("effect", "tool", "workspace", "pattern")]
    if not all(isinstance(text, str) and text for text in texts) or row["effect"] not in set(Effect):
        return None
    try:
        pattern = check_pattern(str(row["pattern"]))
    except InvalidInput:
        return None
    return Rule(
        Effect(row["effect"]),
        str(row["tool"]),
        str(row["workspace"]),
        pattern,
        row.get("conversation_id") or None,
        row.get("after_untrusted") is True,
    )


def _to_json(rule: Rule) -> dict[str, Any]:
    return {
        "effect": rule.effect.value,
        "tool": rule.tool,
        "workspace": rule.workspace,
        "pattern": rule.pattern,
        "conversation_id": rule.conversation_id,
        "after_untrusted": rule.after_untrusted,
    }
