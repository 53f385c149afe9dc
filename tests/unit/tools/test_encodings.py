import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devflow.tools.encodings import decode, encode, lines_of
from devflow.tools.refusal import ToolRefused


@pytest.mark.parametrize(
    "data, text, encoding",
    [
        (b"plain\n", "plain\n", "utf-8"),
        ("写锁\n".encode(), "写锁\n", "utf-8"),
        (codecs.BOM_UTF8 + b"x", "x", "utf-8"),
        ("写锁".encode("gb18030"), "写锁", "gb18030"),
        (codecs.BOM_UTF16_LE + "写锁 a".encode("utf-16-le"), "写锁 a", "utf-16-le"),
        (codecs.BOM_UTF16_BE + "a".encode("utf-16-be"), "a", "utf-16-be"),
        ("hello world".encode("utf-16-le"), "hello world", "utf-16-le"),
        ("hello world".encode("utf-16-be"), "hello world", "utf-16-be"),
        (b"", "", "utf-8"),
    ],
)
def test_text_is_read_in_its_own_encoding_and_written_back_in_it(data: bytes, text: str, encoding: str) -> None:
    found, form = decode(data, "f")
    assert (found, form.encoding) == (text, encoding)
    assert encode(found, form) == data


def test_windows_line_ends_are_kept() -> None:
    text, form = decode(b"a\r\nb\r\n", "f")
    assert text == "a\nb\n"
    assert encode("a\nc\n", form) == b"a\r\nc\r\n"


def test_mixed_line_ends_are_left_alone() -> None:
    text, form = decode(b"a\r\nb\n", "f")
    assert encode(text, form) == b"a\r\nb\n"


@pytest.mark.parametrize("data", [b"\x89PNG\r\n\x1a\n\x00\x00", b"\x7fELF\x02\x01\x01" + b"\x00" * 20, b"\xff\xff\xff"])
def test_what_is_no_text_is_refused(data: bytes) -> None:
    with pytest.raises(ToolRefused):
        decode(data, "picture.png")


def test_a_character_that_the_files_encoding_lacks_is_named() -> None:
    _, form = decode("写锁".encode("utf-16-le") + "hello hello hello".encode("utf-16-le"), "f")
    with pytest.raises(ToolRefused, match="cannot be written"):
        encode("\ud800", form)


@given(st.text())
def test_lines_put_together_are_the_text(text: str) -> None:
    assert "".join(lines_of(text)) == text
    assert len(lines_of(text)) == text.count("\n") + (not text.endswith("\n") and text != "")
