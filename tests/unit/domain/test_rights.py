"""Rights of other programs, and their names."""

import pytest

from devflow.domain.rights import CLIENT_MAX, Right, RightMissing, Visitor, client_name


def test_each_right_holds_those_before_it() -> None:
    held = [[right.value for right in Right if holder.holds(right)] for holder in Right]
    assert held == [["read"], ["read", "propose"], ["read", "propose", "manage"]]


def test_a_missing_right_is_named_with_what_is_allowed_and_what_to_do() -> None:
    with pytest.raises(RightMissing) as refused:
        Visitor("ann", Right.READ).require(Right.PROPOSE)
    assert str(refused.value) == "This needs the right to propose; the user allowed read."
    assert refused.value.hint.format(**refused.value.params) == "The user can allow it: `devflow mcp --allow propose`."


@pytest.mark.parametrize(
    "given,shown",
    [
        ("claude-code", "claude-code"),
        ("  My\n editor\t2 ", "My editor 2"),
        ("a\u202eb\x1b[31m\ud83d", "a b [31m"),
        ("小明的工具", "小明的工具"),
        ("", "unknown"),
        ("\n\u200b", "unknown"),
        ("x" * 500, "x" * CLIENT_MAX),
    ],
)
def test_a_clients_name_is_one_short_line_of_printable_characters(given: str, shown: str) -> None:
    assert client_name(given) == shown
