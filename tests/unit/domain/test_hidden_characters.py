"""Characters that nobody sees and every model reads."""

import time

import pytest

from devflow.domain.text.hidden import hidden_characters, with_hidden_shown


@pytest.mark.parametrize(
    "text, name",
    [
        ("run\u200b this", "U+200B ZERO WIDTH SPACE"),
        ("safe\u202etxt.exe", "U+202E RIGHT-TO-LEFT OVERRIDE"),
        ("a\u2066b\u2069", "U+2066 LEFT-TO-RIGHT ISOLATE"),
        ("\ufeffbegin", "U+FEFF ZERO WIDTH NO-BREAK SPACE"),
        ("ok\U000e0041\U000e0042", "U+E0041 TAG LATIN CAPITAL LETTER A"),
        ("bell\x07", "U+0007"),
        ("soft\u00adhyphen", "U+00AD SOFT HYPHEN"),
    ],
)
def test_a_hidden_character_is_found_and_named(text: str, name: str) -> None:
    assert hidden_characters(text)[0].name == name


@pytest.mark.parametrize(
    "text",
    [
        "plain text\twith a tab\r\nand lines",
        "中文，全角标点。",
        "family: \U0001f468\u200d\U0001f469\u200d\U0001f467",
        "क्\u200dष",
        "می\u200cخواهم",
        "heart \u2764\ufe0f",
        "Scotland \U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
    ],
)
def test_what_is_part_of_a_seen_character_is_not_hidden(text: str) -> None:
    assert hidden_characters(text) == ()


def test_each_one_is_named_with_its_place() -> None:
    found = hidden_characters("a\u200bb\u200bc")
    assert [hidden.start for hidden in found] == [1, 3]


def test_hidden_characters_are_spelled_and_what_is_seen_stays() -> None:
    text = "a\x1b[31m\u202eb\u2028c\rd\u0085e\U000e0041 \u3000写锁\t\r\n\U0001f468\u200d\U0001f469"
    shown = "a\\x1b[31m\\u202eb\\u2028c\\x0dd\\x85e\\U000e0041 \u3000写锁\t\r\n\U0001f468\u200d\U0001f469"
    assert with_hidden_shown(text) == shown
    assert with_hidden_shown(shown) == shown


def test_tags_behind_a_flag_that_is_none_are_hidden() -> None:
    assert len(hidden_characters("\U0001f3f4\U000e0072\U000e0075\U000e006e\U000e007f")) == 4


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f" * 20_000, id="flags"),
        pytest.param("\u202e" * 140_000, id="direction"),
    ],
)
def test_a_text_of_nothing_but_odd_characters_takes_no_time_worth_naming(text: str) -> None:
    began = time.process_time()
    with_hidden_shown(text)
    hidden_characters(text)
    assert time.process_time() - began < 3
