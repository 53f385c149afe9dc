"""A long text is rendered in slices: none is too much at once, and together they say all of it."""

import pytest

from devflow.ui.widgets.markdown.slices import CELLS, LINES, MOST, next_slice

TABLE = "| a | b | c |\n|---|---|---|\n" + "".join(f"| row {n} | value {n} | 中文 |\n" for n in range(3_000))
CODE = "```python\n" + "".join(f"x{n} = 1\n" for n in range(20_000)) + "```\n"


def slices_of(text: str, size: int = MOST) -> list[str]:
    found = []
    while text:
        shown, text = next_slice(text, size)
        found.append(shown)
    return found


SIGNS = ("[", ">", "|", "`", "~", "*a_ ", "![", "[a](", "`a``b", "word ", "中文")
LINED = ("# h\n", "---\n\n", "- item\n", "> - a\n", "\n", "|\n")


@pytest.mark.parametrize("text", [*SIGNS, *LINED])
@pytest.mark.parametrize("size", [MOST, 400])
def test_no_slice_is_longer_than_it_may_be_and_nothing_is_lost(text: str, size: int) -> None:
    whole = text * (100_000 // len(text))
    found = slices_of(whole, size)
    same = "".join(found) == whole
    assert same
    assert all(0 < len(each) <= size for each in found)
    assert all(each.count("\n") <= LINES for each in found)


def test_a_text_ends_between_two_blocks() -> None:
    text = "\n\n".join(f"Paragraph {number}." for number in range(500))
    found = slices_of(text)
    assert "".join(found) == text
    assert all(each.startswith("Paragraph") for each in found)


def test_a_long_table_goes_on_under_its_own_head() -> None:
    found = slices_of(TABLE)
    assert all(each.startswith("| a | b | c |\n|---|---|---|\n| row ") for each in found)
    assert all(each.count("|") <= CELLS + 8 for each in found)
    rows = [line for each in found for line in each.splitlines()[2:]]
    assert rows == TABLE.splitlines()[2:]


def test_what_follows_a_long_table_is_no_row_of_it() -> None:
    *_, last = slices_of(f"{TABLE}\nAfter it.")
    assert last.endswith("After it.")
    assert "| a | b |" not in last.partition("\n\n")[2]


def test_long_code_goes_on_in_a_fence_of_its_own() -> None:
    found = slices_of(CODE)
    assert all(each.startswith("```python\n") and each.endswith("```\n") for each in found)
    lines = [line for each in found for line in each.splitlines() if not line.startswith("```")]
    assert lines == CODE.splitlines()[1:-1]


def test_code_of_one_endless_line_is_parted_too() -> None:
    found = slices_of("```\n" + "x" * 50_000 + "\n```")
    assert all(len(each) <= MOST + 20 for each in found)
    assert sum(each.count("x") for each in found) == 50_000


def test_a_short_text_is_one_slice() -> None:
    assert next_slice("# A\n\nWord.") == ("# A\n\nWord.", "")
