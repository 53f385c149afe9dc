"""A title as a file's name: readable, and allowed on every system."""

import pytest

from devflow.sharing.file_names import NAME_BYTES, file_name


@pytest.mark.parametrize(
    "title, name",
    [
        ("多 agent 团队：怎么分工？", "多 agent 团队：怎么分工？.md"),
        ('a/b\\c: what? <x> | "y"*', "a b c what x y.md"),
        ("🚀 Launch 👩‍👩‍👧 plan", "🚀 Launch 👩‍👩‍👧 plan.md"),
        ("../../etc/passwd", "etc passwd.md"),
        ("ends with dots...", "ends with dots.md"),
        ("con", "_con.md"),
        ("NUL.txt", "_NUL.txt.md"),
        ("com1 port", "com1 port.md"),
        ("line\nbreak\ttab\x00nul", "line break tab nul.md"),
        ("invoice\u202efdp.exe", "invoicefdp.exe.md"),
        ("", "Conversation.md"),
        ("???", "Conversation.md"),
        (". .", "Conversation.md"),
    ],
)
def test_a_title_becomes_a_name(title: str, name: str) -> None:
    assert file_name(title, ".md", "Conversation") == name


def test_a_long_title_is_cut_between_characters() -> None:
    name = file_name("👩‍👩‍👧" * 40, ".html", "Conversation").removesuffix(".html")
    assert 0 < len(name.encode()) <= NAME_BYTES
    assert name.replace("👩‍👩‍👧", "") == ""
