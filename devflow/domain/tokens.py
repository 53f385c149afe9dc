"""How many tokens a text is likely to be, without a tokenizer and without the network (spec 03, Context window)."""

from __future__ import annotations

import math
import re

from devflow.domain.text.scripts import CJK

ASCII_PER_TOKEN = 3.5
CJK_TOKENS = 1.0
OTHER_TOKENS = 2.0
MARGIN = 1.2
LONG_RUN = 40
"""An unbroken ASCII run longer than this (encoded data, hashes) costs about a token a character."""

_RUN = re.compile(rf"[!-~]{{{LONG_RUN + 1},}}")
_CJK = re.compile(rf"[{CJK}\u3000-\u3004\u3008-\u3020\uff01-\uff60]+")


def estimate_tokens(text: str) -> int:
    """ASCII ÷ 3.5, Han, kana, hangul and full-width marks × 1, everything else × 2, long ASCII runs × 1; all × 1.2."""
    if not text:
        return 0
    long_runs = 0
    if text.isascii():
        plain, cjk, other = len(text), 0, 0
    else:
        plain = len(text.encode("ascii", "ignore"))
        cjk = sum(run.end() - run.start() for run in _CJK.finditer(text))
        other = len(text) - plain - cjk
    for run in _RUN.finditer(text):
        long_runs += run.end() - run.start()
    plain -= long_runs
    return math.ceil((plain / ASCII_PER_TOKEN + long_runs + cjk * CJK_TOKENS + other * OTHER_TOKENS) * MARGIN)
