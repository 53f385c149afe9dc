"""Whether two texts say opposite things of one matter, and which words stand against which. No model is asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["number", "negation", "opposite", "choice"]


@dataclass(frozen=True, slots=True)
class Opposition:
    """Words of the first text against words of the second, as they are written, and the statements they stand in.

    `number`: another number, version or unit of the same thing. `negation`: one denies what the other says. `opposite`:
    words that exclude each other (always, never; 启用, 禁用). `choice`: another thing in the same place (use X, use Y).
    """

    kind: Kind
    mine: str
    theirs: str
    my_statement: str = ""
    their_statement: str = ""


def oppositions(mine: tuple[str, str], theirs: tuple[str, str]) -> tuple[Opposition, ...]:
    """How two texts (title, content) may contradict each other, the plainest first; empty where they do not."""
    return ()
