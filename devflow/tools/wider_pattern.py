"""A Python expression as one of ripgrep's that matches on every line that the Python one matches on, and on some more.

The two languages differ in many small things (look-around, what a word character is, how case is folded). ripgrep only
chooses the files that are worth reading, so wherever they differ the expression is made wider.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

_REPEAT_MAX = 1_000
_CATEGORIES = {
    "CATEGORY_DIGIT": r"\d",
    "CATEGORY_NOT_DIGIT": r"[^0-9]",
    "CATEGORY_SPACE": r"[\s\x1c-\x1f]",
    "CATEGORY_NOT_SPACE": r"[^ \t\n\r\f\v]",
    "CATEGORY_WORD": r"[\w\pN]",
    "CATEGORY_NOT_WORD": r"[^A-Za-z0-9_]",
}


def wider_pattern(pattern: str, *, ignore_case: bool) -> str | None:
    """The wider expression; None where this version of Python describes expressions in a way unknown to us."""
    try:
        parser = import_module("re._parser")
        parsed = parser.parse(pattern, re.IGNORECASE if ignore_case else 0)
        return _Writer(bool(parsed.state.flags & re.IGNORECASE)).sequence(parsed)
    except (re.error, ImportError, AttributeError, LookupError, TypeError, ValueError, RecursionError, OverflowError):
        return None


class _Writer:
    """Writes one parsed expression; `folded` says that letter case is ignored where it is now."""

    def __init__(self, folded: bool) -> None:
        self._folded = folded

    def sequence(self, items: Any) -> str:
        return "".join(self._item(str(operator), value) for operator, value in items)

    def _item(self, operator: str, value: Any) -> str:
        match operator:
            case "LITERAL":
                return self._literal(value)
            case "NOT_LITERAL":
                return "." if self._folded else f"[^{_char(value)}]"
            case "ANY":
                return "."
            case "IN":
                return self._class([(str(kind), what) for kind, what in value])
            case "BRANCH":
                return "(?:" + "|".join(self.sequence(each) for each in value[1]) + ")"
            case "SUBPATTERN":
                _, added, removed, inner = value
                return self._group(inner, added, removed)
            case "ATOMIC_GROUP":
                return f"(?:{self.sequence(value)})"
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                least, most, inner = value
                return f"(?:{self.sequence(inner)})" + _repeat(int(least), int(most))
            case "AT" | "ASSERT" | "ASSERT_NOT":
                return ""  # a condition less
            case "GROUPREF" | "GROUPREF_IGNORE":
                return ".*"
            case "GROUPREF_EXISTS":
                _, yes, no = value
                return f"(?:{self.sequence(yes)}|{self.sequence(no) if no else ''})"
            case "FAILURE":
                return ".*"
            case _:
                raise LookupError(operator)

    def _group(self, inner: Any, added: int, removed: int) -> str:
        before = self._folded
        self._folded = (before or bool(added & re.IGNORECASE)) and not removed & re.IGNORECASE
        written = self.sequence(inner)
        self._folded = before
        return f"(?:{written})"

    def _literal(self, code: int) -> str:
        if not self._folded:
            return _char(code)
        if code >= 128:
            return "."
        return f"[{''.join(map(_char, sorted(_same_letter(code))))}]"

    def _class(self, items: Sequence[tuple[str, Any]]) -> str:
        if items[0][0] == "NEGATE":
            if self._folded:
                return "."
            # What cannot be said exactly is left out of what a character must not be.
            exact = "".join(_item_of_class(kind, what) for kind, what in items[1:] if kind in ("LITERAL", "RANGE"))
            return f"[^{exact}]" if exact else "."
        written = "".join(_item_of_class(kind, what) for kind, what in items)
        return rf"(?i:[{written}\x{{80}}-\x{{10ffff}}])" if self._folded else f"[{written}]"


def _item_of_class(kind: str, what: Any) -> str:
    match kind:
        case "LITERAL":
            return _char(what)
        case "RANGE":
            return f"{_char(what[0])}-{_char(what[1])}"
        case "CATEGORY":
            return _CATEGORIES[str(what)]
        case _:
            raise LookupError(kind)


def _char(code: int) -> str:
    if 0xD800 <= code <= 0xDFFF:
        raise ValueError("half of a surrogate pair")
    return rf"\x{{{code:x}}}"


def _same_letter(code: int) -> set[int]:
    """Every character that Python takes for this ASCII one where letter case is ignored."""
    char = chr(code)
    matches: Callable[[str], Any] = re.compile(re.escape(char), re.IGNORECASE).fullmatch
    others = ("\u0130", "\u0131", "\u017f", "\u212a")  # İ, ı, ſ, the Kelvin sign
    return {ord(each) for each in {char, char.lower(), char.upper(), *others} if matches(each)}


def _repeat(least: int, most: int) -> str:
    least = min(least, _REPEAT_MAX)
    return f"{{{least},}}" if most > _REPEAT_MAX else f"{{{least},{most}}}"
