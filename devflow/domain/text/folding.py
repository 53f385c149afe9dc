"""Folding: the one place that says which characters count as the same (spec 08, Folding)."""

from __future__ import annotations

import hashlib
import unicodedata

_WHITE_SPACE = " "


class _CharacterMap(dict[int, str]):
    """A translation table that works out each character the first time it is met."""

    __slots__ = ()

    def __missing__(self, code: int) -> str:
        mapped = self.map_character(chr(code))
        self[code] = mapped
        return mapped

    def map_character(self, char: str) -> str:
        raise NotImplementedError


class _FoldMap(_CharacterMap):
    __slots__ = ()

    def map_character(self, char: str) -> str:
        return unicodedata.normalize("NFD", char).casefold()


class _TermMap(_CharacterMap):
    """As `_FoldMap`, with compatibility forms (full width, ligatures) resolved and accents dropped."""

    __slots__ = ()

    def map_character(self, char: str) -> str:
        folded = unicodedata.normalize("NFKD", _FOLD[ord(char)]).casefold()
        return "".join(c for c in folded if not "\u0300" <= c <= "\u036f")


_FOLD = _FoldMap()
_TERM = _TermMap()


def fold(text: str) -> str:
    """`casefold(NFD(x))` character by character, for matching only.

    Folding distributes over concatenation, so the fold of a part is a part of the fold: a plain scan over folded texts
    and an index over folded texts mean the same thing.
    """
    if text.isascii():
        return text.lower()
    if unicodedata.is_normalized("NFD", text):
        return text.casefold()  # nothing to decompose: the same result, many times faster
    return text.translate(_FOLD)


def fold_term(text: str) -> str:
    """A coarser fold for whole terms: `ＦＵＬＬ` is `full`, `café` is `cafe`.

    It too distributes over concatenation, and is a function of the fold: equal folds have equal terms.
    """
    return text.lower() if text.isascii() else text.translate(_TERM)


def normalised(text: str) -> str:
    """NFKC, case folded, runs of white space as one space: two texts with the same result repeat each other."""
    return _WHITE_SPACE.join(unicodedata.normalize("NFKC", text).casefold().split())


def duplicate_key(title: str, content: str) -> str:
    """The value of `entries.normal_hash`: equal exactly when title and content repeat each other after `normalised`."""
    return hashlib.sha256(f"{normalised(title)}\n{normalised(content)}".encode()).hexdigest()
