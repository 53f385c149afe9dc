"""Instants in words: how long ago, and the date in local time."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

from devflow.domain.messages import Translator

_MINUTE, _HOUR, _DAY, _WEEK = 60, 3600, 86_400, 7 * 86_400
_MONTH, _YEAR = 30 * _DAY, 365 * _DAY


def age(t: Translator, at: datetime, now: datetime) -> str:
    """How old something is, at a glance: `4 min`, `2 h`, `1 d`."""
    return _said(
        at,
        now,
        t.p("age", "now"),
        (
            (_MINUTE, lambda count: t.p("age", "{count} min", count=count)),
            (_HOUR, lambda count: t.p("age", "{count} h", count=count)),
            (_DAY, lambda count: t.p("age", "{count} d", count=count)),
            (_WEEK, lambda count: t.p("age", "{count} w", count=count)),
            (_MONTH, lambda count: t.p("age", "{count} mo", count=count)),
            (_YEAR, lambda count: t.p("age", "{count} y", count=count)),
        ),
    )


def changed(t: Translator, at: datetime, now: datetime) -> str:
    """When something last changed, at a glance: `2 d` (in Chinese `2 天前`)."""
    return _said(
        at,
        now,
        t.p("changed", "now"),
        (
            (_MINUTE, lambda count: t.p("changed", "{count} min", count=count)),
            (_HOUR, lambda count: t.p("changed", "{count} h", count=count)),
            (_DAY, lambda count: t.p("changed", "{count} d", count=count)),
            (_WEEK, lambda count: t.p("changed", "{count} w", count=count)),
            (_MONTH, lambda count: t.p("changed", "{count} mo", count=count)),
            (_YEAR, lambda count: t.p("changed", "{count} y", count=count)),
        ),
    )


def ago(t: Translator, at: datetime, now: datetime) -> str:
    """The same in a sentence: `4 min ago`."""
    return _said(
        at,
        now,
        t("just now"),
        (
            (_MINUTE, lambda count: t("{count} min ago", count=count)),
            (_HOUR, lambda count: t("{count} h ago", count=count)),
            (_DAY, lambda count: t.n("{count} day ago", "{count} days ago", count)),
            (_WEEK, lambda count: t.n("{count} week ago", "{count} weeks ago", count)),
            (_MONTH, lambda count: t.n("{count} month ago", "{count} months ago", count)),
            (_YEAR, lambda count: t.n("{count} year ago", "{count} years ago", count)),
        ),
    )


def day(t: Translator, at: datetime, now: datetime) -> str:
    """The local day: `today`, `yesterday`, `28 Nov`, `28 Nov 2025`."""
    local, today = at.astimezone(now.tzinfo), now.date()
    if local.date() == today:
        return t("today")
    if local.date() == today - timedelta(days=1):
        return t("yesterday")
    return date(t, at, now)


def moment(t: Translator, at: datetime, now: datetime) -> str:
    """Day and local time: `yesterday 16:20`, `28 Nov 09:31`."""
    return t("{day} {time}", day=day(t, at, now), time=f"{at.astimezone(now.tzinfo):%H:%M}")


def date(t: Translator, at: datetime, now: datetime) -> str:
    """The local date: `28 Nov`, with the year where it is another one."""
    local = at.astimezone(now.tzinfo)
    words = t("{day} {month}", day=local.day, month=_month(t, local.month), number=local.month)
    return words if local.year == now.year else t("{date} {year}", date=words, year=local.year)


def local_now() -> datetime:
    """The present with the local zone."""
    return datetime.now().astimezone()


def _said(at: datetime, now: datetime, just_now: str, steps: tuple[tuple[int, Callable[[int], str]], ...]) -> str:
    seconds = max(0, int((now - at).total_seconds()))
    fitting = [(length, words) for length, words in steps if seconds >= length]
    if not fitting:
        return just_now
    length, words = fitting[-1]
    return words(seconds // length)


def _month(t: Translator, number: int) -> str:
    return (
        t.p("month", "Jan"),
        t.p("month", "Feb"),
        t.p("month", "Mar"),
        t.p("month", "Apr"),
        t.p("month", "May"),
        t.p("month", "Jun"),
        t.p("month", "Jul"),
        t.p("month", "Aug"),
        t.p("month", "Sep"),
        t.p("month", "Oct"),
        t.p("month", "Nov"),
        t.p("month", "Dec"),
    )[number - 1]
