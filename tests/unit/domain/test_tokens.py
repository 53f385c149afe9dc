"""The token estimate of spec 03, number for number."""

import math

import pytest

from devflow.domain.tokens import estimate_tokens


@pytest.mark.parametrize(
    "text, raw",
    [
        ("", 0),
        ("a" * 35, 10),
        ("word " * 7, 10),
        ("中" * 10, 10),
        ("あア가", 3),
        ("é" * 5, 10),
        ("🙂", 2),
        ("a" * 40, 40 / 3.5),
        ("a" * 41, 41),
        ("ab cd " + "x" * 100, 6 / 3.5 + 100),
        ("中文 and English", 2 + 12 / 3.5),
    ],
)
def test_the_estimate_follows_the_rule(text: str, raw: float) -> None:
    assert estimate_tokens(text) == math.ceil(raw * 1.2)


def test_a_long_chinese_text_costs_about_a_token_a_character() -> None:
    assert 1.1 <= estimate_tokens("知识库检索。" * 500) / 3000 <= 1.3
