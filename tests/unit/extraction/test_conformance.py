"""Broken answers of every kind: what can be salvaged is, and nothing is invented (spec 03, Extraction engine).

`python -m tests.extraction_conformance` prints the table.
"""

import pytest

from devflow.extraction.loose_json import NotJson
from devflow.extraction.parse import parse
from tests.extraction_conformance.corpus import CORPUS
from tests.extraction_conformance.measure import one_fault_at_a_time, several_at_once
from tests.extraction_conformance.truth import LINES


def test_of_an_answer_with_one_kind_of_fault_every_whole_item_comes_back_and_no_other() -> None:
    for row in one_fault_at_a_time(30):
        assert row.whole > 0, f"{row.name} leaves nothing to salvage"
        assert row.salvaged == row.whole, f"{row.name}: {row.salvaged} of {row.whole}, as in {row.examples[0]}"
        assert row.invented == 0, f"{row.name}: {row.invented} come from nowhere, as in {row.examples[0]}"


def test_of_an_answer_with_several_faults_nearly_every_whole_item_comes_back_and_no_other() -> None:
    row = several_at_once(300)
    assert row.share >= 0.98, f"{row.salvaged} of {row.whole}, as in {row.examples[0]}"
    assert row.invented == 0, row.examples


@pytest.mark.parametrize("kind", CORPUS)
def test_an_answer_as_models_give_it_holds_what_it_holds(kind: str) -> None:
    answer, titles = CORPUS[kind]
    try:
        drafts = parse(answer, LINES, source_ref="conv:c").drafts
    except NotJson:
        drafts = ()
    assert tuple(draft.title for draft in drafts) == titles
