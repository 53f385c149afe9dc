"""From a file's bytes to text, never to mojibake: UTF-8 with or without a mark, UTF-16 with one, GB18030 at last."""

from __future__ import annotations

import codecs

_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def decode(raw: bytes) -> str | None:
    """The text with `\\n` as its only line end; None where no encoding fits."""
    text = _decoded(raw)
    return None if text is None else text.replace("\r\n", "\n").replace("\r", "\n")


def _decoded(raw: bytes) -> str | None:
    if raw.startswith(_UTF_16):
        return _try(raw, "utf-16")
    text = _try(raw, "utf-8-sig")
    if text is not None:
        return None if "\x00" in text else text
    text = _try(raw, "gb18030")
    # GB18030 takes almost any bytes: what no text holds was none.
    return None if text is None or any(_is_no_text(char) for char in text) else text


def _try(raw: bytes, encoding: str) -> str | None:
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError:
        return None


def _is_no_text(char: str) -> bool:
    return (char < " " and char not in "\n\r\t\f") or "\x7f" <= char <= "\x9f" or "\ue000" <= char <= "\uf8ff"
