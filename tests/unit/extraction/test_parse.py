"""Parsing takes what models really send, and invents nothing (spec 01, Extraction; spec 03, Extraction engine)."""

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devflow.domain.knowledge import CONTENT_MAX, TITLE_MAX, Kind
from devflow.extraction.loose_json import LONGEST, NotJson
from devflow.extraction.parse import MOST_ITEMS, UNKNOWN_CONFIDENCE, Parsed, parse
from devflow.extraction.schema import SCHEMA
from devflow.extraction.transcript import Line

SAID = "Take the write lock first:\n  BEGIN IMMEDIATE avoids SQLITE_BUSY in the middle."
LINES = (
    Line("m1", "user", "Why do I get database is locked?", new=False),
    Line("m2", "assistant", SAID, new=True),
    Line("m3", "user", "谢谢，原来写事务一开始就要取写锁。", new=True),
)
ITEM: dict[str, Any] = {
    "kind": "pitfall",
    "title": "Take the write lock first",
    "content": "Begin write transactions with BEGIN IMMEDIATE.",
    "tags": ["sqlite", "SQLite", " wal "],
    "confidence": 0.8,
    "evidence": "BEGIN IMMEDIATE avoids SQLITE_BUSY",
}
SECOND: dict[str, Any] = {**ITEM, "title": "写事务先取锁", "evidence": "写事务一开始就要取写锁"}
ARRAY = json.dumps([ITEM], ensure_ascii=False)
BOTH = json.dumps([ITEM, SECOND], ensure_ascii=False)


def read(answer: str) -> Parsed:
    return parse(answer, LINES, source_ref="conv:c1", project_id="p1")


def titles(answer: str) -> list[str]:
    return [made.title for made in read(answer).drafts]


def with_fields(**fields: Any) -> str:
    return json.dumps([{**ITEM, **fields}, SECOND], ensure_ascii=False)


def without(field: str) -> str:
    return json.dumps([{name: value for name, value in ITEM.items() if name != field}, SECOND], ensure_ascii=False)


@pytest.mark.parametrize(
    "answer",
    [
        ARRAY,
        json.dumps({"items": [ITEM]}),
        json.dumps({"result": {"candidates": [ITEM]}}),
        json.dumps(ITEM),
        json.dumps({"items": ITEM}),
        f"\ufeff  {ARRAY}\n",
        f"```json\n{ARRAY}\n```",
        f"```\n{ARRAY}\n```",
        f"```json\n{ARRAY}",
        f"Here is what I found:\n\n```json\n{ARRAY}\n```\n\nLet me know if you need [more].",
        f"I looked at messages [1] and [2, 3] of {{conversation}}.\n{ARRAY}\nThat is all.",
        f'<think>Maybe [{{"kind": "pitfall"}}]? The user said…</think>\n{ARRAY}',
        f"<think>\n</think>\n\n<think>again</think>{ARRAY}",
        f"I weigh [{{'title': 'a draft'}}] first.</think>{ARRAY}",
        f"◁think▷嗯◁/think▷{ARRAY}",
        ARRAY[:-2] + ",}]",
        ARRAY[:-1] + ",]",
        ARRAY.replace('"kind"', "kind", 1),
        ARRAY.replace('"', "'"),
        ARRAY.replace("[{", "[ // the items\n{", 1),
        ARRAY.replace("transactions with", "transactions\nwith"),
        json.dumps(ARRAY),
        '{"note": "see [1]", "items": ' + ARRAY + "}",
    ],
    ids=lambda answer: " ".join(answer.split())[:48],
)
def test_an_item_is_read_however_the_model_wraps_it(answer: str) -> None:
    (made,) = read(answer).drafts
    assert (made.kind, made.title) == (Kind.PITFALL, "Take the write lock first")
    assert made.content.split() == ITEM["content"].split()
    assert made.tags == ("sqlite", "wal")
    assert made.confidence == 0.8
    assert made.source_ref == "conv:c1"
    assert made.project_id == "p1"
    assert made.evidence is not None
    assert made.evidence.message_ids == ("m2",)
    assert made.evidence.role == "assistant"
    assert made.evidence.quote == "BEGIN IMMEDIATE avoids SQLITE_BUSY"


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "   ",
        "There is nothing worth keeping in this conversation.",
        "[1] and {2}",
        "null",
        "42",
        '"nothing"',
        "<think>[{}]",
        "```json\n```",
        "{'a': 1}",
        '{"summary": "all good"}',
        "[1, 2]",
        "[[[[[[",
        '{"title": "cut',
        "\x00" * 50,
        '"' * 99,
    ],
    ids=lambda answer: repr(answer[:24]),
)
def test_an_answer_without_items_in_json_is_not_json(answer: str) -> None:
    with pytest.raises(NotJson):
        read(answer)


@pytest.mark.parametrize("answer", ["[]", '{"items": []}', "{}", "```json\n[]\n```", "Nothing to keep: []"])
def test_an_empty_list_is_an_answer(answer: str) -> None:
    assert read(answer) == Parsed(())


