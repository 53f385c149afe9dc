"""Entries, events and counts as text for a terminal. Ids, kinds and statuses stand as the commands take them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from devflow.cli.output import Output, one_line
from devflow.domain.knowledge import Entry, TimelineEvent
from devflow.knowledge.as_json import entry_json, event_json, hit_json, likeness_json, stats_json
from devflow.knowledge.queries import Stats
from devflow.knowledge.similar import Likeness
from devflow.retrieval.contradict_words import against
from devflow.retrieval.hits import Hit
from devflow.retrieval.reasons import why


def entries(output: Output, found: Iterable[Entry]) -> None:
    """One line an entry, or one array."""
    if output.json:
        output.value([entry_json(entry) for entry in found])
        return
    for entry in found:
        output.line(entry_line(entry))


def hits(output: Output, found: Iterable[Hit]) -> None:
    if output.json:
        output.value([hit_json(hit) for hit in found])
        return
    for hit in found:
        output.line(f"{entry_line(hit.entry)}  ({hit.score:.2f}: {why(output.t, hit.match)})")


def alike(output: Output, found: Iterable[Likeness]) -> None:
    if output.json:
        output.value([likeness_json(each) for each in found])
        return
    t = output.t
    for each in found:
        said = [f"{each.score:.2f}"]
        if each.why:
            said.append(t("both say: {terms}", terms=one_line(", ".join(each.why))))
        if each.contradicts is not None:
            said.append("; ".join(against(t, one) for one in each.contradicts.against) or t("may contradict it"))
        output.line(f"{entry_line(each.entry)}  ({'; '.join(said)})")


def changed(output: Output, done: tuple[Entry, ...]) -> None:
    """What an act changed: the entry, or an array where several were named."""
    if output.json:
        shown = [entry_json(entry) for entry in done]
        output.value(shown[0] if len(shown) == 1 else shown)
        return
    for entry in done:
        output.line(entry_line(entry))


def entry(output: Output, one: Entry) -> None:
    """The whole entry: what it says, and what is known about it."""
    if output.json:
        output.value(entry_json(one))
        return
    t = output.t
    output.line(one.title)
    output.line()
    for name, value in (
        (t("Id"), one.id),
        (t("Kind"), one.kind.value),
        (t("Status"), one.status.value),
        (t("Tags"), ", ".join(one.tags)),
        (t("Project"), one.project.name if one.project else t("everywhere")),
        (t("Source"), one.source_ref),
        (t("Confidence"), f"{one.confidence:.2f}"),
        (t("Reused"), t.n("{count} time", "{count} times", one.reuse_count)),
        (t("Version"), one.version),
        (t("Created"), local(one.created_at)),
        (t("Updated"), local(one.updated_at)),
        (t("Published"), local(one.published_at)),
        (t("Archived"), local(one.archived_at)),
    ):
        if value != "":
            _named(output, name, value)
    if one.evidence and one.evidence.quote:
        _named(output, t("Evidence"), one.evidence.quote)
    output.line()
    output.line(one.content)


def events(output: Output, found: Iterable[TimelineEvent]) -> None:
    if output.json:
        output.value([event_json(event) for event in found])
        return
    for event in found:
        output.line(f"{local(event.at)}  {event.event.value}  {event.actor}{_detail(event)}")
        for name, (before, after) in event.changes.items():
            output.line(f"    {name}: {_short(before)} → {_short(after)}")


def stats(output: Output, found: Stats) -> None:
    if output.json:
        output.value(stats_json(found))
        return
    t = output.t
    output.line(t.n("{count} entry", "{count} entries", found.total))
    _named(output, t("Inbox"), found.inbox)
    _named(output, t("Reused"), t.n("{count} time", "{count} times", found.reused))
    for name, counts in ((t("Status"), found.statuses), (t("Kind"), found.kinds), (t("Source"), found.sources)):
        output.line()
        output.line(name)
        for word, count in counts.items():
            output.line(f"  {count:>6}  {word}")


def entry_line(one: Entry) -> str:
    return f"{one.id}  {one.status.value:<14}  {one.kind.value:<21}  {one_line(one.title)}"


def _named(output: Output, name: str, value: object) -> None:
    output.line(f"{name}: {one_line(str(value))}")


def local(instant: datetime | None) -> str:
    """In the reader's own time zone."""
    return "" if instant is None else instant.astimezone().strftime("%Y-%m-%d %H:%M:%S")


def _detail(event: TimelineEvent) -> str:
    shown = {name: value for name, value in event.detail.items() if name not in ("version", "before")}
    said = "  ".join(f"{name}={one_line(str(value))}" for name, value in shown.items() if value)
    return f"  {said}" if said else ""


def _short(value: Any) -> str:
    text = one_line(", ".join(map(str, value)) if isinstance(value, list) else str(value))
    return text if len(text) <= 60 else f"{text[:57]}…"
