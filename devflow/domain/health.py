"""What `devflow doctor` finds: one line a check, with how to mend what is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from devflow.domain.errors import UserFacing
from devflow.domain.messages import Translator


class Health(StrEnum):
    """`WARNING`: it works, and something should be known or done."""

    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Finding:
    """`check` is a stable word (`database`, `index`, …); `message` and `hint` are message ids that `params` fill."""

    check: str
    health: Health
    message: str
    hint: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)

    def render(self, t: Translator) -> str:
        return t(self.message, **self.params)

    def render_hint(self, t: Translator) -> str:
        return t(self.hint, **self.params)


def ok(check: str, message: str, **params: object) -> Finding:
    return Finding(check, Health.OK, message, "", params)


def warning(check: str, message: str, hint: str, **params: object) -> Finding:
    return Finding(check, Health.WARNING, message, hint, params)


def failed(check: str, message: str, hint: str, **params: object) -> Finding:
    return Finding(check, Health.FAILED, message, hint, params)


def of_problem(check: str, problem: UserFacing) -> Finding:
    """A refusal as a finding."""
    return Finding(check, Health.FAILED, problem.message, problem.hint, problem.params)
