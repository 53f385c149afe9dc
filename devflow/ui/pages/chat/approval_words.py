"""Why a call asks, and why no rule can allow it, in words."""

from __future__ import annotations

from typing import assert_never

from devflow.domain.messages import Translator
from devflow.tools.approval import Approval, Covers


def because_words(t: Translator, approval: Approval) -> str:
    """What the card says above the call; empty where it asks because such calls ask."""
    match approval.because:
        case "untrusted":
            return t("A rule allows this, but this conversation has read text from outside.")
        case "revoked":
            return t("The rule that allowed this was revoked before it ran.")
        case "rule":
            return t("A rule of yours asks before this.")
        case "broken":
            return t("A stored rule cannot be read, so this asks. Settings → Tools shows it.")
        case "":
            return ""
        case _:
            assert_never(approval.because)


def no_rule_words(t: Translator, approval: Approval) -> str:
    """Why "Always allow" is not there; empty where it is."""
    if approval.patterns:
        return ""
    if not approval.rule_allowed:
        return t(
            "No rule may allow an interpreter, a shell line or a command in a folder below:"
            " what it would do cannot be told from its words."
        )
    match approval.because:
        case "rule":
            return t("A rule of yours asks before this each time; no other rule can allow it.")
        case "broken":
            return t("No rule can allow this while a stored rule cannot be read.")
        case _:
            return t("This call has nothing narrow enough to name in a rule.")


def pattern_words(t: Translator, pattern: str, covers: Covers) -> str:
    """What a pattern that is offered means."""
    match covers:
        case "command":
            return t("These words, whatever follows them") if pattern.endswith(" *") else t("Exactly this command")
        case "file":
            return t("Every file directly in this folder") if pattern.endswith("/*") else t("Only this file")
        case "server":
            return t("This tool of this server, whatever it is given")
        case "other":
            return t("Exactly this")
        case _:
            assert_never(covers)
