"""The user's rules in words: what each does, where it holds, and since when."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import assert_never

from devflow.domain.messages import Translator
from devflow.tools.call_words import verb_of
from devflow.tools.paths import visible
from devflow.tools.policy import AnyRule, BrokenRule, Effect, Rule
from devflow.ui.models import moments


@dataclass(frozen=True, slots=True)
class Scenes:
    """What the words need besides the rules: folders that are still there, and conversations by id."""

    folders: frozenset[str]
    titles: Mapping[str, str]


def effect_words(t: Translator, effect: Effect) -> tuple[str, str]:
    """The chip's word and kind."""
    match effect:
        case Effect.ALLOW:
            return t.p("rule", "Allow"), "success"
        case Effect.ASK:
            return t.p("rule", "Ask"), "info"
        case Effect.DENY:
            return t.p("rule", "Deny"), "danger"
        case _:
            assert_never(effect)


def act_words(t: Translator, rule: AnyRule) -> str:
    """What the assistant would do: the tool's verb, or its name."""
    return verb_of(t, rule.tool) if rule.tool else t("Any tool")


def pattern_words(rule: AnyRule) -> str:
    """The pattern in full; of a rule that cannot be read, what is stored."""
    return visible(rule.pattern if isinstance(rule, Rule) else json.dumps(rule.row, ensure_ascii=False))


def where_words(t: Translator, rule: AnyRule, scenes: Scenes) -> str:
    """The folder, the conversation, since when, and what else holds."""
    if isinstance(rule, BrokenRule):
        if rule.effect is Effect.DENY:
            return t("This rule cannot be read: until it is removed, it denies.")
        return t("This rule cannot be read: until it is removed, every call it may be about asks.")
    parts = [_folder_words(t, rule, scenes)]
    if rule.conversation_id is not None:
        parts.append(_conversation_words(t, rule.conversation_id, scenes))
    if rule.after_untrusted:
        parts.append(t("also after reading untrusted text"))
    if rule.since is not None:
        parts.append(t("since {date}", date=moments.date(t, rule.since, moments.local_now())))
    return " · ".join(parts)


def is_stale(rule: AnyRule, scenes: Scenes) -> bool:
    """Whether the folder it names is gone."""
    return isinstance(rule, Rule) and bool(rule.workspace) and rule.workspace not in scenes.folders


def _folder_words(t: Translator, rule: Rule, scenes: Scenes) -> str:
    if not rule.workspace:
        return t("without a project folder")
    name = Path(rule.workspace).name or rule.workspace
    return t("{folder} (this folder is gone)", folder=name) if is_stale(rule, scenes) else name


def _conversation_words(t: Translator, id: str, scenes: Scenes) -> str:
    title = scenes.titles.get(id)
    if title is None:
        return t("only in a conversation that was deleted")
    return t("only in “{title}”", title=title or t("New conversation"))
