"""An entry's events in words: what happened, who did it, when, and what each edit changed (KP-5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import groupby
from typing import Any

from devflow.domain.knowledge import EventKind, Kind, Status, TimelineEvent
from devflow.domain.messages import Translator
from devflow.ui.models.moments import moment
from devflow.ui.models.words import actor_name, kind_name, listed, reason_word, source_name
from devflow.ui.widgets.timeline import TimelineItem


def timeline_items(
    t: Translator, events: Sequence[TimelineEvent], now: datetime, others: Mapping[str, str] | None = None
) -> list[TimelineItem]:
    """`events` newest first; the steps of one act (approve goes through review) are one item.

    `others`: titles, by id, of the entries that were merged into this one, whose events stand among its own.
    """
    whose = others or {}
    items: list[TimelineItem] = []
    for _, group in groupby(events, key=_act):
        steps = list(group)[::-1]  # oldest first
        if len(steps) > 1 and steps[0].event is EventKind.REUSED:
            items.append(TimelineItem(_title(t, steps), _of(t, steps, whose, _uses(t, steps, now))))
            continue
        before, after = _texts(t, steps)
        items.append(TimelineItem(_title(t, steps), _of(t, steps, whose, _meta(t, steps, now)), before, after))
    return items


def _act(event: TimelineEvent) -> tuple[object, ...]:
    """What belongs to one item: an act's steps, and uses that follow one another."""
    if event.event is EventKind.REUSED:
        return (event.entry_id, event.event, event.actor, "conversation" in event.detail)
    return (event.entry_id, event.operation, event.event)


def _of(t: Translator, steps: Sequence[TimelineEvent], others: Mapping[str, str], meta: str) -> str:
    """The meta line, which says so where the event is another entry's."""
    title = others.get(steps[-1].entry_id)
    return meta if title is None else " · ".join((meta, t("of “{title}”", title=title)))


def _uses(t: Translator, steps: Sequence[TimelineEvent], now: datetime) -> str:
    times = t.n("{count} time", "{count} times", len(steps))
    return " · ".join((times, t("last {moment}", moment=moment(t, steps[-1].at, now))))


def _title(t: Translator, steps: Sequence[TimelineEvent]) -> str:
    last = steps[-1]
    match last.event:
        case EventKind.CREATED:
            return _created(t, last)
        case EventKind.UPDATED:
            return _edited(t, last)
        case EventKind.STATUS_CHANGED:
            return _moved(t, steps)
        case EventKind.RESTORED:
            return t("Restored to the inbox")
        case EventKind.REUSED:
            return t("Cited in a chat") if "conversation" in last.detail else t("Use recorded")
        case EventKind.SEEN_AGAIN:
            return t("Seen again")
        case EventKind.MERGED:
            return t("Others merged into it")
        case EventKind.DISMISSED:
            return t("Said not to contradict another")
        case EventKind.UNDONE:
            return t("Undone")
        case EventKind.REDONE:
            return t("Done again")
        case EventKind.ERASED:
            return t("Erased")


def _created(t: Translator, event: TimelineEvent) -> str:
    source = str(event.detail.get("source_ref", "manual"))
    match source.partition(":")[0]:
        case "conv":
            return t("Saved from a chat") if event.actor == "user" else t("Extracted from a chat")
        case "mcp":
            return t("Proposed by another tool")
        case "import":
            return t("Loaded with the sample library") if source == "import:sample" else t("Imported")
        case "wiki":
            return t("Taken from a page")
        case _:
            return t("Written by hand")


def _edited(t: Translator, event: TimelineEvent) -> str:
    match list(event.changes):
        case ["content"]:
            return t("Text edited")
        case ["title"]:
            return t("Title edited")
        case ["tags"]:
            return t("Tags edited")
        case ["kind"]:
            return t("Kind changed")
        case ["confidence"]:
            return t("Confidence changed")
        case ["project_id"]:
            everywhere = event.changes["project_id"][1] is None
            return t("Widened to all projects") if everywhere else t("Project changed")
        case several:
            return t("Edited: {fields}", fields=listed(t, (_field(t, name) for name in several)))


def _moved(t: Translator, steps: Sequence[TimelineEvent]) -> str:
    before, after = _statuses(steps)
    match Status(after):
        case Status.PUBLISHED:
            return t.p("event", "Published")
        case Status.PENDING_REVIEW:
            return t("Sent to review")
        case Status.ARCHIVED:
            return t("Rejected") if before in (Status.CANDIDATE, Status.PENDING_REVIEW) else t.p("event", "Archived")
        case Status.CANDIDATE:
            return t("Back in the inbox")


def _meta(t: Translator, steps: Sequence[TimelineEvent], now: datetime) -> str:
    last = steps[-1]
    parts = [] if last.event is EventKind.REUSED and last.actor == "ai" else [actor_name(t, last.actor)]
    parts.append(moment(t, last.at, now))
    if last.event is EventKind.UPDATED and "version" in last.detail:
        parts.append(f"v{last.detail['version']}")
    if any("status" in step.changes for step in steps) and last.event is not EventKind.RESTORED:
        path = [str(step.changes["status"][0]) for step in steps if "status" in step.changes]
        path.append(_statuses(steps)[1])
        parts.append(" → ".join(_step_name(t, Status(name)) for name in path))
    if reason := str(last.detail.get("reason", "")):
        parts.append(reason_word(t, reason))
    if last.event is EventKind.SEEN_AGAIN and (source := last.detail.get("source_ref")):
        parts.append(source_name(t, str(source)))
    return " · ".join(parts)


def _statuses(steps: Sequence[TimelineEvent]) -> tuple[str, str]:
    moves = [step.changes["status"] for step in steps if "status" in step.changes]
    return (str(moves[0][0]), str(moves[-1][1])) if moves else ("", "")


def _step_name(t: Translator, status: Status) -> str:
    match status:
        case Status.CANDIDATE:
            return t.p("status step", "candidate")
        case Status.PENDING_REVIEW:
            return t.p("status step", "review")
        case Status.PUBLISHED:
            return t.p("status step", "published")
        case Status.ARCHIVED:
            return t.p("status step", "archived")


def _texts(t: Translator, steps: Sequence[TimelineEvent]) -> tuple[str | None, str | None]:
    """What the act changed in the fields, before and after; None where it changed none that is text."""
    changes = {name: pair for step in steps for name, pair in step.changes.items() if name in _TEXTS}
    if not changes:
        return None, None
    if len(changes) == 1:
        name, (before, after) = next(iter(changes.items()))
        return _value(t, name, before), _value(t, name, after)
    sides = []
    for side in (0, 1):
        labelled = [
            _value(t, name, pair[side])
            if name == "content"
            else t("{field}: {value}", field=_field(t, name), value=_value(t, name, pair[side]))
            for name, pair in changes.items()
        ]
        sides.append("\n".join(labelled))
    return sides[0], sides[1]


_TEXTS = ("kind", "title", "tags", "confidence", "content")


def _value(t: Translator, name: str, value: Any) -> str:
    match name:
        case "kind":
            return kind_name(t, Kind(value))
        case "tags":
            return listed(t, value or ())
        case "confidence":
            return f"{float(value):.2f}"
        case _:
            return str(value or "")


def _field(t: Translator, name: str) -> str:
    return {
        "kind": t.p("field", "kind"),
        "title": t.p("field", "title"),
        "content": t.p("field", "text"),
        "tags": t.p("field", "tags"),
        "confidence": t.p("field", "confidence"),
        "project_id": t.p("field", "project"),
    }.get(name, name)
