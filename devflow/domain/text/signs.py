"""Signs: what stands in a text beside words and white space, for queries such as `->`, `100%`, an emoji.

Words and runs of Han find their texts by terms. A query of signs alone would have every text read; so the index knows
which signs, and which pairs of neighbouring signs, a text has.
"""

from __future__ import annotations

import re

from devflow.domain.text.scripts import CJK, MARKS

_RUN = re.compile(rf"[^\w\s{CJK}{MARKS}\x00-\x1f]+")
_SAFE = {code: 0xE000 + code for code in range(0x21, 0x7F)}
"""Signs of ASCII as characters for private use, which no tokenizer takes for its own."""


def sign_terms(folded: str) -> list[str]:
    """The different signs and pairs of neighbouring signs of a folded text, written so that an index can hold them.

    Those of a part are among those of the whole.
    """
    found: dict[str, None] = {}
    for run in _RUN.findall(folded):
        found |= dict.fromkeys(run)
        found |= dict.fromkeys(run[at : at + 2] for at in range(len(run) - 1))
    return [term.translate(_SAFE) for term in found]
