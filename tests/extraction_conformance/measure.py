"""Broken answers by the hundred against the ground truth: what was whole and came back, and what came from nowhere."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field

from devflow.domain.knowledge import EntryDraft
from devflow.extraction.loose_json import NotJson
from devflow.extraction.parse import parse
from tests.extraction_conformance.faults import (
    AROUND,
    CUTS,
    ITEM_FAULTS,
    SYNTAX_FAULTS,
    WRITINGS,
    Answer,
    Fault,
    Item,
    answer_of,
)
from tests.extraction_conformance.truth import LINES, items

PLAIN = WRITINGS["a list"]


@dataclass
class Row:
    """`whole` items that the fault left alone, those `salvaged` of them, and `invented` ones that nobody had sent."""

    name: str
    answers: int = 0
    whole: int = 0
    salvaged: int = 0
    invented: int = 0
    examples: list[str] = field(default_factory=list)

    @property
    def share(self) -> float:
        return self.salvaged / self.whole if self.whole else 1.0


def one_fault_at_a_time(rounds: int) -> Iterator[Row]:
    for name, fault in ITEM_FAULTS.items():
        yield _measure(name, (fault, PLAIN), rounds)
    for name, fault in WRITINGS.items():
        yield _measure(name, (fault,), rounds)
    for name, fault in {**SYNTAX_FAULTS, **AROUND}.items():
        yield _measure(name, (PLAIN, fault), rounds)
    for name, fault in CUTS.items():
        yield _measure(name, (fault,), rounds * 5)


def several_at_once(rounds: int) -> Row:
    """Up to two spoilt items, any writing, at most one fault of its syntax, up to two things around it."""
    row = Row("several at once")
    chance = random.Random("several at once")
    for _ in range(rounds):
        spoiling = chance.sample(list(ITEM_FAULTS.values()), chance.randint(0, 2))
        if chance.random() < 0.2:
            writing = [CUTS["cut off"]]
        elif chance.random() < 0.5:
            writing = [PLAIN, chance.choice(list(SYNTAX_FAULTS.values()))]
        else:
            writing = [chance.choice(list(WRITINGS.values()))]
        around = chance.sample(list(AROUND.values()), chance.randint(0, 2)) if CUTS["cut off"] not in writing else []
        _try(row, (*spoiling, *writing, *around), chance)
    return row


def _measure(name: str, faults: tuple[Fault, ...], rounds: int) -> Row:
    row, chance = Row(name), random.Random(name)
    for _ in range(rounds):
        _try(row, faults, chance)
    return row


def _try(row: Row, faults: tuple[Fault, ...], chance: random.Random) -> None:
    answer = answer_of(items(chance))
    for fault in faults:
        answer = fault(answer, chance)
    sure, unsure = (_by_title(answer, places) for places in _places(answer))
    known = {**unsure, **sure}
    try:
        drafts = parse(answer.text, LINES, source_ref="conv:c").drafts
    except NotJson:
        drafts = ()
    found = {draft.title for draft in drafts if draft.title in known and _is(draft, known[draft.title])}
    salvaged = len(found & set(sure))
    row.answers += 1
    row.whole += len(sure)
    row.salvaged += salvaged
    row.invented += len(drafts) - len(found)
    if salvaged < len(sure) or len(drafts) > len(found):
        row.examples.append(answer.text)


def _places(answer: Answer) -> tuple[list[int], list[int]]:
    """Where the items stand that must come back, and those that may."""
    places = [place for place in range(len(answer.values)) if place not in answer.spoilt]
    return [at for at in places if at not in answer.unsure], [at for at in places if at in answer.unsure]


def _by_title(answer: Answer, places: list[int]) -> dict[str, Item]:
    return {answer.values[place]["title"]: answer.values[place] for place in places}


def _is(draft: EntryDraft, item: Item) -> bool:
    """Word for word what was sent, and its evidence was said."""
    said = "".join("".join(line.text.split()) for line in LINES if line.new)
    return (
        (draft.kind.value, draft.content, list(draft.tags), draft.confidence)
        == (item["kind"], str(item["content"]).strip(), item["tags"], item["confidence"])
        and draft.evidence is not None
        and "".join(draft.evidence.quote.split()) in said
    )
