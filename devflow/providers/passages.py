"""The part of a found text that answers a question: whole sentences, whole list items, whole code blocks, and few."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from devflow.domain.request import InjectedItem
from devflow.domain.text.terms import terms

LONG, SHORT = 480, 150  # size of the leading passage, and of the others; a Han character counts twice
OTHERS_FROM = 0.35  # of the best item's score: what covers less of the question is left out
ITEMS_MAX = 4

_STOP = frozenset(
    "a an and are as at be by can could did do does for from had has have how i if in into is it its me my of on or "
    "our should so that the their them then there these they this to was we were what when where which who why will "
    "with would you your about any "
    "什么 怎么 么样 为什 如何 何时 哪些 哪个 可以 能否 是否 应该 一个 我们 你们 请问 怎样 样做 办法 时候 有什 "
    "么办 是什 么是 为何".split()
)
_SENTENCE = re.compile(r"[^。！？!?.；;]*(?:[。！？；]+[”」』）)]*|[!?;.]+(?=\s|$)[\"')\]]*|[.!?;]+(?=\S)|$)")
_FENCE = re.compile(r"^\s*(```+|~~~+)")
_ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)、])\s+")
_HEADING = re.compile(r"^\s{0,3}#{1,6}\s+")


@dataclass(frozen=True, slots=True)
class Piece:
    """What is quoted whole or not at all. `kind` is sentence, item, code or table."""

    text: str
    kind: str
    block: int


@dataclass(frozen=True, slots=True)
class Passage:
    text: str
    cut: bool
    ends_in_code: bool


def rank(question: str, items: Sequence[InjectedItem]) -> list[InjectedItem]:
    """The items worth quoting, best first: how much of the question each covers, then retrieval's own score."""
    wanted = content_terms(question)
    if not wanted or not items:
        return list(items[:1])  # a question of stop words only: retrieval's best is the best guess
    weights = _weights(wanted, [terms(f"{item.title}\n{item.excerpt}") for item in items])
    whole = sum(weights.values())
    scored = []
    for position, item in enumerate(items):
        have = set(terms(f"{item.title} {item.excerpt}"))
        covered = sum(weight for term, weight in weights.items() if term in have) / whole
        scored.append((covered * 0.6 + max(0.0, min(1.0, item.score)) * 0.4, covered, -position, item))
    scored.sort(key=lambda one: one[:3], reverse=True)
    best = scored[0]
    if best[1] == 0:
        return [items[0]]  # retrieval found it by other means than words (a trigger, a reference)
    kept = [item for score, covered, _, item in scored if covered >= OTHERS_FROM * best[1] and score > 0]
    return kept[:ITEMS_MAX]


def best_passage(question: str, item: InjectedItem, *, short: bool = False) -> Passage:
    """The stretch of neighbouring pieces that says most about the question; the beginning where nothing does."""
    limit = SHORT if short else LONG
    found = pieces(item.excerpt)
    if short:
        found = [piece for piece in found if piece.kind in ("sentence", "item")] or found
    if not found:
        return Passage(_clip(item.excerpt.strip(), limit), True, False)
    wanted = content_terms(question) - (content_terms(item.title) if len(found) > 1 else frozenset())
    wanted = wanted or content_terms(question)
    sizes = [Counter(terms(piece.text)) for piece in found]
    weights = _weights(wanted, sizes)
    scores = [sum(weights[term] for term in weights if term in have) for have in sizes]
    start, stop = _window(found, scores, limit)
    chosen = found[start:stop]
    text = _joined(chosen, one_line=short)
    if _size(text) > limit and chosen[-1].kind != "code":
        return Passage(_clip(text, limit), True, False)
    if short and chosen[-1].kind == "code":
        return Passage(_clip(" ".join(item.title.split()), limit), False, False)
    return Passage(text, item.cut and stop == len(found), chosen[-1].kind == "code")


def content_terms(text: str) -> frozenset[str]:
    """Terms that carry meaning: no stop words, no lone Han characters, no question phrases."""
    return frozenset(term for term in terms(text) if term not in _STOP and not _is_lone_han(term))


def pieces(markdown: str) -> list[Piece]:
    """Markdown taken apart: headings dropped, code and tables whole, lists by item, the rest by sentence."""
    found: list[Piece] = []
    block = 0
    lines = markdown.strip().splitlines()
    at = 0
    while at < len(lines):
        line = lines[at]
        if not line.strip():
            block += 1
            at += 1
        elif fence := _FENCE.match(line):
            end = _end_of_fence(lines, at, fence[1])
            if end is None:  # cut off by the budget: an open fence would swallow what follows
                break
            found.append(Piece("\n".join(lines[at : end + 1]), "code", block))
            at = end + 1
        elif _HEADING.match(line):
            block += 1
            at += 1
        elif line.lstrip().startswith("|"):
            end = at
            while end < len(lines) and lines[end].lstrip().startswith("|"):
                end += 1
            found.append(Piece("\n".join(lines[at:end]), "table", block))
            at = end
        else:
            at = _take_text(lines, at, block, found)
    return found


