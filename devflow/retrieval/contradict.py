"""Whether two texts say opposite things of one matter, and which words stand against which. No model is asked.

It is made to be right rather than complete: what it says is "may contradict", and names the words. Texts that are not
about one matter are not given to it (`likeness`).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import product
from typing import Literal

from devflow.domain.text.scripts import HAN
from devflow.domain.text.stopwords import STOP_WORDS, function_characters
from devflow.retrieval.contradict_lists import (
    BEFORE_A_CHOICE,
    BEFORE_A_NATURE,
    FIRST,
    FORMERLY,
    HAN_DIGITS,
    NUMBER_WORDS,
    OPPOSITES,
    ORDERS,
)
from devflow.retrieval.contradict_statements import Clause, Statements, is_denied, weight

Kind = Literal["number", "negation", "opposite", "choice"]

SHOWN = 120
"""So many characters of a clause are shown."""
DENIED_LEAST, DENIED_SHARE, AFFIRMED_SHARE = 1.5, 0.67, 0.25
"""What one denies and the other affirms: at least so much weight, and these shares of all that is denied and affirmed
there."""
SAME_LEAST, SAME_SHARE = 1.0, 0.4
"""Two sentences are about one thing from so much common weight, and this share of the shorter one's, up."""
AGREED = 0.5
"""Two clauses that both deny so much agree."""
TITLES_SHARE = 0.6
"""Two titles that have so much in common, of all they have, and one of which denies: the one denies the other."""
SAID_SHARE = 0.5
FRAME_SHARE = 0.4
"""Two titles that share so much of themselves differ in what stands in one place."""
CHOICE_MAX = 24
"""Characters that a choice may have."""

_NEIGHBOURS = re.compile(rf"(?=(?<![\w-])([a-z][\w-]+) ([a-z][\w-]+)|([{HAN}]{{2}}) ?([{HAN}]{{2}}))")
_PAIRS = (*((pair, False) for pair in OPPOSITES), *((pair, True) for pair in ORDERS))
_TIES = frozenset("在为到以由按从的是")
_UNITS = re.compile(rf"[A-Za-z_][\w.+#/-]*|\d+(?:\.\d+)*|[{HAN}]|\S")


@dataclass(frozen=True, slots=True)
class Opposition:
    """Words of the first text against words of the second, as they are written, and the statements they stand in.

    `number`: another number, version or unit of the same thing. `negation`: one denies what the other says. `opposite`:
    words that exclude each other (always, never; 启用, 禁用). `choice`: another thing in the same place (use X, use Y).
    """

    kind: Kind
    mine: str
    theirs: str
    my_statement: str = ""
    their_statement: str = ""


def oppositions(one: Statements, other: Statements) -> tuple[Opposition, ...]:
    """How two texts may contradict each other, the plainest first, one of a kind; empty where they do not."""
    if one.lowered == other.lowered:
        return ()
    pair = _Pair(one, other)
    found = (next(way(pair), None) for way in (_numbers, _opposites, _orders, _choices, _denials))
    return tuple(each for each in found if each is not None)


class _Pair:
    """Two texts, and which of their clauses stand in sentences about one thing."""

    def __init__(self, one: Statements, other: Statements) -> None:
        self.one, self.other = one, other
        self.all = tuple(product(one.clauses, other.clauses))
        ours, theirs = _sentences(one), _sentences(other)
        self._near = {
            (i, j)
            for (i, (mine, weight_of_mine)), (j, (its, weight_of_its)) in product(ours.items(), theirs.items())
            if (common := weight(mine & its)) >= SAME_LEAST
            and common >= SAME_SHARE * min(weight_of_mine, weight_of_its)
        }

    def near(self, a: Clause, b: Clause) -> bool:
        return (a.sentence, b.sentence) in self._near


def _sentences(text: Statements) -> dict[int, tuple[frozenset[str], float]]:
    terms = {clause.sentence: clause.terms for clause in text.clauses}
    return {number: (each, weight(each)) for number, each in terms.items()}


# Numbers --------------------------------------------------------------------------------------------------------------


def _numbers(pair: _Pair) -> Iterator[Opposition]:
    """The same kind of quantity in clauses about one thing, and neither text has the other's number."""
    one, other = pair.one, pair.other
    if not (any(map(_holds, one.clauses)) and any(map(_holds, other.clauses))) or _other_subject(one, other):
        return
    ours, theirs = _by_scale(one), _by_scale(other)
    for a, b in pair.all:
        if not (_holds(a) and _holds(b)) or not _says_one_thing(a, b):
            continue
        for mine, its in product(a.quantities, b.quantities):
            same = mine.scale == its.scale
            if same and mine.value not in theirs[its.scale] and its.value not in ours[mine.scale]:
                yield _opposition("number", mine.written, its.written, a, b)


