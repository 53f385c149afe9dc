"""Which messages are commands: one rule for the composer, the trigger and the log."""

import pytest

from devflow.domain.commands import SlashCommand, command_of


@pytest.mark.parametrize(
    "message, name, rest",
    [
        ("/sediment", "sediment", ""),
        ("  /pdf  ", "pdf", ""),
        ("/model qwen3 coder", "model", "qwen3 coder"),
        ("/code-review\nlook at this\n", "code-review", "look at this"),
        ("/Export PDF", "Export", "PDF"),
        ("/sediment [[wiki/a.md]]", "sediment", "[[wiki/a.md]]"),
    ],
)
def test_a_slash_and_a_word_is_a_command(message: str, name: str, rest: str) -> None:
    assert command_of(message) == SlashCommand(name, rest)


@pytest.mark.parametrize(
    "message",
    ["/usr/x is a path", "/usr/x", "/", "/ new", "// comment", "/new.", "/a+b", "/3 of them", "/你好", "", "／new"],
)
def test_anything_else_is_a_message(message: str) -> None:
    assert command_of(message) is None


def test_a_skill_may_have_a_name_in_any_script() -> None:
    assert command_of("/写作 一篇文章", known={"写作"}) == SlashCommand("写作", "一篇文章")
    assert command_of("/写作一篇文章", known={"写作"}) is None
