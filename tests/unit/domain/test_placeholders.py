"""The variables of prompt templates: found, filled in, and recognised."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devflow.domain.errors import InvalidInput
from devflow.domain.placeholders import filled, may_have_made, names

REVIEW = "Review {{file}} for {{ what }}. Name {{file}} again."


@pytest.mark.parametrize(
    "text,found",
    [
        ("{{a}} {{ b_2 }} {{a}}", ("a", "b_2")),
        ("{a} {{}} {{ }} {{1a}} {{a-b}} {{a b}} {{{c}}}", ("c",)),
        ("{{文件}}", ("文件",)),
        ("{{a\n}}", ()),
        ("{{" + "x" * 65 + "}}", ()),
        ("no variables", ()),
    ],
)
def test_variables_are_named_in_two_braces(text: str, found: tuple[str, ...]) -> None:
    assert names(text) == found


def test_values_are_not_looked_into() -> None:
    assert filled("{{a}}, {{ b }}", {"a": "{{b}}", "b": r"\1"}) == r"{{b}}, \1"


@pytest.mark.parametrize(
    "values,said",
    [
        ({"file": "a.py"}, "The template needs a value for what."),
        ({}, "The template needs a value for file, what."),
        ({"file": "a.py", "what": "locks", "x": "", "y": ""}, "The template has no variable x, y."),
        ({"fil": "a.py"}, "The template needs a value for file, what, and has no variable fil."),
    ],
)
def test_what_lacks_and_what_is_unknown_is_named_in_one_sentence(values: dict[str, str], said: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        filled(REVIEW, values)
    assert str(refused.value) == said
    assert refused.value.hint.format(**refused.value.params) == "Its variables: file, what."


@given(st.text(), st.text(), st.text())
def test_what_a_template_made_is_known_again_with_whatever_follows(file: str, what: str, more: str) -> None:
    values = {"file": file, "what": what}
    for template in (REVIEW, f"\n {REVIEW}\n", f"{{{{file}}}}: {REVIEW}{{{{what}}}}"):
        assert may_have_made(template, filled(template, values).rstrip() + more)


@pytest.mark.parametrize(
    "template,text",
    [
        (REVIEW, "How do I review a.py for locks? Name a.py again."),
        (REVIEW, "Review a.py for locks."),
        ("{{all}}", "Whatever was asked"),
        ("{{a}}: {{b}}", "One thing: another"),
    ],
)
def test_other_texts_are_not_taken_for_a_templates(template: str, text: str) -> None:
    assert not may_have_made(template, text)
