"""The rows of a diff: every character of the change is on the card, and nothing in it can hide the rest."""

import difflib

import pytest

from devflow.ui.pages.chat.patch import patch_rows
from devflow.ui.widgets.diffing import Side


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


def _spelled(char: str) -> str:
    return f"\\x{ord(char):02x}" if ord(char) < 256 else f"\\u{ord(char):04x}"
