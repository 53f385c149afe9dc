"""JSON from outside: whatever is wrong with it, there is one kind of failure."""

from __future__ import annotations

import json
from typing import Any


def loads(text: str | bytes, *, strict: bool = True) -> Any:
    """`json.loads`, but every failure is a ValueError: no JSON, no UTF-8, too many digits, nested too deeply."""
    try:
        return json.loads(text, strict=strict)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
