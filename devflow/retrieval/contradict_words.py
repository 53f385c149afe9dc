"""Why two texts may contradict each other, in words."""

from __future__ import annotations

from typing import assert_never

from devflow.domain.messages import Translator
from devflow.retrieval.contradict import Opposition


def against(t: Translator, opposition: Opposition) -> str:
    """Which words stand against which, those of the entry that was asked about first."""
    mine, theirs = opposition.mine, opposition.theirs
    match opposition.kind:
        case "number":
            return t("Another number: “{mine}” against “{theirs}”", mine=mine, theirs=theirs)
        case "negation":
            return t("One denies it: “{mine}” against “{theirs}”", mine=mine, theirs=theirs)
        case "opposite":
            return t("Opposite words: “{mine}” against “{theirs}”", mine=mine, theirs=theirs)
        case "choice":
            return t("Another choice: “{mine}” against “{theirs}”", mine=mine, theirs=theirs)
        case _:
            assert_never(opposition.kind)
