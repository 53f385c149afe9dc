"""What a card needs to know besides what would happen: why the call asks, and which rules could allow it for good.

It is kept in the call's preview under a name of its own, so that a decision covers it; the tool never sees it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, cast, get_args

from devflow.domain.ids import now
from devflow.tools.patterns import choices
from devflow.tools.policy import Because, Effect, Rule, Subject, Verdict

_KEY = "approval"

Covers = Literal["command", "file", "server", "other"]
"""What the patterns are about; `server`: a tool of an MCP server, whatever it is given."""


@dataclass(frozen=True, slots=True)
class Approval:
    """`patterns`: what an "always allow" may say, the narrowest first; none where no rule may allow the call.

    They would hold in `workspace`, a folder's path. `untrusted`: the conversation had read text from outside when the
    call was shown. `rule_allowed` is the subject's.
    """

    because: Because = ""
    patterns: tuple[str, ...] = ()
    covers: Covers = "other"
    workspace: str = ""
    untrusted: bool = False
    rule_allowed: bool = True


def approval_for(subject: Subject, said: Verdict, workspace: str, *, untrusted: bool) -> Approval:
    """A rule that asks, legible or not, beats any that allows: none is offered beside it."""
    patterns: tuple[str, ...] = ()
    if subject.rule_allowed and said.because not in ("rule", "broken"):
        patterns = choices(subject.target, subject.words, is_path=subject.is_path)
    return Approval(said.because, patterns, _covers(subject), workspace, untrusted, subject.rule_allowed)


def _covers(subject: Subject) -> Covers:
    if subject.words:
        return "command"
    if subject.is_path:
        return "file"
    return "server" if subject.tool.startswith("mcp__") else "other"


def with_approval(preview: Mapping[str, Any] | None, approval: Approval) -> dict[str, Any]:
    """What is stored with the call and shown on its card."""
    return {**(preview or {}), _KEY: {**asdict(approval), "patterns": list(approval.patterns)}}


def carrying(preview: Mapping[str, Any], former: Mapping[str, Any] | None) -> dict[str, Any]:
    """A new preview with its own approval, else with that of the one it takes the place of."""
    return dict(preview) if _KEY in preview else with_approval(preview, approval_of(former))


def without_approval(preview: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """The tool's own preview again."""
    own = {name: value for name, value in (preview or {}).items() if name != _KEY}
    return own or None


def approval_of(preview: Mapping[str, Any] | None) -> Approval:
    """What was kept with the call; nothing is offered where that cannot be read."""
    value = (preview or {}).get(_KEY)
    if not isinstance(value, Mapping):
        return Approval()
    because, covers, patterns = value.get("because"), value.get("covers"), value.get("patterns")
    return Approval(
        cast("Because", because) if because in get_args(Because) else "",
        tuple(each for each in patterns if isinstance(each, str)) if isinstance(patterns, list) else (),
        cast("Covers", covers) if covers in get_args(Covers) else "other",
        str(value.get("workspace", "")),
        value.get("untrusted") is True,
        value.get("rule_allowed") is not False,
    )


def rule_for(
    subject: Subject,
    workspace: str,
    *,
    pattern: str | None = None,
    conversation_id: str | None = None,
    after_untrusted: bool = False,
) -> Rule | None:
    """The rule of a wider yes, by default for exactly this target; None where the subject offers no such pattern."""
    offered = choices(subject.target, subject.words, is_path=subject.is_path) if subject.rule_allowed else ()
    chosen = pattern if pattern is not None else next(iter(offered), None)
    if chosen is None or chosen not in offered:
        return None
    return Rule(Effect.ALLOW, subject.tool, workspace, chosen, conversation_id, after_untrusted, now())
