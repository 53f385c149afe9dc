from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devflow.tools.arguments import parse_arguments
from devflow.tools.refusal import ToolRefused

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "minLength": 1, "maxLength": 10},
        "lines": {"type": "integer", "minimum": 1, "maximum": 9, "default": 5},
        "kind": {"type": "string", "enum": ["a", "b"]},
        "tags": {"type": "array", "items": {"type": "string"}},
        "deep": {"type": "boolean"},
    },
    "required": ["path"],
    "additionalProperties": False,
}


def parse(text: str) -> dict[str, Any]:
    return parse_arguments(SCHEMA, text, "tool")


def test_defaults_are_filled_in_and_nulls_of_optional_fields_left_out() -> None:
    assert parse('{"path": "x", "kind": null}') == {"path": "x", "lines": 5}
    assert parse('{"path": "x", "lines": 3.0, "tags": ["t"], "deep": true}') == {
        "path": "x",
        "lines": 3,
        "tags": ["t"],
        "deep": True,
    }


@pytest.mark.parametrize(
    "text, says",
    [
        ("", "not valid JSON"),
        ("{'path': 'x'}", "not valid JSON"),
        ("[1]", "not a JSON object"),
        ("{}", "'path' is missing"),
        ('{"path": null}', "'path' is missing"),
        ('{"path": ""}', "'path' is empty"),
        ('{"path": "xxxxxxxxxxx"}', "at most 10 fit"),
        ('{"path": 7}', "'path' must be text, not 7"),
        ('{"path": "x", "lines": "3"}', "'lines' must be a whole number"),
        ('{"path": "x", "lines": true}', "'lines' must be a whole number"),
        ('{"path": "x", "lines": 10}', "at most 9"),
        ('{"path": "x", "lines": 0}', "at least 1"),
        ('{"path": "x", "kind": "c"}', "one of a, b"),
        ('{"path": "x", "tags": "t"}', "'tags' must be a list"),
        ('{"path": "x", "tags": [1]}', "'tags[]' must be text"),
        ('{"path": "x", "file": 1}', "there is no 'file'"),
    ],
)
def test_what_does_not_fit_is_told_to_the_model_with_what_would(text: str, says: str) -> None:
    with pytest.raises(ToolRefused) as caught:
        parse(text)
    assert says in str(caught.value)


def test_every_problem_is_named_at_once() -> None:
    with pytest.raises(ToolRefused) as caught:
        parse('{"lines": 0, "file": 1}')
    said = str(caught.value)
    assert all(words in said for words in ("'path' is missing", "at least 1", "there is no 'file'", "lines (optional)"))


def test_a_sentence_may_quote_braces() -> None:
    with pytest.raises(ToolRefused) as caught:
        parse('{"path": "x", "kind": "{nothing}", "tags": {"a": 1}}')
    assert '{"a": 1}' in str(caught.value)


@given(st.text(max_size=60))
def test_nonsense_is_refused_not_a_crash(text: str) -> None:
    try:
        found = parse(text)
    except ToolRefused:
        return
    assert found["path"]