def _take_text(lines: list[str], at: int, block: int, found: list[Piece]) -> int:
    """One list item or one paragraph, with the lines that continue it."""
    first = lines[at]
    is_item = bool(_ITEM.match(first))
    gathered = [first.strip()]
    at += 1
    while at < len(lines) and lines[at].strip() and not _begins_new(lines[at]):
        gathered.append(lines[at].strip())
        at += 1
    text = _flowed(gathered)
    if is_item:
        found.append(Piece(text, "item", block))
    else:
        found += [Piece(sentence, "sentence", block) for sentence in sentences(text)]
    return at


def sentences(text: str) -> list[str]:
    """Sentences of one paragraph, Chinese and English; a full stop inside a word or a number does not end one."""
    found: list[str] = []
    rest = ""
    for match in _SENTENCE.finditer(text):
        rest += match[0]
        ended = bool(re.search(r"[。！？；!?]$|[。！？；][”」』）)]+$", rest)) or (
            bool(re.search(r"[.;][\"')\]]*$", rest)) and (match.end() == len(text) or text[match.end()].isspace())
        )
        if ended and rest.count("`") % 2 == 0 and len(rest.strip()) > 1:
            found.append(rest.strip())
            rest = ""
    if rest.strip():
        found.append(rest.strip())
    return found


def _begins_new(line: str) -> bool:
    return bool(_FENCE.match(line) or _HEADING.match(line) or _ITEM.match(line) or line.lstrip().startswith("|"))


def _end_of_fence(lines: list[str], at: int, fence: str) -> int | None:
    for index in range(at + 1, len(lines)):
        stripped = lines[index].strip()
        if stripped.startswith(fence[0] * len(fence)) and not stripped.strip(fence[0]):
            return index
    return None


def _flowed(lines: list[str]) -> str:
    """Wrapped lines as one: a space between words, none between Han characters."""
    text = lines[0]
    for line in lines[1:]:
        glue = "" if _is_wide(text[-1:]) and _is_wide(line[:1]) else " "
        text += glue + line
    return text


def _window(found: list[Piece], scores: list[float], limit: int) -> tuple[int, int]:
    """Grow from the best piece to whichever neighbour says more, while it fits.

    A neighbour that says nothing about the question is context: of the same paragraph only, and up to half the room.
    """
    best = max(range(len(found)), key=lambda i: (scores[i] / (1 + math.log1p(_size(found[i].text) / 80)), -i))
    start, stop = best, best + 1
    size = _size(found[best].text)
    while True:
        fits = []
        for index in (start - 1, stop):
            if 0 <= index < len(found):
                same = any(found[index].block == found[at].block for at in (start, stop - 1))
                room = limit if scores[index] > 0 else limit // 2 if same else 0
                if size + _size(found[index].text) <= room:
                    fits.append((scores[index], index))
        if not fits:
            return start, stop
        _, index = max(fits)
        size += _size(found[index].text)
        start, stop = min(start, index), max(stop, index + 1)


def _joined(chosen: list[Piece], *, one_line: bool) -> str:
    """Pieces back as Markdown: sentences of a paragraph flow, items and code keep their lines."""
    if one_line:
        line = ""
        for piece in chosen:
            line += ("" if not line or _is_wide(line[-1]) else " ") + _ITEM.sub("", piece.text)
        return line
    text = chosen[0].text
    for before, piece in pairwise(chosen):
        if piece.kind == "sentence" and before.kind == "sentence" and piece.block == before.block:
            text += ("" if _is_wide(text[-1:]) else " ") + piece.text
        elif piece.kind == "item" and before.kind == "item":
            text += "\n" + piece.text
        else:
            text += "\n\n" + piece.text
    return text


def _clip(text: str, limit: int) -> str:
    if _size(text) <= limit:
        return text
    end, room = 0, limit
    while room > 0:
        room -= 2 if _is_wide(text[end]) else 1
        end += 1
    clipped = text[:end]
    space = clipped.rfind(" ", end * 2 // 3)
    clipped = clipped[:space] if space > 0 else clipped
    return clipped.rstrip(" ,，、;；:：") + ("`" if clipped.count("`") % 2 else "")


def _size(text: str) -> int:
    return len(text) + sum(_is_wide(char) for char in text)


def _weights(wanted: frozenset[str], texts: Sequence[Sequence[str] | Counter[str]]) -> dict[str, float]:
    """A term that few of the texts have says more."""
    sets = [set(text) for text in texts]
    return {term: 0.3 + math.log(1 + (len(sets) + 1) / (1 + sum(term in have for have in sets))) for term in wanted}


def _is_lone_han(term: str) -> bool:
    return len(term) == 1 and _is_wide(term)


def _is_wide(char: str) -> bool:
    return bool(char) and (ord(char) >= 0x2E80)
