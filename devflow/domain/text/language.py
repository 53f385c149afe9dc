"""Which of our two languages somebody is answered in."""

from __future__ import annotations

import re
from typing import Literal

from devflow.domain.text.scripts import HAN

Language = Literal["en", "zh"]

_HAN = re.compile(f"[{HAN}]")


def language_of(text: str) -> Language:
    """Chinese for a text with Han characters, English otherwise (spec 02, Prompt): of templates and offline answers."""
    return "zh" if _HAN.search(text) else "en"
