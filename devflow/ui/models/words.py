"""The library's own words for the human: kinds, statuses, sources, who acted, why something was rejected."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce
from typing import assert_never

from devflow.domain.errors import UserFacing
from devflow.domain.knowledge import Kind, Status
from devflow.domain.messages import Translator


def kind_name(t: Translator, kind: Kind) -> str:
    match kind:
        case Kind.PITFALL:
            return t.p("kind", "Pitfall")
        case Kind.REVIEW_RULE:
            return t.p("kind", "Review rule")
        case Kind.PROMPT_TEMPLATE:
            return t.p("kind", "Prompt template")
        case Kind.ARCHITECTURE_PATTERN:
            return t.p("kind", "Architecture")
        case Kind.DIAGNOSIS:
            return t.p("kind", "Diagnosis")
        case Kind.DEPLOYMENT_NOTE:
            return t.p("kind", "Deployment")
        case Kind.WORKFLOW_OPTIMIZATION:
            return t.p("kind", "Workflow")
        case _:
            assert_never(kind)


def status_name(t: Translator, status: Status) -> str:
    match status:
        case Status.CANDIDATE:
            return t.p("status", "Candidate")
        case Status.PENDING_REVIEW:
            return t.p("status", "Pending review")
        case Status.PUBLISHED:
            return t.p("status", "Published")
        case Status.ARCHIVED:
            return t.p("status", "Archived")
        case _:
            assert_never(status)


def source_word(t: Translator, source_ref: str) -> str:
    """One word for where an entry comes from: `Chat`, `MCP`, `Import`, `Wiki`, `By hand`."""
    match source_ref.partition(":")[0]:
        case "conv":
            return t.p("source", "Chat")
        case "mcp":
            return t.p("source", "MCP")
        case "import":
            return t.p("source", "Import")
        case "wiki":
            return t.p("source", "Wiki")
        case _:
            return t.p("source", "By hand")


def source_name(t: Translator, source_ref: str) -> str:
    """The same with what the reference names, where that says something to a human."""
    word, what = source_word(t, source_ref), source_ref.partition(":")[2]
    if source_ref == "import:sample":
        return t("Sample library")
    if not what or source_ref.startswith("conv:"):
        return word
    return f"{word} · {what}"


def actor_name(t: Translator, actor: str) -> str:
    """Who acted, as the timeline says it."""
    match actor:
        case "user":
            return t.p("actor", "you")
        case "ai":
            return t.p("actor", "model")
        case "system":
            return t.p("actor", "DevFlow")
        case _:
            return source_name(t, actor)  # a program may call itself "you"; what it is stands before its name


def reject_reasons(t: Translator) -> Mapping[str, str]:
    """Why a candidate is rejected: the stored code and its word, in the order of the keys 1–4."""
    return {
        "duplicate": t.p("reject reason", "Duplicate"),
        "wrong": t.p("reject reason", "Wrong"),
        "too_specific": t.p("reject reason", "Too specific"),
        "outdated": t.p("reject reason", "Outdated"),
    }


def reason_word(t: Translator, reason: str) -> str:
    """A stored reason in words; a reason that somebody wrote stays as it is."""
    return reject_reasons(t).get(reason, reason)


def sort_names(t: Translator) -> Mapping[str, str]:
    """The library's orders, by the service's names."""
    return {
        "relevance": t.p("sort", "Relevance"),
        "updated": t.p("sort", "Updated"),
        "created": t.p("sort", "Created"),
        "reuse": t.p("sort", "Reuse"),
        "confidence": t.p("sort", "Confidence"),
        "title": t.p("sort", "Title"),
    }


def listed(t: Translator, items: Iterable[str]) -> str:
    """`a, b, c`, as the language writes a list."""
    return reduce(lambda done, item: t("{list}, {item}", list=done, item=item), items) if (items := [*items]) else ""


def refusal(t: Translator, error: UserFacing) -> str:
    """What happened and what to do about it, as one text."""
    sentence, advice = error.render(t), error.render_hint(t)
    return t("{sentence} {advice}", sentence=sentence, advice=advice) if sentence and advice else sentence or advice
