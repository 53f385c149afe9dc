"""Words for entries that resemble one, and for why two of them may contradict each other (KP-10)."""

from __future__ import annotations

import re

from devflow.domain.knowledge import Status
from devflow.domain.messages import Translator
from devflow.domain.text.passages import spans
from devflow.knowledge.contradict import Contradiction
from devflow.knowledge.similar import Likeness
from devflow.retrieval.contradict_words import against
from devflow.ui.models.words import listed, status_name

MOST = 5
SHARED_TERMS = 6


def reasons(t: Translator, contradiction: Contradiction) -> tuple[str, ...]:
    """Which words stand against which, one line each; of a pair that a human marked, that."""
    said = tuple(against(t, opposition) for opposition in contradiction.against)
    return said or (t("Marked by hand as contradicting"),)


def flag(t: Translator, likeness: Likeness) -> str:
    """`May contradict. Another number: …` in one line, beside the other's title; empty where it does not."""
    if likeness.contradicts is None:
        return ""
    return t("May contradict. {reason}.", reason=reasons(t, likeness.contradicts)[0])


def how_alike(t: Translator, likeness: Likeness) -> str:
    """`Published · 0.84 similar`."""
    status = status_name(t, likeness.entry.status)
    return t("{status} · {score} similar", status=status, score=f"{likeness.score:.2f}")


def shared(t: Translator, likeness: Likeness) -> str:
    """The most telling words that both have; empty where none is known."""
    text = f"{likeness.entry.title}\n{likeness.entry.content}"
    words = dict.fromkeys(_as_written(text, start, end) for start, end in spans(text, likeness.why))
    longest = [word for word in words if not any(word in other and word != other for other in words)]
    return t("Both say: {words}", words=listed(t, longest[:SHARED_TERMS])) if longest else ""


def _as_written(text: str, start: int, end: int) -> str:
    """The whole word where a term, which may be a stem, begins; pairs of Han characters stand joined already."""
    rest = re.match(r"[A-Za-z0-9_]*", text[end:]) if text[end - 1].isascii() else None
    return text[start : end + (rest.end() if rest is not None else 0)].lower()


def address(likeness: Likeness) -> str:
    """Where the window shows it."""
    page = "entry" if likeness.entry.status in (Status.PUBLISHED, Status.ARCHIVED) else "inbox"
    return f"devflow:{page}/{likeness.entry.id}"
