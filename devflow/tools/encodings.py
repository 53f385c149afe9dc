"""Text in the encodings that source files really have, kept as they are when a file is written back."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from devflow.tools.refusal import ToolRefused

_SAMPLE = 8192


@dataclass(frozen=True, slots=True)
class TextForm:
    """How a text stands in its file. `newline` is what ends its lines; `bom` stands at its beginning."""

    encoding: str = "utf-8"
    newline: str = "\n"
    bom: bytes = b""


def decode(data: bytes, shown: str) -> tuple[str, TextForm]:
    """The text with its line ends as `\\n`, and its form; raises `ToolRefused` for what is no text."""
    for bom, encoding in (
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
    ):
        if data.startswith(bom):
            return _decoded(data[len(bom) :], encoding, bom, shown)
    guess = _utf16_without_bom(data[:_SAMPLE])
    if guess:
        return _decoded(data, guess, b"", shown)
    if b"\x00" in data[:_SAMPLE]:
        raise ToolRefused(f"{shown} is a binary file ({len(data):,} bytes).")
    for encoding in ("utf-8", "gb18030"):
        try:
            return _decoded(data, encoding, b"", shown)
        except ToolRefused:
            continue
    raise ToolRefused(f"{shown} is no text in UTF-8, UTF-16 or GB18030 ({len(data):,} bytes).")


def encode(text: str, form: TextForm) -> bytes:
    """The bytes of a new text in the form of the old one; raises `ToolRefused` where its encoding lacks a character."""
    lines = text.replace("\r\n", "\n").replace("\n", "\r\n") if form.newline == "\r\n" else text
    try:
        return form.bom + lines.encode(form.encoding)
    except UnicodeEncodeError as error:
        char = text[error.start : error.start + 1]
        raise ToolRefused(
            f"The character {char!r} cannot be written in the file's encoding, {form.encoding}."
        ) from None


def lines_of(text: str) -> list[str]:
    """Lines as editors count them, each with its `\\n`; other separators are part of a line."""
    return re.findall(r"[^\n]*\n|[^\n]+$", text)


def _decoded(data: bytes, encoding: str, bom: bytes, shown: str) -> tuple[str, TextForm]:
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        raise ToolRefused(f"{shown} is not whole {encoding} text.") from None
    crlf = text.count("\r\n")
    newline = "\r\n" if crlf and crlf == text.count("\n") else "\n"
    return (text.replace("\r\n", "\n") if newline == "\r\n" else text), TextForm(encoding, newline, bom)


def _utf16_without_bom(sample: bytes) -> str:
    """Mostly Latin UTF-16 has a NUL in every other byte, always on the same side."""
    if len(sample) < 4 or len(sample) % 2:
        sample = sample[: len(sample) // 2 * 2]
    if len(sample) < 4:
        return ""
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    half = len(sample) // 2
    if odd > half * 0.6 and even < half * 0.05:
        return "utf-16-le"
    if even > half * 0.6 and odd < half * 0.05:
        return "utf-16-be"
    return ""
