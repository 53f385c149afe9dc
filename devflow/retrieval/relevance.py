"""Which entries a message is really about (spec 01, Injection): stricter than search.

Search shows the best there is. What is put into a prompt unasked must be about the message: enough of what the message
says must stand in the entry's title and tags, or close together in its content. Words scattered over a long text, and
words that every conversation is full of, are no evidence.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import log

from devflow.domain.text import run_terms, segments, word_terms
from devflow.domain.text.stopwords import function_characters, without_question_phrases
from devflow.retrieval.query import Term, parse
from devflow.retrieval.ranking import Fields, Weighed
from devflow.retrieval.weak_words import WEAK, WEAK_SHARE

COVERED = 0.15
"""The least share of the message's weight that an entry must have in its title, its tags and one window of content."""
EVIDENCE = 0.5
"""That share times how much it is, in terms as rare as a term can be: of a long message less of it must be there."""
COVERED_BY_TITLE, EVIDENCE_IN_TITLE = 0.3, 0.9
"""The share that is enough in title and tags alone; a title says with less what the entry is about."""
UNITS = 2
"""So many words (of Han text: pairs of characters) must meet where the title says nothing."""
HINT = 0.2
"""That share times how much it is, where the entry's meaning is near as well; one word is enough then."""
WINDOW = 200
"""Characters."""
BACKGROUND = 300
"""Imagined entries about other things: in a small library about one subject, the subject's words are still telling."""
UNKNOWN = 0.6
"""A word that no entry has counts for so much of its rarity: people say a thing with many words, and the library need
not know them all."""
SHORT, LONG, ENDING_MAX = 3, 5, 5
"""A stem of few letters would begin too many words: the word itself must stand there. One short of `LONG` letters
begins a word and may have an ending of so many. A longer one counts anywhere: identifiers run words together."""
SENTENCES_MAX = 12
"""Of a longer message the first and the last sentences are held against an entry one by one."""
SEEN_MAX = 60
"""A term's first so many places are looked at."""

_NAME = re.compile(r"\w[A-Z]|[^\W\d]\d|\w_\w")
_SENTENCE_END = re.compile(r"[。！？；\n]+|[.!?;]+(?=\s|$)")


@dataclass(frozen=True, slots=True)
class Evidence:
    """`covered` and `titled` are shares (0–1) of the message's weight; `strength` is in terms as rare as can be;
    `units` counts words and pairs of Han characters that are not weak."""

    covered: float
    titled: float
    strength: float
    units: int

    @property
    def suffices(self) -> bool:
        if self.covered < COVERED:
            return False
        in_title = self.titled >= COVERED_BY_TITLE and self.strength >= EVIDENCE_IN_TITLE
        return in_title or (self.covered * self.strength >= EVIDENCE and self.units >= UNITS)

    @property
    def hints(self) -> bool:
        """Too little alone, but enough beside a meaning that is near."""
        return self.covered >= COVERED and self.covered * self.strength >= HINT and self.units >= 1


@dataclass(frozen=True, slots=True)
class Asked:
    """A message, or one of its sentences, with those of the weighed terms that stand in it."""

    text: str
    weighed: tuple[Weighed, ...]


