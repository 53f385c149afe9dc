"""What text can be kept at all: every tool that reads the database must be able to take it."""

from __future__ import annotations

import re

_NEVER = re.compile("[\x00\ud800-\udfff]")


def is_storable(text: str) -> bool:
    """Whether it holds neither NUL nor half of a surrogate pair, which a broken copy or a binary file leaves behind."""
    return _NEVER.search(text) is None
