"""The words around what was said: headings, times, calls, sources; the same in every format."""

from __future__ import annotations

from datetime import datetime

from devflow.domain.conversation import Role
from devflow.domain.messages import Translator
from devflow.domain.run import CallState
from devflow.sharing.conversation import SharedCall, SharedConversation, SharedMessage, SharedSource
from devflow.tools.call_words import verb_of


def title_of(t: Translator, shared: SharedConversation) -> str:
    return shared.title or t("Conversation")


def facts(t: Translator, shared: SharedConversation) -> tuple[str, ...]:
    """Where it comes from, and when it was exported."""
    parts = [t("Exported from DevFlow on {when}", when=instant(shared.exported_at))]
    if shared.base:
        parts.append(t("Knowledge base: {name}", name=shared.base))
    if shared.project:
        parts.append(t("Project: {name}", name=shared.project))
    return tuple(parts)


def redaction(t: Translator, shared: SharedConversation) -> str:
    """That secrets were taken out; empty where there were none."""
    count = sum(shared.redacted.values())
    if not count:
        return ""
    named = ", ".join(sorted(shared.redacted))
    return t.n(
        "{count} secret was taken out, and reads [redacted: …] here: {named}.",
        "{count} secrets were taken out, and read [redacted: …] here: {named}.",
        count,
        named=named,
    )


def heading(t: Translator, message: SharedMessage) -> str:
    if message.role is Role.USER:
        return t("{number}. Question", number=message.number)
    return t("Answer")


def byline(t: Translator, message: SharedMessage) -> str:
    """`2026-11-30 21:40 · qwen3`."""
    model = t("Offline assistant") if message.offline else message.model
    parts = [instant(message.at)]
    if message.role is Role.ASSISTANT and model:
        parts.append(model)
    if message.partial:
        parts.append(t("not finished"))
    return " · ".join(parts)


def call_line(t: Translator, call: SharedCall) -> tuple[str, str, str]:
    """Verb, target, and what became of it."""
    return verb_of(t, call.tool), call.target, _outcome(t, call.state)


def source_line(t: Translator, source: SharedSource) -> tuple[str, str, str]:
    """Title, path, and where it was given."""
    if source.mark:
        return source.title, "", f"[{source.mark}]"
    given = ", ".join(
        t("[{number}] in question {question}", number=number, question=question) for question, number in source.given
    )
    return source.title, source.path, given


def instant(at: datetime) -> str:
    """In the time of whoever exports."""
    return f"{at.astimezone():%Y-%m-%d %H:%M}"


def _outcome(t: Translator, state: CallState) -> str:
    match state:
        case CallState.DONE:
            return t.p("call", "done")
        case CallState.FAILED:
            return t.p("call", "failed")
        case CallState.DENIED:
            return t.p("call", "denied")
        case CallState.CANCELLED:
            return t.p("call", "cancelled")
        case CallState.INTERRUPTED:
            return t.p("call", "interrupted")
        case CallState.AWAITING | CallState.APPROVED | CallState.EXECUTING:
            return t.p("call", "not finished")
