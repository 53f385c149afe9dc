"""The diff on the card is the change, whatever its size; it is held against `difflib` over the whole texts."""

import difflib
import time

from hypothesis import given, settings
from hypothesis import strategies as st

from devflow.tools.encodings import lines_of
from devflow.tools.writing import DIFF_MAX, _diff

TEXTS = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "\n", "+x\n", "-y\n", "@@ -1 +1 @@\n"]), max_size=30).map(
    "".join
)


@settings(derandomize=True, deadline=None, max_examples=300)
@given(old=TEXTS, new=TEXTS, cut=st.booleans())
def test_it_turns_the_old_text_into_the_new_one(old: str, new: str, *, cut: bool) -> None:
    new = new.removesuffix("\n") if cut else new
    diff, added, removed = _diff(old, new, "f", exists=True)
    assert applied(lines_of(old), diff) == lines_of(new)
    assert added - removed == len(lines_of(new)) - len(lines_of(old))


def test_one_changed_line_is_what_difflib_shows() -> None:
    old = "".join(f"{number}\n" for number in range(100))
    new = old.replace("50\n", "fifty\n")
    expected = [line.rstrip("\n") for line in difflib.unified_diff(lines_of(old), lines_of(new), "a/f", "b/f")]
    assert _diff(old, new, "f", exists=True)[0].split("\n") == expected


def test_one_changed_line_of_a_very_long_file_is_shown() -> None:
    old = "".join(f"line {number}\n" for number in range(200_000))
    diff, added, removed = _diff(old, old.replace("line 150000\n", "changed\n"), "f", exists=True)
    assert (added, removed) == (1, 1)
    assert "@@ -149998,7 +149998,7 @@" in diff
    assert "-line 150000\n+changed" in diff


def test_a_text_that_is_wholly_other_is_shown_as_far_as_there_is_room() -> None:
    old = "".join(f"old {number}\n" for number in range(15_000))
    new = "".join(f"new {number}\n" for number in range(15_000))
    started = time.monotonic()
    diff, added, removed = _diff(old, new, "f", exists=True)
    assert (added, removed) == (15_000, 15_000)
    assert "-old 0\n" in diff
    assert len(diff) < DIFF_MAX + 100
    assert diff.endswith("only its beginning is shown]")
    assert time.monotonic() - started < 5


def test_one_huge_line_is_shown_in_part() -> None:
    diff, added, _ = _diff("", "x" * 1_000_000, "f", exists=False)
    assert added == 1
    assert "+xxx" in diff


def applied(old: list[str], diff: str) -> list[str]:
    """What a patch program would make of it."""
    new: list[str] = []
    at = 0
    lines = diff.split("\n")[2:] if diff else []
    for place, line in enumerate(lines):
        ends = "" if lines[place + 1 : place + 2] == ["\\ No newline at end of file"] else "\n"
        if line.startswith("@@"):
            start, _, count = line.split()[1][1:].partition(",")
            begin = int(start) - (count != "0")
            new += old[at:begin]
            at = begin
        elif line.startswith("+"):
            new.append(line[1:] + ends)
        elif line.startswith("-"):
            assert old[at].removesuffix("\n") == line[1:]
            at += 1
        elif line.startswith(" "):
            new.append(old[at])
            at += 1
    return new + old[at:]
