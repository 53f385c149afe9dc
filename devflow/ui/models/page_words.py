"""What the window says of a page: when it was changed, and why it was skipped."""

from __future__ import annotations

from datetime import UTC, datetime

from devflow.domain.messages import Translator
from devflow.store.page_file import PageRow
from devflow.ui.models.moments import day
from devflow.ui.models.page_groups import CLOSED
from devflow.wiki.page_index import ENCODING, NAME, TOO_LARGE, UNREADABLE

_JUST_NOW_S = 120


def changed_at(page: PageRow) -> datetime:
    return datetime.fromtimestamp(page.mtime_ns / 1e9, UTC)


def changed_words(t: Translator, page: PageRow, now: datetime) -> str:
    """`now`, `today`, `yesterday`, `Tue` within the week, `11-20` within the year, else `2025-11`."""
    at = changed_at(page)
    local = at.astimezone(now.tzinfo)
    days = (now.date() - local.date()).days
    if 0 <= (now - at).total_seconds() < _JUST_NOW_S:
        return t.p("changed", "now")
    if days <= 1:
        return day(t, at, now)
    if days < 7:
        return _weekday(t, local.weekday())
    return f"{local:%m-%d}" if local.year == now.year else f"{local:%Y-%m}"


def problem_words(t: Translator, page: PageRow) -> str:
    """Why its text is not there; empty where it is."""
    return {
        TOO_LARGE: t("Larger than 5 MB"),
        ENCODING: t("Not text in a known encoding"),
        UNREADABLE: t("Cannot be read"),
        NAME: t("Its name is not text in a known encoding"),
        CLOSED: t("This folder cannot be read"),
    }.get(page.problem, page.problem)


def _weekday(t: Translator, number: int) -> str:
    return (
        t.p("weekday", "Mon"),
        t.p("weekday", "Tue"),
        t.p("weekday", "Wed"),
        t.p("weekday", "Thu"),
        t.p("weekday", "Fri"),
        t.p("weekday", "Sat"),
        t.p("weekday", "Sun"),
    )[number]
