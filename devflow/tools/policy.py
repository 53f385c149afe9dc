"""Who decides about a call: deny beats ask beats allow (spec 03, Runs and approvals, rule 4).

A rule is exact: one tool, one workspace, one pattern that was shown in full (`patterns`). One that allows never says
"everything", never covers an interpreter or a shell line, and after text from outside it holds only if it says so.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal, assert_never

from devflow.domain.run import Risk
from devflow.tools.patterns import ANYTHING, matches, matches_folded

CHANGING = frozenset({Risk.WRITES, Risk.RUNS, Risk.REACHES_OUT})

Because = Literal["", "untrusted", "rule", "broken", "revoked"]
"""Why a call asks: by default, because a rule that would allow it does not hold after text from outside, because a rule
says so, because of a stored rule that cannot be read, or because the rule that had allowed it is gone."""


class Effect(StrEnum):
    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


@dataclass(frozen=True, slots=True)
class Subject:
    """What is about to happen: the tool, how much it could do, and on what.

    `target` is a path inside the workspace (`is_path`), a command's line, or whatever the tool acts on. `words` are
    those of a command that no shell reads. `rule_allowed` is False for what no rule may ever allow: an interpreter, a
    shell line, a line with operators.
    """

    tool: str
    risk: Risk
    target: str
    words: tuple[str, ...] = ()
    rule_allowed: bool = True
    is_path: bool = False


@dataclass(frozen=True, slots=True)
class Rule:
    """`workspace` is the folder's absolute path. With a `conversation_id` it holds there only.

    `after_untrusted`: it holds even after the conversation has read text from outside. `since`: when it was made, where
    that is known.
    """

    effect: Effect
    tool: str
    workspace: str
    pattern: str
    conversation_id: str | None = None
    after_untrusted: bool = False
    since: datetime | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class BrokenRule:
    """A stored rule that cannot be read. It never allows: it asks, or denies where that much is legible.

    `tool`, `workspace` and `conversation_id` are what can be read of it; None matches any.
    """

    row: Any
    effect: Effect
    tool: str | None = None
    workspace: str | None = None
    conversation_id: str | None = None


AnyRule = Rule | BrokenRule


@dataclass(frozen=True, slots=True)
class Situation:
    """Where the call happens, and by which rules. `read_untrusted`: text from outside has been read there."""

    workspace: str
    conversation_id: str
    rules: tuple[AnyRule, ...] = ()
    read_untrusted: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    effect: Effect
    because: Because = ""


def verdict(subject: Subject, default: Effect, situation: Situation) -> Verdict:
    """What is to be done with the call: the strictest matching rule, else the tool's own default."""
    voices = [voice for rule in situation.rules if (voice := _voice(rule, subject, situation)) is not None]
    for strictest in (Effect.DENY, Effect.ASK, Effect.ALLOW):
        heard = [voice for voice in voices if voice.effect is strictest and voice.because != "untrusted"]
        if heard:
            return max(heard, key=lambda voice: voice.because == "rule")
    if voices and default is Effect.ASK:
        return Verdict(Effect.ASK, "untrusted")
    return Verdict(default)


def effect_of(subject: Subject, default: Effect, situation: Situation) -> Effect:
    return verdict(subject, default, situation).effect


def _voice(rule: AnyRule, subject: Subject, situation: Situation) -> Verdict | None:
    """What one rule says about the call; None where it is about something else."""
    match rule:
        case BrokenRule():
            known = ((rule.tool, subject.tool), (rule.workspace, situation.workspace))
            if all(said in (None, meant) for said, meant in known) and _here(rule, situation):
                return Verdict(rule.effect, "broken")
            return None
        case Rule():
            if rule.tool != subject.tool or rule.workspace != situation.workspace or not _here(rule, situation):
                return None
            return _allowing(rule, subject, situation) if rule.effect is Effect.ALLOW else _strict(rule, subject)
        case _:
            assert_never(rule)


def _here(rule: AnyRule, situation: Situation) -> bool:
    return rule.conversation_id in (None, situation.conversation_id)


def _allowing(rule: Rule, subject: Subject, situation: Situation) -> Verdict | None:
    """Text from outside may have talked the model into it: then the rule is silent, unless it says more."""
    if not subject.rule_allowed or not matches(rule.pattern, subject.target, subject.words, is_path=subject.is_path):
        return None
    if situation.read_untrusted and not rule.after_untrusted and subject.risk in CHANGING:
        return Verdict(Effect.ALLOW, "untrusted")
    return Verdict(Effect.ALLOW, "rule")


def _strict(rule: Rule, subject: Subject) -> Verdict | None:
    """A rule that forbids is read generously: another spelling of the same name does not slip past it."""
    if rule.pattern == ANYTHING or matches_folded(
        rule.pattern, subject.target, subject.words, is_path=subject.is_path, runs=subject.risk is Risk.RUNS
    ):
        return Verdict(rule.effect, "rule")
    return None


def strictest_first(rules: Iterable[AnyRule]) -> list[AnyRule]:
    """For lists of rules: deny, ask, allow; each in the order they were made."""
    order = {Effect.DENY: 0, Effect.ASK: 1, Effect.ALLOW: 2}
    return sorted(rules, key=lambda rule: order[rule.effect])
