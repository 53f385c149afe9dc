"""A text as clauses: which words each affirms, which it denies, and which quantities it names."""

from __future__ import annotations

import re
from dataclasses import dataclass

from devflow.domain.text import fold_term, segments
from devflow.domain.text.stopwords import STOP_WORDS, function_characters
from devflow.retrieval.contradict_lists import (
    DENIES_THE_CLAUSE,
    DENIES_WHAT_FOLLOWS,
    HAN_DIGITS,
    HAN_UNITS,
    LACKED,
    LACKS,
    NUMBER_WORDS,
    PLACES,
    REMINDS,
    SIZE_UNITS,
    SUPPOSED_FROM,
    SUPPOSES,
    TIME_UNITS,
)
from devflow.retrieval.likeness import root

READ, SENTENCES = 3_000, 10
"""So many characters of a content are read, and so many sentences: what an entry says first is what it is about, and
between two long texts some sentence always denies another."""
_SENTENCE = re.compile(r"[。！？；;!?\n]+|\.(?=\s|$)|\s[-*•]\s")
_FENCED = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
_CLAUSE = re.compile(
    r"[，、（）()|→]+|[,：:](?!\d)| - |\bbut\b|\band then\b|(?=\b(?:because|since|so that|otherwise|if|unless|where)\b)"
    r"|但是|而是|而(?=不)|但(?!书)"
)
_QUANTITY = re.compile(
    r"(?<![\w.-])v?(?P<number>\d+(?:[.:]\d+)*)(?:\s?(?P<unit>%|[A-Za-z]{1,14})\b|\s?(?P<han>" + HAN_UNITS + r"))?"
    r"|(?P<word>\b(?:" + "|".join(NUMBER_WORDS) + r")\b)(?:\s(?P<what>[A-Za-z]{3,}))?"
    r"|(?P<numeral>[零一二两三四五六七八九十百]{1,4})(?P<unit_of>" + HAN_UNITS + ")(?!些|样|般|旦|致|起|定|切|下|直)",
)


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number as written. `scale` is what it measures (`time`, `size`, a unit, or the word before it); numbers of one
    scale can be compared."""

    written: str
    value: str
    scale: str


@dataclass(frozen=True, slots=True)
class Clause:
    """`affirmed` and `denied` are terms: words by their stems, pairs of Han characters; `head` is the first one denied.
    One that only `supposes` has neither. `terms` are all of the sentence's. `lowered` is for comparing: phrases that
    deny twice are blank there.
    """

    text: str
    lowered: str
    affirmed: frozenset[str] = frozenset()
    denied: frozenset[str] = frozenset()
    head: str = ""
    terms: frozenset[str] = frozenset()
    supposes: bool = False
    quantities: tuple[Quantity, ...] = ()
    sentence: int = 0


@dataclass(frozen=True, slots=True)
class Statements:
    """All of a text; the first sentence is the title."""

    clauses: tuple[Clause, ...]
    lowered: str


def statements(title: str, content: str) -> Statements:
    clauses: list[Clause] = []
    read = _FENCED.sub("\n", content[:READ])
    sentences = [title, *(part for part in _SENTENCE.split(read) if part.strip())]
    for number, sentence in enumerate(sentences[: SENTENCES + 1]):
        whole = frozenset(_terms(sentence))
        clauses += [_clause(text.strip(), whole, number) for text in _CLAUSE.split(sentence) if text.strip()]
    return Statements(tuple(clauses), _lowered(f"{title}\n{content[:READ]}"))


def weight(terms: frozenset[str]) -> float:
    """How much terms say: a word one, a pair of Han characters a half, since a word of two has about two."""
    return sum(0.5 if _is_pair(term) else 1.0 for term in terms)


def is_denied(clause: Clause, text: str) -> bool:
    """Whether `text`, a part of the clause's, stands where it is denied."""
    at = clause.lowered.find(text)
    return at >= 0 and sum(start <= at < end for start, end in _denying(clause.lowered)) % 2 == 1