def asked(message: str, weighed: Sequence[Weighed]) -> tuple[Asked, ...]:
    """The message whole, then its sentences: a wish about the answer's form, or a pasted log, dilutes no question."""
    whole = Asked(message, tuple(weighed))
    sentences = [sentence for sentence in _SENTENCE_END.split(message) if sentence and sentence.strip()]
    if len(sentences) < 2:
        return (whole,)
    if len(sentences) > SENTENCES_MAX:
        sentences = [*sentences[: SENTENCES_MAX // 2], *sentences[-SENTENCES_MAX // 2 :]]
    parts = []
    for sentence in sentences:
        query = parse(sentence)
        there = {term.text for term in query.terms}
        if not query.only_common and (own := tuple(w for w in weighed if w.term.text in there)):
            parts.append(Asked(sentence, own))
    return (whole, *parts)


def is_about(entry: Fields, parts: Sequence[Asked], total: int, *, is_near: bool = False) -> bool:
    """Whether the entry is about the message or one of its sentences; `total` is the library's number of entries.

    `is_near`: its meaning is near the message's, so that less of the words must be there.
    """
    found = (evidence(part.text, entry, part.weighed, total) for part in parts)
    return any(each.suffices or (is_near and each.hints) for each in found)


def evidence(message: str, fields: Fields, weighed: Sequence[Weighed], total: int) -> Evidence:
    """What of the message stands in the entry, close together. `total` is the number of entries in the library."""
    weighed = [w for w in weighed if not w.is_seam]
    weights = [_weight(w, total) for w in weighed]
    all_of_it = sum(weights)
    if not all_of_it:
        return Evidence(0.0, 0.0, 0.0, 0)
    title = f"{fields.title}\n{fields.tags}"
    named = {place for place, w in enumerate(weighed) if places_of(title, w.term)}
    met = named | _window(fields.content, weighed, weights, named)
    matched = {weighed[place].term.text for place in met}
    strength = sum(weights[place] for place in met)
    return Evidence(
        covered=strength / all_of_it,
        titled=sum(weights[place] for place in named) / all_of_it,
        strength=strength / _rarest(total),
        units=_units(message, matched - WEAK),
    )


def places_of(text: str, term: Term) -> list[int]:
    """Where the term stands, in any form of the word but not inside another word: `eat` is not in `create`."""
    stem, endings = term.stem, ENDING_MAX
    if len(stem) <= SHORT:
        stem, endings = term.text, len(term.text) > SHORT
    size = len(stem)
    anywhere = term.is_han or size >= LONG
    found: list[int] = []
    at = text.find(stem)
    while at >= 0 and len(found) < SEEN_MAX:
        if anywhere or (not _is_letter(text, at - 1) and _ends(text, at + size, endings)):
            found.append(at)
        at = text.find(stem, at + 1)
    return found


def _weight(weighed: Weighed, total: int) -> float:
    everything = total + BACKGROUND
    count = min(weighed.count, total)
    rarity = log(1 + (everything - count + 0.5) / (count + 0.5))
    share = WEAK_SHARE if weighed.term.text in WEAK else 1.0 if count else UNKNOWN
    return weighed.term.weight * rarity * share


def _rarest(total: int) -> float:
    return log(1 + (total + BACKGROUND - 0.5) / 1.5)


def _window(content: str, weighed: Sequence[Weighed], weights: Sequence[float], named: set[int]) -> set[int]:
    """The terms of the window of the content that adds most to those named in the title."""
    places = sorted(
        (at, place) for place, w in enumerate(weighed) if place not in named for at in places_of(content, w.term)
    )
    best: set[int] = set()
    best_weight = weight = 0.0
    inside: Counter[int] = Counter()
    first = 0
    for at, place in places:
        if not inside[place]:
            weight += weights[place]
        inside[place] += 1
        while places[first][0] < at - WINDOW:
            left = places[first][1]
            inside[left] -= 1
            if not inside[left]:
                weight -= weights[left]
            first += 1
        if weight > best_weight:
            best, best_weight = {place for place, count in inside.items() if count}, weight
    return best


def _is_letter(text: str, at: int) -> bool:
    return 0 <= at < len(text) and text[at].isalnum() and text[at] < "\u2e80"


def _ends(text: str, at: int, endings: int) -> bool:
    return any(not _is_letter(text, at + more) for more in range(endings + 1))


def _units(message: str, matched: set[str]) -> int:
    """Words of the message that matched; in a Han run, every two characters that matching pairs cover.

    A name as programs have them (`procRaise`, `AOT`, `base58`) is enough alone: no small talk has one.
    """
    units = 0
    for segment in segments(without_question_phrases(message)):
        if segment.is_run:
            pairs = run_terms(segment.text)[:-1]
            covered = {
                place + step
                for place, pair in enumerate(pairs)
                if pair in matched and not function_characters(pair)
                for step in (0, 1)
            }
            units += len(covered) // 2
        elif any(term in matched for term in word_terms(segment.text)):
            units += UNITS if _NAME.search(segment.text) else 1
    return units
