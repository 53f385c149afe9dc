"""Ranking: BM25 over the index finds the candidates, their texts decide the order.

Two readings of the same terms are added. The index counts whole terms in their fields (title > tags > content). The
texts of the best candidates are then read: there a word counts in all its forms and inside longer ones, a Han pair less
when it only ties words together, words that stand side by side or near each other as in the query count once more, and
so does a title that says little else. Han pairs that reach from one word into the next are told by the library itself
and left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from math import log

from devflow.domain.knowledge import Entry
from devflow.domain.text import fold
from devflow.retrieval.query import Query, Term
from devflow.store import search_lookup
from devflow.store.database import Session
from devflow.store.search_lookup import Scope

READ = 20
"""So many candidates are read and ordered anew; those below keep the index's order."""
POSTINGS = 6_000
"""About so many places of terms are ranked by the index for one query: some two microseconds each. Rare terms come
first; common ones must then stand together."""
ENOUGH_POSTINGS, PAIRED_TERMS = 300, 4
"""Where rare terms find fewer, entries in which two of so many common ones meet are candidates too."""
USED_TERMS = 32
ASKED_TERMS = 8
INDEX_SHARE = 0.6
PAIR_WEIGHT, NEAR_WEIGHT = 1.0, 0.3
NEAR = 30
"""Characters between two neighbours of the query that still stand near each other."""
NEAR_SEEN_MAX = 30
"""A term's first so many places are looked at."""
TITLE_SHARE = 0.1
"""What a title that consists of the query's terms adds, of the query's weight."""
SEAM = 0.5
"""A Han pair that fewer entries have than this share of either neighbour reaches from one word into the next."""
TITLE_WEIGHT, TAG_WEIGHT = 1.5, 1.2
SATURATION, LENGTH, TITLE_LENGTH = 1.6, 0.75, 0.3
COMMON_SHARE, COMMON_COUNT = 0.2, 50
"""A term that more entries have than both of these makes no candidate by itself."""
REUSE_BONUS = 0.01
"""At most so much of its score for an entry that was reused often: it breaks a tie and overrides nothing."""


@dataclass(frozen=True, slots=True)
class Weighed:
    """A term and what an entry gets for it: the term's own weight times its rarity in the library.

    `is_seam`: a Han pair that reaches from one word into the next. It finds candidates, but says nothing when read.
    """

    term: Term
    count: int
    rarity: float
    is_common: bool
    is_seam: bool = False

    @property
    def weight(self) -> float:
        return self.term.weight * self.rarity


@dataclass(frozen=True, slots=True)
class Ranked:
    """An entry that matches terms; `score` has no unit."""

    id: str
    score: float


@dataclass(frozen=True, slots=True)
class Fields:
    """The folded texts of an entry, as matching reads them."""

    title: str
    tags: str
    content: str


def weigh(session: Session, query: Query) -> tuple[Weighed, ...]:
    """`weighed` by what stands in the library."""
    counts = search_lookup.frequencies(session, (term.text for term in query.terms))
    return weighed(query, counts, search_lookup.size(session))


def weighed(query: Query, counts: Mapping[str, int], total: int) -> tuple[Weighed, ...]:
    """The query's heaviest terms, those that no text has among them: what is not known counts against covering it.

    `counts`: in how many of `total` texts each term stands.
    """
    common = max(COMMON_COUNT, COMMON_SHARE * total)
    seams = _seams(query.terms, counts)
    found = [
        Weighed(term, count, _rarity(total, count), count > common, term.text in seams)
        for term, count in ((term, counts[term.text]) for term in query.terms)
    ]
    if len(found) > USED_TERMS:
        found = sorted(found, key=lambda w: -w.weight)[:USED_TERMS]
    return tuple(found)


def telling_terms(weighed: Sequence[Weighed]) -> list[str]:
    """Terms that can make a candidate: those most entries have cost most and decide least; they count when read."""
    known = [w for w in weighed if w.count]
    telling = [w for w in known if not w.is_common]
    heaviest = sorted(telling or known, key=lambda w: -w.weight)[:ASKED_TERMS]
    return [w.term.text for w in heaviest]


def alternatives(weighed: Sequence[Weighed], total: int) -> list[tuple[str, ...]]:
    """What makes a candidate: one of these, each a term or terms that stand in one entry together.

    In a large library common terms alone would have a good part of it ranked, to find what a few of them decide.
    """
    counts = {w.term.text: w.count for w in weighed}
    rarest = sorted(telling_terms(weighed), key=lambda term: counts[term])
    found: list[tuple[str, ...]] = []
    left = POSTINGS
    while rarest and counts[rarest[0]] <= left:
        left -= counts[rarest[0]]
        found.append((rarest.pop(0),))
    if POSTINGS - left < ENOUGH_POSTINGS:
        left = POSTINGS // 2
        for first, second in combinations(rarest[:PAIRED_TERMS], 2):
            together = counts[first] * counts[second] // max(total, 1)
            if together <= left:
                left -= together
                found.append((first, second))
    if not found and rarest:
        found.append(tuple(rarest))
    return found


