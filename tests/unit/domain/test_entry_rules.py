"""What an entry's fields may hold (spec 01, Entry)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devflow.domain.errors import InvalidInput, InvalidTransition
from devflow.domain.knowledge import (
    CONTENT_MAX,
    TAG_MAX,
    TAGS_MAX,
    TITLE_MAX,
    EntryDraft,
    Kind,
    Status,
    check_confidence,
    check_content,
    check_kind,
    check_status,
    check_tags,
    check_title,
    check_transition,
    draft,
)

EDGES = {
    (Status.CANDIDATE, Status.PENDING_REVIEW),
    (Status.PENDING_REVIEW, Status.PUBLISHED),
    (Status.CANDIDATE, Status.ARCHIVED),
    (Status.PENDING_REVIEW, Status.ARCHIVED),
    (Status.PUBLISHED, Status.ARCHIVED),
}
PAIRS = [(current, wanted) for current in Status for wanted in Status]


@pytest.mark.parametrize("current,wanted", PAIRS, ids=[f"{a}-{b}" for a, b in PAIRS])
def test_the_table_of_transitions_has_exactly_five_edges(current: Status, wanted: Status) -> None:
    if (current, wanted) in EDGES:
        check_transition("x", current, wanted)
        return
    with pytest.raises(InvalidTransition) as refused:
        check_transition("x", current, wanted)
    assert (refused.value.current, refused.value.wanted) == (current, wanted)
    assert current in str(refused.value)
    assert wanted in str(refused.value)


def test_there_are_seven_kinds_by_the_seeds_names() -> None:
    assert [kind.value for kind in Kind] == [
        "pitfall",
        "review_rule",
        "prompt_template",
        "architecture_pattern",
        "diagnosis",
        "deployment_note",
        "workflow_optimization",
    ]


def test_an_unknown_kind_or_status_is_an_error_that_names_those_there_are() -> None:
    with pytest.raises(InvalidInput) as kind:
        check_kind("lesson")
    assert kind.value.field == "kind"
    assert "pitfall" in str(kind.value.params["kinds"])
    with pytest.raises(InvalidInput) as status:
        check_status("PUBLISHED")
    assert status.value.field == "status"
    assert "pending_review" in str(status.value.params["statuses"])


def test_a_title_is_trimmed_and_has_one_to_200_characters_on_one_line() -> None:
    assert check_title("  锁  ") == "锁"
    assert check_title("x" * TITLE_MAX) == "x" * TITLE_MAX
    for bad in ("", " \t ", "x" * (TITLE_MAX + 1), "one\ntwo", "one\u2028two", "nul\x00", "half \ud800"):
        with pytest.raises(InvalidInput) as refused:
            check_title(bad)
        assert refused.value.field == "title"


def test_content_is_kept_byte_for_byte_and_has_one_to_20000_characters() -> None:
    composed, decomposed = "caf\u00e9\r\n  ", "cafe\u0301"
    assert check_content(composed) == composed
    assert check_content(decomposed) == decomposed
    assert len(check_content("字" * CONTENT_MAX)) == CONTENT_MAX
    for bad in ("", "\n\t ", "x" * (CONTENT_MAX + 1), "nul\x00", "half \udfff"):
        with pytest.raises(InvalidInput) as refused:
            check_content(bad)
        assert refused.value.field == "content"


def test_tags_are_trimmed_and_empty_and_repeated_ones_dropped_in_order() -> None:
    assert check_tags([" SQLite ", "", "sqlite", "  ", "锁", "SQLITE", "wal"]) == ("SQLite", "锁", "wal")
    assert check_tags(["straße", "STRASSE"]) == ("straße",)


def test_there_are_at_most_20_tags_of_50_characters() -> None:
    twenty = [f"tag{number}" for number in range(TAGS_MAX)]
    assert check_tags([*twenty, "TAG0", " "]) == tuple(twenty)
    assert check_tags(["x" * TAG_MAX]) == ("x" * TAG_MAX,)
    for bad in ([*twenty, "one more"], ["x" * (TAG_MAX + 1)], ["nul\x00"]):
        with pytest.raises(InvalidInput) as refused:
            check_tags(bad)
        assert refused.value.field == "tags"


def test_a_confidence_is_a_number_from_0_to_1() -> None:
    assert (check_confidence(0), check_confidence(0.5), check_confidence(1)) == (0.0, 0.5, 1.0)
    for bad in (-0.01, 1.01, float("nan"), float("inf")):
        with pytest.raises(InvalidInput) as refused:
            check_confidence(bad)
        assert refused.value.field == "confidence"


def test_a_draft_by_hand_is_certain_and_manual() -> None:
    made = draft(kind="pitfall", title=" T ", content="C", tags=["a"])
    assert (made.title, made.confidence, made.source_ref, made.project_id) == ("T", 1.0, "manual", None)


@given(title=st.text(), content=st.text(), tags=st.lists(st.text(), max_size=30), confidence=st.floats())
def test_nonsense_is_a_typed_error_or_a_draft_that_obeys_the_rules(
    title: str, content: str, tags: list[str], confidence: float
) -> None:
    made = _drafted(title, content, tags, confidence)
    if isinstance(made, InvalidInput):
        assert made.field in ("title", "content", "tags", "confidence")
        return
    assert made.title == made.title.strip()
    assert 1 <= len(made.title) <= TITLE_MAX
    assert made.content == content
    assert len(made.tags) <= TAGS_MAX
    assert len({tag.casefold() for tag in made.tags}) == len(made.tags)
    assert 0.0 <= made.confidence <= 1.0


def _drafted(title: str, content: str, tags: list[str], confidence: float) -> EntryDraft | InvalidInput:
    try:
        return draft(kind="diagnosis", title=title, content=content, tags=tags, confidence=confidence)
    except InvalidInput as refused:
        return refused
