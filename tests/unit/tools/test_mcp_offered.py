"""Names, schemas and answers of foreign servers, made fit for a model."""

import re
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devflow.tools.mcp_offered import Offered, fit, full_names, parameters, server_prefix
from devflow.tools.mcp_results import RESULT_MAX, outcome_of

GOOD = re.compile(r"mcp__[A-Za-z0-9_-]{1,59}\Z")


def test_plain_names_stay_as_they_are() -> None:
    names = full_names([("files", ["read_file", "list-dir"])])
    assert list(names.values()) == ["mcp__files__read_file", "mcp__files__list-dir"]


def test_what_separates_words_becomes_an_underscore() -> None:
    assert full_names([("my files", ["a.b/c"])])["my files", "a.b/c"] == "mcp__my_files__a_b_c"


def test_names_that_would_be_one_get_digits_and_the_exact_one_stays() -> None:
    names = full_names([("s", ["a.b", "a/b", "a_b"])])
    assert names["s", "a_b"] == "mcp__s__a_b"
    assert len({*names.values()}) == 3


@given(
    st.lists(
        st.tuples(st.text(min_size=1, max_size=40), st.lists(st.text(min_size=1, max_size=100), unique=True)),
        unique_by=lambda pair: pair[0].casefold(),
        max_size=4,
    )
)
def test_any_names_become_good_ones_each_once(servers: list[tuple[str, list[str]]]) -> None:
    names = full_names(servers)
    assert all(GOOD.match(name) for name in names.values()), names
    assert len({*names.values()}) == len(names)
    assert all(name.startswith(server_prefix(server)) for (server, _), name in names.items())


def test_tools_beyond_the_bounds_are_left_out_and_named() -> None:
    deep: Any = {}
    for _ in range(40):
        deep = {"properties": {"a": deep}}
    kept, left = fit(
        [
            Offered("good", schema={"type": "object"}),
            Offered("good", schema={"type": "object"}),
            Offered("text", schema={"type": "string"}),
            Offered("deep", schema=deep),
            Offered("named", schema={"properties": {"ein Name": {}}}),
            Offered("large", schema={"description": "x" * 20_000}),
        ]
    )
    assert [tool.name for tool in kept] == ["good"]
    assert [tool.name for tool in left] == ["good", "text", "deep", "named", "large"]
    assert len(fit([Offered(f"t{number}") for number in range(150)])[0]) == 100


def test_a_schema_always_is_an_object_with_properties() -> None:
    assert parameters({"$schema": "https://x", "anyOf": [{}], "additionalProperties": True}) == {
        "type": "object",
        "properties": {},
        "additionalProperties": True,
    }


def test_a_definition_changes_with_what_the_tool_says() -> None:
    tool = Offered("a", "reads", schema={"type": "object"})
    assert tool.definition == Offered("a", "reads", schema={"type": "object"}, title="A").definition
    assert tool.definition != Offered("a", "writes", schema={"type": "object"}).definition


@pytest.mark.parametrize(
    "answer, text",
    [
        ({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "a\nb"),
        ({"content": []}, "(the answer is empty)"),
        ({"content": [{"type": "text", "text": '{"a": 1}'}], "structuredContent": {"a": 1}}, '{"a": 1}'),
        ({"content": [{"type": "text", "text": "5"}], "structuredContent": {"result": 5}}, "5"),
        ({"content": [{"type": "text", "text": "a\nb\n"}], "structuredContent": {"content": "a\nb"}}, "a\nb\n"),
        ({"content": [], "structuredContent": {"a": 1}}, '{\n "a": 1\n}'),
        ({"content": [{"type": "audio", "mimeType": "audio/wav", "data": "AAAA"}]},
         "[a sound, audio/wav, 3 bytes: not shown to you]"),
        ({"content": [{"type": "resource_link", "uri": "file:///a", "name": "A"}]}, "[a link to file:///a: A]"),
        ({"content": [{"type": "resource", "resource": {"uri": "file:///a", "text": "in it"}}]}, "[file:///a]\nin it"),
        ({"content": [{"type": "hologram"}]}, "[a part of the unknown type 'hologram' was left out]"),
        ({"content": [{"type": "text", "text": "a\u202eb\x1b[2J"}]}, "a\\u202eb\\x1b[2J"),
    ],
)  # fmt: skip
def test_an_answer_becomes_text(answer: dict[str, Any], text: str) -> None:
    outcome = outcome_of(answer, "it")
    assert (outcome.text, outcome.error) == (text, "")


def test_an_error_is_a_failure_with_its_words() -> None:
    outcome = outcome_of({"isError": True, "content": [{"type": "text", "text": "no such\nfile"}]}, "it")
    assert (outcome.text, outcome.error) == ("", "The MCP server it reports an error: no such file")
    long = outcome_of({"isError": True, "content": [{"type": "text", "text": "x" * 5_000}]}, "it")
    assert len(long.error) < 600
    assert long.text == "x" * 5_000


@given(st.integers(min_value=0, max_value=3 * RESULT_MAX))
def test_a_result_is_bounded(size: int) -> None:
    assert len(outcome_of({"content": [{"type": "text", "text": "x" * size}]}, "it").text) <= RESULT_MAX + 100


def test_megabytes_of_hidden_characters_are_cut_before_they_are_spelled() -> None:
    """The answer is read on the window's loop."""
    began = time.process_time()
    outcome = outcome_of({"content": [{"type": "text", "text": "\u202e" * 2_600_000}]}, "it")
    assert time.process_time() - began < 1
    assert len(outcome.text) <= RESULT_MAX + 100
    assert outcome.text.startswith("\\u202e")
