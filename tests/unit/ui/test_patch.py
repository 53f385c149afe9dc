"""The rows of a diff: every character of the change is on the card, and nothing in it can hide the rest."""

import difflib
import random
import time

import pytest

from devflow.ui.pages.chat.patch import patch_rows
from devflow.ui.widgets.diffing import Side, diff_lines


@pytest.mark.parametrize("char", ["\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029", "\r"])
@pytest.mark.parametrize("rest", ["\\ evil()", "[evil()]", "@@ -9 +9 @@evil()", "+evil()", "-evil()", "evil()"])
def test_a_character_that_some_take_for_a_line_end_hides_nothing(char: str, rest: str) -> None:
    patch = "\n".join(
        line.rstrip("\n") for line in difflib.unified_diff(["a\n"], [f"harmless{char}{rest}\n", "last\n"], "a/f", "b/f")
    )
    added = [row.text for row in patch_rows(patch) if row.side is Side.ADDED]
    assert added == [f"harmless{_spelled(char)}{rest}", "last"]


def test_characters_that_nobody_sees_are_spelled() -> None:
    patch = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-ok\n+ok\u202e)(live\u200b\x1b[8m"
    assert patch_rows(patch)[-1].text == "ok\\u202e)(live\\u200b\\x1b[8m"


def test_lines_too_long_to_compare_word_by_word_are_on_the_card_at_once() -> None:
    """The window waits for the card; a changed line of a minified file would stop it for minutes."""
    dice = random.Random(1)
    before, after = (" ".join(dice.choice("ab") for _ in range(20_000)) for _ in range(2))
    began = time.process_time()
    removed, added = patch_rows(f"--- a/f\n+++ b/f\n@@ -1 +1 @@\n-{before}\n+{after}")
    assert time.process_time() - began < 3
    assert (removed.text, added.text) == (before, after)


def test_a_small_change_in_a_very_long_line_is_still_marked() -> None:
    line = "word " * 20_000
    removed, added = patch_rows(f"--- a/f\n+++ b/f\n@@ -1 +1 @@\n-{line}old{line}\n+{line}new{line}")
    assert [removed.text[start:end] for start, end in removed.marks] == ["oldword"]
    assert [added.text[start:end] for start, end in added.marks] == ["newword"]


@pytest.mark.parametrize("words", [1, 40])
def test_two_texts_of_alike_lines_are_compared_while_a_window_waits(words: int) -> None:
    dice = random.Random(2)
    before, after = (
        "\n".join(" ".join(dice.choices("abcd", k=words)) for _ in range(9_000 // words)) for _ in range(2)
    )
    began = time.process_time()
    rows = diff_lines(before, after)
    assert time.process_time() - began < 2
    assert rows


def _spelled(char: str) -> str:
    return f"\\x{ord(char):02x}" if ord(char) < 256 else f"\\u{ord(char):04x}"
