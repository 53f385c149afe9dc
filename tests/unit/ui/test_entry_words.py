"""Ages, dates and timelines in words."""

from datetime import UTC, datetime, timedelta

import pytest

from devflow.domain.knowledge import EventKind, TimelineEvent
from devflow.domain.messages import english
from devflow.ui.models.entries import excerpt
from devflow.ui.models.library_view import LibraryView, from_settings, to_settings
from devflow.ui.models.moments import age, ago, moment
from devflow.ui.models.words import actor_name, listed
from devflow.ui.widgets.entry_timeline import timeline_items

T = english()
NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    "seconds, short, long",
    [
        (5, "now", "just now"),
        (4 * 60 + 59, "4 min", "4 min ago"),
        (2 * 3600, "2 h", "2 h ago"),
        (26 * 3600, "1 d", "1 day ago"),
        (6 * 86_400, "6 d", "6 days ago"),
        (8 * 86_400, "1 w", "1 week ago"),
        (40 * 86_400, "1 mo", "1 month ago"),
        (800 * 86_400, "2 y", "2 years ago"),
        (-60, "now", "just now"),
    ],
)
def test_how_long_ago_something_was(seconds: int, short: str, long: str) -> None:
    at = NOW - timedelta(seconds=seconds)
    assert (age(T, at, NOW), ago(T, at, NOW)) == (short, long)


def test_a_moment_is_said_in_local_time() -> None:
    assert moment(T, NOW - timedelta(hours=2), NOW) == "today 10:00"
    assert moment(T, NOW - timedelta(hours=20), NOW) == "yesterday 16:00"
    assert moment(T, NOW - timedelta(days=2), NOW) == "28 Nov 12:00"
    assert moment(T, NOW - timedelta(days=370), NOW) == "25 Nov 2025 12:00"


def test_a_list_is_written_as_the_language_does() -> None:
    assert listed(T, ["a", "b", "c"]) == "a, b, c"
    assert listed(T, []) == ""


def test_an_excerpt_is_plain_text() -> None:
    content = "# Head\n\n- Use `put` and **never** [this](https://example.org).\n\n```python\ncode()\n```"
    assert excerpt(content) == "Head Use put and never this. code()"


def event(number: int, kind: EventKind, operation: str, actor: str = "user", **more: object) -> TimelineEvent:
    at = NOW - timedelta(minutes=100 - number)
    return TimelineEvent(number, "entry", kind, actor, at, operation, **more)  # type: ignore[arg-type]


def test_the_steps_of_an_approval_are_one_item() -> None:
    events = [
        event(1, EventKind.CREATED, "a", "ai", detail={"source_ref": "conv:1"}),
        event(2, EventKind.STATUS_CHANGED, "b", changes={"status": ("candidate", "pending_review")}),
        event(3, EventKind.STATUS_CHANGED, "b", changes={"status": ("pending_review", "published")}),
    ]
    items = timeline_items(T, events[::-1], NOW)
    assert [item.title for item in items] == ["Published", "Extracted from a chat"]
    assert items[0].meta == "you · today 10:23 · candidate → review → published"


def test_a_rejection_says_why() -> None:
    changes = {"status": ("candidate", "archived")}
    rejected = event(1, EventKind.STATUS_CHANGED, "a", changes=changes, detail={"reason": "too_specific"})
    (item,) = timeline_items(T, [rejected], NOW)
    assert (item.title, item.meta) == ("Rejected", "you · today 10:21 · candidate → archived · Too specific")


def test_an_edit_of_one_field_shows_it_before_and_after() -> None:
    """KP-5."""
    edited = event(1, EventKind.UPDATED, "a", changes={"tags": (["a"], ["a", "b"])}, detail={"version": 3})
    (item,) = timeline_items(T, [edited], NOW)
    assert (item.title, item.meta) == ("Tags edited", "you · today 10:21 · v3")
    assert (item.before, item.after) == ("a", "a, b")


def test_uses_that_follow_one_another_are_one_line() -> None:
    uses = [event(n, EventKind.REUSED, f"{n}", "ai", detail={"conversation": f"{n}"}) for n in (3, 2, 1)]
    (item,) = timeline_items(T, uses, NOW)
    assert (item.title, item.meta) == ("Cited in a chat", "3 times · last today 10:23")


def test_a_stored_view_comes_back_and_a_broken_one_falls_back_field_by_field() -> None:
    view = LibraryView(status=None, tag="sqlite", source="mcp", query="lock", sort="title")
    assert from_settings(to_settings(view)) == view
    assert from_settings({"status": 7, "kind": "nonsense", "sort": "sideways", "query": None, "tag": "kept"}) == (
        LibraryView(tag="kept")
    )
    assert from_settings({}) == LibraryView()


def test_a_program_that_calls_itself_you_is_not_taken_for_the_user() -> None:
    assert actor_name(english(), "user") == "you"
    assert actor_name(english(), "mcp:you") == "MCP · you"
