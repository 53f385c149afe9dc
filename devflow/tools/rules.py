"""The user's rules as they are stored: a list in the settings group `tool_rules`.

A row that cannot be read never allows anything: it asks, or denies where that much of it is legible, and is listed, so
that it can be removed.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from devflow.domain.errors import InvalidInput
from devflow.knowledge.settings import Settings
from devflow.tools.patterns import check_pattern
from devflow.tools.policy import AnyRule, BrokenRule, Effect, Rule

GROUP = "tool_rules"


async def read_rules(settings: Settings) -> tuple[AnyRule, ...]:
    """The stored rules as they are this moment, whichever process changed them last."""
    return rules_in(await settings.fresh(GROUP))


async def add_rule(settings: Settings, rule: AnyRule) -> None:
    """Keep a rule, once; a `BrokenRule` (its removal is undone) comes back as it stood."""
    await settings.modify(GROUP, lambda value: with_rule(value, rule))


async def remove_rule(settings: Settings, rule: AnyRule) -> None:
    """Revoke a rule; it counts no more from the next call on, in every process."""

    def change(value: Any) -> dict[str, Any]:
        if isinstance(rule, BrokenRule) and rule.row == value:
            return {}
        known = _object(value)
        if isinstance(rule, BrokenRule) and rule.row == known.get("rules"):
            return {**known, "rules": []}
        return {**known, "rules": [row for row in _rows(known) if _read(row) != rule]}

    await settings.modify(GROUP, change)


def with_rule(value: Any, rule: AnyRule) -> dict[str, Any]:
    """The group's value with one more rule, in the place of one about the same; what cannot be read stays as it is."""
    known = _object(value)
    if isinstance(rule, BrokenRule):
        return {**known, "rules": [*_rows(known), rule.row]}
    check_pattern(rule.pattern, allows=rule.effect is Effect.ALLOW)
    stays = [row for row in _rows(known) if not _about_the_same(_read(row), rule)]
    return {**known, "rules": [*stays, _to_json(rule)]}


def rules_in(value: Any) -> tuple[AnyRule, ...]:
    """Every rule of the group's value, broken ones too."""
    if value is None:
        return ()
    if not isinstance(value, Mapping):
        return (BrokenRule(value, Effect.ASK),)
    rows = value.get("rules", [])
    return tuple(map(_read, rows)) if isinstance(rows, list) else (BrokenRule(rows, Effect.ASK),)


def _object(value: Any) -> dict[str, Any]:
    """The group as an object; one that is something else becomes a rule that cannot be read."""
    if value is None:
        return {}
    return dict(value) if isinstance(value, Mapping) else {"rules": [value]}


def _rows(known: Mapping[str, Any]) -> list[Any]:
    rows = known.get("rules", [])
    return list(rows) if isinstance(rows, list) else [rows]


def _about_the_same(kept: AnyRule, rule: Rule) -> bool:
    return isinstance(kept, Rule) and _key(kept) == _key(rule)


def _key(rule: Rule) -> tuple[object, ...]:
    return rule.effect, rule.tool, rule.workspace, rule.pattern, rule.conversation_id


def _read(row: object) -> AnyRule:
    if not isinstance(row, Mapping):
        return BrokenRule(row, Effect.ASK)
    effect, tool, pattern = (_text(row.get(name)) for name in ("effect", "tool", "pattern"))
    workspace, talk = row.get("workspace"), row.get("conversation_id")
    legible = isinstance(workspace, str) and (talk is None or bool(_text(talk)))
    if effect in set(Effect) and tool and pattern and legible and _fits(pattern, effect == Effect.ALLOW):
        return Rule(
            Effect(effect),
            tool,
            str(workspace),
            pattern,
            talk,
            row.get("after_untrusted") is True,
            _moment(row.get("since")),
        )
    strict = Effect.DENY if effect == Effect.DENY else Effect.ASK
    return BrokenRule(row, strict, tool, workspace if isinstance(workspace, str) else None, _text(talk))


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _fits(pattern: str, allows: bool) -> bool:
    try:
        check_pattern(pattern, allows=allows)
    except InvalidInput:
        return False
    return True


def _moment(value: object) -> datetime | None:
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return moment if moment is None or moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def _to_json(rule: Rule) -> dict[str, Any]:
    return {
        "effect": rule.effect.value,
        "tool": rule.tool,
        "workspace": rule.workspace,
        "pattern": rule.pattern,
        "conversation_id": rule.conversation_id,
        "after_untrusted": rule.after_untrusted,
        "since": rule.since.isoformat() if rule.since is not None else None,
    }