def _by_scale(text: Statements) -> defaultdict[str, set[str]]:
    """The numbers that hold, by what they measure."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for clause in text.clauses:
        if _holds(clause):
            for quantity in clause.quantities:
                found[quantity.scale].add(quantity.value)
    return found


def _holds(clause: Clause) -> bool:
    """Whether it names quantities that are said to hold now."""
    if clause.supposes or clause.denied or not clause.quantities:
        return False
    return FORMERLY.search(clause.lowered) is None


def _other_subject(one: Statements, other: Statements) -> bool:
    """Whether the titles name different things of one sort: "orders service", "reports service"; 订单服务, 报表服务."""
    ours, theirs = _named(one), _named(other)
    return any(
        mine not in other.lowered and its not in one.lowered
        for head in ours.keys() & theirs.keys()
        for mine, its in product(ours[head], theirs[head])
    )


def _counts(word: str) -> bool:
    return word in NUMBER_WORDS or any(char in HAN_DIGITS or char.isdigit() for char in word)


def _named(text: Statements) -> dict[str, set[str]]:
    """Of the title, each word (or pair of Han characters) to the words right before it."""
    found: dict[str, set[str]] = {}
    for match in _NEIGHBOURS.finditer(text.clauses[0].lowered if text.clauses else ""):
        before, after = (group for group in match.groups() if group is not None)
        tied = before in STOP_WORDS or after in STOP_WORDS or function_characters(before + after)
        if not (tied or _counts(before)) and not BEFORE_A_CHOICE.search(before):
            found.setdefault(after, set()).add(before)
    return found


# Words that exclude each other ----------------------------------------------------------------------------------------


def _opposites(pair: _Pair) -> Iterator[Opposition]:
    one, other = pair.one, pair.other
    for (first, second), ordered in _PAIRS:
        for mine, its in ((first, second), (second, first)):
            if not (_has(one.lowered, mine) and _has(other.lowered, its)):
                continue
            apart = not (_affirms(one, its) or _affirms(other, mine))
            for a, b in pair.all:
                titles = a.sentence == b.sentence == 0
                if not (apart or titles) or not _against(a, mine, b, its) or not pair.near(a, b):
                    continue
                if not ordered or _same_order(a.lowered, mine, b.lowered, its):
                    yield _opposition("opposite", mine, its, a, b)


def _against(a: Clause, mine: str, b: Clause, its: str) -> bool:
    """Whether the clauses have one of two words each, and both affirm it or both deny it."""
    if a.supposes or b.supposes:
        return False
    ours, theirs = a.lowered, b.lowered
    if not (_has(ours, mine) and _has(theirs, its)) or _has(ours, its) or _has(theirs, mine):
        return False
    return is_denied(a, mine) == is_denied(b, its)


def _affirms(text: Statements, word: str) -> bool:
    return any(
        _has(clause.lowered, word) and not clause.supposes and not is_denied(clause, word) for clause in text.clauses
    )


def _has(text: str, word: str) -> bool:
    return word in text and (not word.isascii() or re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) is not None)


def _same_order(one: str, mine: str, other: str, its: str) -> bool:
    """Whether what stands before the word in one text stands before it in the other."""
    before, after = (set(_UNITS.findall(part)) for part in one.split(mine, 1))
    first, second = (set(_UNITS.findall(part)) for part in other.split(its, 1))
    return len(before & first) + len(after & second) > len(before & second) + len(after & first)


def _orders(pair: _Pair) -> Iterator[Opposition]:
    """What one puts first is not what the other puts first, and both speak of both."""
    ours = [(clause, first) for clause in pair.one.clauses for first in _firsts(clause)]
    theirs = [(clause, first) for clause in pair.other.clauses for first in _firsts(clause)]
    for (a, mine), (b, its) in product(ours, theirs):
        if mine not in its and its not in mine and mine in pair.other.lowered and its in pair.one.lowered:
            yield _opposition("opposite", mine, its, a, b)


def _firsts(clause: Clause) -> list[str]:
    found = [match["first"] or match["word"] for match in FIRST.finditer(clause.lowered)]
    return [each for each in found if each not in STOP_WORDS]


# Another thing in the same place --------------------------------------------------------------------------------------


def _choices(pair: _Pair) -> Iterator[Opposition]:
    """Other things behind the same words: in titles that are the same for the rest, or where one denies the other's."""
    one, other = pair.one, pair.other
    for a, b in pair.all:
        titles = a.sentence == b.sentence == 0
        if a.supposes or b.supposes or not (titles or pair.near(a, b)):
            continue
        for mine, its, alone in _replaced(a.text, b.text):
            rejected = _denies(one, its) or _denies(other, mine)
            unheard = not _mentions(one, its) and not _mentions(other, mine)
            if rejected or (titles and (alone or unheard)):
                yield _opposition("choice", mine, its, a, b)