def _clause(text: str, whole: frozenset[str], sentence: int) -> Clause:
    lowered = _lowered(text)
    quantities = tuple(_quantities(text))
    if SUPPOSES.search(lowered):
        return Clause(text, lowered, terms=whole, supposes=True, quantities=quantities, sentence=sentence)
    spans, stated = _denying(lowered), _stated(lowered)
    affirmed: set[str] = set()
    denied: set[str] = set()
    head = ""
    for term, at in _terms(text[:stated]).items():
        if sum(start <= at < end for start, end in spans) % 2 == 0:  # what is denied twice is affirmed
            affirmed.add(term)
            continue
        head = head if denied else term
        denied.add(term)
    return Clause(
        text, lowered, frozenset(affirmed), frozenset(denied), head, whole, quantities=quantities, sentence=sentence
    )


def _stated(lowered: str) -> int:
    """So many characters of the clause say how things are."""
    found = SUPPOSED_FROM.search(lowered)
    return found.start() if found is not None and found.start() else len(lowered)


def _denying(lowered: str) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    whole = [found.span() for found in DENIES_THE_CLAUSE.finditer(lowered)]
    for start, end in whole:
        spans += [(0, start), (end, len(lowered))]
    for found in DENIES_WHAT_FOLLOWS.finditer(lowered):
        if not any(start <= found.start() < end for start, end in whole):
            end = found.end() + LACKED if LACKS.match(found[0]) else len(lowered)
            spans.append((found.end(), end))
    return spans


def _terms(text: str) -> dict[str, int]:
    """Term to where it begins; the last place wins."""
    found: dict[str, int] = {}
    for segment in segments(text):
        if segment.is_run:
            for at in range(len(segment.text) - 1):
                pair = segment.text[at : at + 2]
                if not function_characters(pair) and not _DENIAL.search(pair):
                    found[pair] = segment.start + at
            continue
        word = fold_term(segment.text)
        if word and word not in STOP_WORDS and word not in NUMBER_WORDS and not word[0].isdigit():
            found[root(word)] = segment.start
    return found


_ASKED = re.compile(r"(.)不\1")
"""能不能, 是不是: asks, and denies nothing."""


def _lowered(text: str) -> str:
    return REMINDS.sub(_blank, _ASKED.sub(r"\1的\1", text.lower()))


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


_DENIAL = re.compile("[不没未无禁勿别要会能可]")


def _quantities(text: str) -> list[Quantity]:
    found: list[Quantity] = []
    for match in _QUANTITY.finditer(text):
        if text[: match.start()].rstrip().endswith("第"):
            continue
        written = match[0].strip()
        if match["number"]:
            unit = (match["unit"] or match["han"] or "").lower()
            found.append(_quantity(written, match["number"], unit, text[: match.start()]))
        elif match["word"]:
            found.append(_quantity(written, str(NUMBER_WORDS[match["word"]]), (match["what"] or "").lower(), ""))
        else:
            found.append(_quantity(written, str(_numeral(match["numeral"])), match["unit_of"], ""))
    return [each for each in found if each.scale]


def _quantity(written: str, number: str, unit: str, before: str) -> Quantity:
    if number.count(".") == 1 and unit not in TIME_UNITS and unit not in SIZE_UNITS:
        return Quantity(written, number, unit or _before(before))
    if number.replace(".", "", 1).isdigit():
        if unit in TIME_UNITS:
            return Quantity(written, f"{float(number) * TIME_UNITS[unit]:g}", "time")
        if unit in SIZE_UNITS and len(unit) > 1:
            return Quantity(written, f"{float(number) * SIZE_UNITS[unit]:g}", "size")
    return Quantity(written, number, root(unit) if unit and unit not in STOP_WORDS else _before(before))


def _before(text: str) -> str:
    """The name that a bare number belongs to: `Python 3.11`, `minSdk is 26`, `端口是 8080`."""
    words = [segment.text[-3:] if segment.is_run else fold_term(segment.text) for segment in segments(text)]
    telling = (word.rstrip("为是到成用") for word in reversed(words[-3:]) if word not in STOP_WORDS)
    name = next((word for word in telling if len(word) > 1), "")
    if name in PLACES:
        return ""
    return root(name) if name.isascii() else name[-2:]


def _numeral(text: str) -> int:
    if text in ("十", "百"):
        return {"十": 10, "百": 100}[text]
    tens, _, ones = text.partition("十") if "十" in text else ("", "", text)
    value = HAN_DIGITS.get(tens[:1], 1) * 10 if "十" in text else 0
    return value + HAN_DIGITS.get(ones[:1], 0)


def _is_pair(term: str) -> bool:
    return len(term) == 2 and term[0] > "\u3000"
