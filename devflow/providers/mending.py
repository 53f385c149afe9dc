"""Text as servers stream it, made into text that can be kept: an emoji cut in half is joined, a lone half is marked."""

from __future__ import annotations

import re

from devflow.domain.text.storable import is_storable

MARK = "\ufffd"
_HALF = re.compile("[\ud800-\udbff]\\Z")


def mended(text: str) -> str:
    """Surrogate pairs as the characters they mean; their halves, and NUL, as `MARK`."""
    if is_storable(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").replace("\x00", MARK)


class Mender:
    """For pieces of one text: a server that cuts between the halves of a character sends each as its own escape."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, piece: str) -> str:
        text = self._held + piece
        half = _HALF.search(text)
        self._held = half[0] if half else ""
        return mended(text[:-1] if half else text)

    def close(self) -> str:
        held, self._held = self._held, ""
        return MARK if held else ""