def rank(session: Session, query: Query, weighed: Sequence[Weighed], scope: Scope, limit: int) -> list[Ranked]:
    """The best `limit` entries by terms, best first."""
    asked = alternatives(weighed, search_lookup.size(session))
    if not asked:
        return []
    found = search_lookup.matching(session, asked, scope, max(limit, READ))
    head, tail = found[:READ], found[READ:]
    texts = search_lookup.texts(session, [id for id, _, _ in head])
    ranked = reread([(Fields(*texts[id]), id, score, reused) for id, score, reused in head], query, weighed)
    if tail:
        # Keep the scale: the first of the tail is no better than the last of the head.
        scale = ranked[-1].score / max(tail[0][1], 1e-9)
        ranked += [Ranked(id, score * scale) for id, score, _ in tail]
    return ranked[:limit]


def fields_of(entry: Entry) -> Fields:
    return Fields(fold(entry.title), fold("\n".join(entry.tags)), fold(entry.content))


def _rarity(total: int, count: int) -> float:
    """BM25's inverse document frequency, never negative."""
    return log(1 + (total - min(count, total) + 0.5) / (count + 0.5))


def reread(head: Sequence[tuple[Fields, str, float, int]], query: Query, weighed: Sequence[Weighed]) -> list[Ranked]:
    """(texts, id, BM25, reuse count) in a better order: by what stands in the texts as well as by what is indexed."""
    for_titles = TITLE_SHARE * sum(w.weight for w in weighed if not w.is_seam)
    # A word may stand in a text in another form than the index knows; a Han pair that it does not know stands nowhere.
    weighed = [w for w in weighed if not w.is_seam and (w.count or not w.term.is_han)]
    mean_title = max(sum(len(fields.title) for fields, _, _, _ in head) / max(len(head), 1), 1)
    mean_content = max(sum(len(fields.content) for fields, _, _, _ in head) / max(len(head), 1), 1)
    stems = [(w.term.stem, w.weight * (SATURATION + 1), w.term.breadth) for w in weighed]
    pairs, near = _pairs(query, weighed), _near(weighed)
    ranked: list[Ranked] = []
    for fields, id, by_index, reused in head:
        title, tags, content = fields.title, fields.tags, fields.content
        for_title = TITLE_WEIGHT / (1 - TITLE_LENGTH + TITLE_LENGTH * len(title) / mean_title)
        for_content = 1 / (1 - LENGTH + LENGTH * len(content) / mean_content)
        by_text = 0.0
        titled = 0
        there: list[bool] = []
        for stem, weight, breadth in stems:
            frequency = content.count(stem) * for_content
            if in_title := title.count(stem):
                frequency += in_title * for_title
                titled += breadth
            if tags:
                frequency += tags.count(stem) * TAG_WEIGHT
            there.append(frequency > 0)
            if frequency:
                by_text += weight * frequency / (frequency + SATURATION)
        score = INDEX_SHARE * by_index + (1 - INDEX_SHARE) * by_text
        score += for_titles * min(titled / max(len(title), 1), 1)
        for first, second, joined, weight in pairs:
            if there[first] and there[second] and (joined.search(content) or joined.search(title)):
                score += weight
        for first, second, weight in near:
            if there[first] and there[second] and _stand_near(content, stems[first][0], stems[second][0]):
                score += weight
        ranked.append(Ranked(id, score * (1 + REUSE_BONUS * reused / (reused + 1))))
    ranked.sort(key=lambda r: -r.score)
    return ranked


def _pairs(query: Query, weighed: Sequence[Weighed]) -> list[tuple[int, int, re.Pattern[str], float]]:
    """Places of two neighbours among the terms, how they look joined (as prose or identifier), and the worth."""
    places = {w.term.text: place for place, w in enumerate(weighed)}
    return [
        (
            places[first],
            places[second],
            re.compile(re.escape(first) + r"[\W_]{0,2}" + re.escape(second)),
            PAIR_WEIGHT * min(weighed[places[first]].weight, weighed[places[second]].weight),
        )
        for first, second in query.pairs
        if first in places and second in places
    ]


def _seams(terms: Sequence[Term], counts: Mapping[str, int]) -> frozenset[str]:
    """Han pairs that are no words of this library: far rarer than the pairs that they overlap with on both sides."""
    return frozenset(
        pair.text
        for before, pair, after in zip(terms, terms[1:], terms[2:], strict=False)
        if _overlap(before, pair)
        and _overlap(pair, after)
        and counts[pair.text] < SEAM * min(counts[before.text], counts[after.text])
    )


def _overlap(first: Term, second: Term) -> bool:
    return (
        first.is_han and second.is_han and len(first.text) == len(second.text) == 2 and first.text[1] == second.text[0]
    )


def _near(weighed: Sequence[Weighed]) -> list[tuple[int, int, float]]:
    """Places of two neighbours among the terms that share no character, and the worth of their standing near."""
    return [
        (place, place + 1, NEAR_WEIGHT * min(first.weight, second.weight))
        for place, (first, second) in enumerate(pairwise(weighed))
        if not _overlap(first.term, second.term)
    ]


def _stand_near(text: str, first: str, second: str) -> bool:
    at = text.find(first)
    seen = 0
    while at >= 0 and seen < NEAR_SEEN_MAX:
        if text.find(second, max(at - NEAR, 0), at + NEAR) >= 0:
            return True
        at = text.find(first, at + 1)
        seen += 1
    return False