@pytest.mark.parametrize(
    "answer",
    [
        with_fields(kind="anecdote"),
        with_fields(kind="踩坑"),
        with_fields(kind=None),
        with_fields(title="   "),
        with_fields(title="x" * (TITLE_MAX + 1)),
        with_fields(title=7),
        with_fields(content=""),
        with_fields(content="x" * (CONTENT_MAX + 1)),
        with_fields(content={"text": "nested"}),
        with_fields(tags="sqlite, wal"),
        with_fields(tags=["x" * 51]),
        with_fields(tags=[f"t{i}" for i in range(21)]),
        with_fields(confidence=1.5),
        with_fields(confidence=-0.1),
        with_fields(confidence="high"),
        with_fields(confidence=True),
        with_fields(confidence="nan"),
        with_fields(evidence=""),
        with_fields(evidence="words nobody said here"),
        with_fields(evidence="Why do I get database is locked?"),
        with_fields(evidence="to"),
        with_fields(content="half a pair: \ud800"),
        without("kind"),
        without("title"),
        without("content"),
        without("evidence"),
        json.dumps(["a string", SECOND]),
    ],
)
def test_an_item_that_breaks_a_rule_is_dropped_alone(answer: str) -> None:
    parsed = read(answer)
    assert [made.title for made in parsed.drafts] == ["写事务先取锁"]
    assert len(parsed.dropped) == 1


@pytest.mark.parametrize("kind", ["Review Rule", "review-rule", " REVIEW_RULE "])
def test_the_spelling_of_a_known_kind_is_forgiven(kind: str) -> None:
    assert read(with_fields(kind=kind)).drafts[0].kind is Kind.REVIEW_RULE


def test_a_confidence_in_quotes_is_a_number_and_a_missing_one_is_unknown() -> None:
    assert read(with_fields(confidence="0.25")).drafts[0].confidence == 0.25
    assert read(without("confidence")).drafts[0].confidence == UNKNOWN_CONFIDENCE
    assert read(without("tags")).drafts[0].tags == ()


@pytest.mark.parametrize(
    "evidence",
    [
        "Take the write lock first: BEGIN IMMEDIATE avoids SQLITE_BUSY in the middle.",
        "“Take the write lock first:\n\tBEGIN IMMEDIATE”",
        '"BEGIN  IMMEDIATE avoids"',
    ],
)
def test_evidence_is_compared_without_white_space_and_kept_as_it_was_said(evidence: str) -> None:
    made = read(with_fields(evidence=evidence)).drafts[0]
    assert made.evidence is not None
    assert made.evidence.quote in SAID


def test_every_cut_of_an_answer_gives_only_whole_items_of_it() -> None:
    answer = f"Here:\n```json\n{BOTH}\n```"
    first_ends = answer.index("}", answer.index('"pitfall"')) + 1
    for length in range(len(answer)):
        try:
            parsed = read(answer[:length])
        except NotJson:
            assert length < first_ends
            continue
        assert [made.title for made in parsed.drafts] in (
            ["Take the write lock first"],
            ["Take the write lock first", "写事务先取锁"],
        )
        assert all(made.content == ITEM["content"] for made in parsed.drafts)


def test_the_cut_last_item_is_named_among_the_dropped() -> None:
    assert read(BOTH[:-30]).dropped == ("the last one was cut off",)


def test_a_cut_object_inside_a_cut_item_does_not_complete_it() -> None:
    answer = (
        json.dumps([ITEM])[:-1]
        + ', {"kind": "pitfall", "title": "t", "content": "c", "extra": {"a": 1}, "evidence": "BE'
    )
    assert titles(answer) == ["Take the write lock first"]


def test_one_object_a_line_is_read_as_a_list() -> None:
    assert titles(f"{json.dumps(ITEM)}\n{json.dumps(SECOND)}") == ["Take the write lock first", "写事务先取锁"]


def test_unescaped_quotes_inside_a_text_are_mended() -> None:
    answer = ARRAY.replace("Begin write transactions", 'Begin "write" transactions')
    assert titles(answer) == ["Take the write lock first"]


def test_the_same_item_twice_is_one() -> None:
    parsed = read(json.dumps([ITEM, ITEM]))
    assert len(parsed.drafts) == 1
    assert len(parsed.dropped) == 1


def test_a_model_running_away_is_stopped() -> None:
    parsed = read(json.dumps([{**ITEM, "title": f"Number {i}"} for i in range(500)]))
    assert len(parsed.drafts) == MOST_ITEMS


def test_evidence_said_in_two_new_messages_names_both() -> None:
    lines = (*LINES, Line("m4", "assistant", "Again: BEGIN IMMEDIATE avoids SQLITE_BUSY.", new=True))
    (made,) = parse(ARRAY, lines, source_ref="conv:c1").drafts
    assert made.evidence is not None
    assert made.evidence.message_ids == ("m2", "m4")


def test_the_schema_is_strict_and_knows_every_kind() -> None:
    item = SCHEMA["properties"]["items"]["items"]
    assert item["properties"]["kind"]["enum"] == [kind.value for kind in Kind]
    assert item["required"] == list(item["properties"])
    assert item["additionalProperties"] is False


@given(st.text(alphabet='[]{}",:\\ntrueitemskd`<think>/0.5 ', max_size=300))
def test_nonsense_gives_candidates_or_not_json_and_nothing_else(answer: str) -> None:
    try:
        parsed = read(answer)
    except NotJson:
        return
    assert parsed.drafts == ()


@given(st.integers(0, len(BOTH)), st.text(max_size=4), st.integers(0, 6))
def test_a_damaged_answer_never_yields_words_the_model_did_not_send(at: int, noise: str, removed: int) -> None:
    damaged = BOTH[:at] + noise + BOTH[at + removed :]
    try:
        parsed = read(damaged)
    except NotJson:
        return
    for made in parsed.drafts:
        assert made.evidence is not None
        assert "".join(made.evidence.quote.split()) in "".join((SAID + LINES[2].text).split())


@pytest.mark.parametrize("answer", ["[" * LONGEST, '[{"a":' * 30_000, '{"' * 60_000, "<think>" * 20_000, '"' * LONGEST])
def test_no_answer_makes_the_parser_crawl(answer: str) -> None:
    began = time.process_time()
    with pytest.raises(NotJson):
        read(answer)
    assert time.process_time() - began < 6.0