def _replaced(one: str, other: str) -> Iterator[tuple[str, str, bool]]:
    """What stands in one text where the other has something else, behind a word that a choice follows; and whether that
    is the only difference."""
    ours, theirs = list(_UNITS.finditer(one)), list(_UNITS.finditer(other))
    matcher = SequenceMatcher(None, [m[0].lower() for m in ours], [m[0].lower() for m in theirs], autojunk=False)
    if 2 * sum(size for *_, size in matcher.get_matching_blocks()) < FRAME_SHARE * (len(ours) + len(theirs)):
        return
    differences = [code for code in matcher.get_opcodes() if code[0] != "equal"]
    for tag, i, to_i, j, to_j in differences:
        before = one[: ours[i].start()].lower() if tag == "replace" else ""
        if not BEFORE_A_CHOICE.search(before):
            continue
        mine = one[ours[i].start() : ours[to_i - 1].end()]
        its = other[theirs[j].start() : theirs[to_j - 1].end()]
        named = _is_name(mine) and _is_name(its)
        if (
            BEFORE_A_CHOICE.match(mine.lower())
            or BEFORE_A_CHOICE.match(its.lower())
            or mine[0] in _TIES
            or its[0] in _TIES
        ):
            continue
        if max(len(mine), len(its)) <= CHOICE_MAX and (named or not BEFORE_A_NATURE.search(before)):
            yield mine, its, len(differences) == 1


def _is_name(text: str) -> bool:
    return any(char.isupper() or char in "_./" for char in text) and not text[0].isdigit()


def _mentions(text: Statements, words: str) -> bool:
    return words.lower() in text.lowered


def _denies(text: Statements, words: str) -> bool:
    return any(is_denied(clause, words.lower()) for clause in text.clauses if not clause.supposes)


# Denials --------------------------------------------------------------------------------------------------------------


def _denials(pair: _Pair) -> Iterator[Opposition]:
    one, other = pair.one, pair.other
    for a, b in pair.all:
        if not (a.denied or b.denied) or weight(a.denied & b.denied) >= AGREED:
            continue
        if _denied_by(a, b, one, other) or _denied_by(b, a, other, one):
            yield _opposition("negation", a.text, b.text, a, b)
        elif weight(a.denied & b.affirmed) and weight(b.denied & a.affirmed) and pair.near(a, b):
            yield _opposition("choice", a.text, b.text, a, b)


def _denied_by(a: Clause, b: Clause, one: Statements, other: Statements) -> bool:
    """Whether `a` denies what `b` affirms, and neither text says so of the other's side elsewhere."""
    common = a.denied & b.affirmed
    if not common or a.head not in b.terms:
        return False
    if a.sentence == b.sentence == 0:
        ours, theirs = a.affirmed | a.denied, b.affirmed | b.denied
        if weight(ours & theirs) >= TITLES_SHARE * weight(ours | theirs):
            return True
    if weight(common) < max(DENIED_LEAST, DENIED_SHARE * weight(a.denied), AFFIRMED_SHARE * weight(b.affirmed)):
        return False
    if any(common <= clause.affirmed for clause in one.clauses):
        return False
    return not any(common <= clause.denied for clause in other.clauses)


# Helpers --------------------------------------------------------------------------------------------------------------


def _says_one_thing(a: Clause, b: Clause) -> bool:
    """As two sentences do, of the clauses themselves."""
    ours, theirs = a.affirmed | a.denied, b.affirmed | b.denied
    common = weight(ours & theirs)
    return common >= SAME_LEAST and common >= SAID_SHARE * min(weight(ours), weight(theirs))


def _opposition(kind: Kind, mine: str, its: str, a: Clause, b: Clause) -> Opposition:
    return Opposition(kind, mine[:SHOWN], its[:SHOWN], a.text[:SHOWN], b.text[:SHOWN])
