"""What of a tool's schema a server gets: everything but limits that no grammar can hold."""

from devflow.providers.tool_schema import WIDEST, sendable_schema


def test_limits_too_wide_for_a_grammar_stay_here_and_all_else_is_sent() -> None:
    schema = {
        "type": "object",
        "properties": {
            "path": {"type": "string", "minLength": 1, "maxLength": 200},
            "content": {"type": "string", "description": "The whole text.", "maxLength": WIDEST + 1},
            "lines": {"type": "array", "maxItems": 100_000, "items": {"type": "string", "maxLength": 5_000}},
        },
        "required": ["path", "content"],
        "additionalProperties": False,
    }
    assert sendable_schema(schema) == {
        "type": "object",
        "properties": {
            "path": {"type": "string", "minLength": 1, "maxLength": 200},
            "content": {"type": "string", "description": "The whole text."},
            "lines": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["path", "content"],
        "additionalProperties": False,
    }


def test_a_parameter_may_be_named_like_a_limit() -> None:
    schema = {"properties": {"maxLength": {"type": "integer", "maximum": 100_000, "default": {"maxItems": 5_000}}}}
    assert sendable_schema(schema) == schema


def test_alternatives_are_looked_into() -> None:
    schema = {"anyOf": [{"type": "string", "maxLength": 9_999}, {"type": "null"}, True]}
    assert sendable_schema(schema) == {"anyOf": [{"type": "string"}, {"type": "null"}, True]}
