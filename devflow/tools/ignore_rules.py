"""`.gitignore` as git reads it, and globs in the same notation.

Patterns come from untrusted projects and from models, so matching must never take for ever: a path is matched name by
name, and within a name each `*` takes the first place that fits and never goes back (decision 21).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from devflow.tools.paths import Parts

RULES_MAX = 5_000  # of one file
PATTERN_MAX = 1_000  # characters; longer ones are left out
_BRACES_MAX = 64

_CLASSES = {
    "alnum": "a-zA-Z0-9",
    "alpha": "a-zA-Z",
    "blank": " \\t",
    "digit": "0-9",
    "lower": "a-z",
    "punct": re.escape("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"),
    "space": "\\s",
    "upper": "A-Z",
    "xdigit": "a-fA-F0-9",
}

Name = str | re.Pattern[str] | None
"""What one name of a path is matched with: itself, a pattern, or None for `**`: any number of names."""


@dataclass(frozen=True, slots=True)
class IgnoreRule:
    """One line. A rule of a single name is about that name at any depth, others about the path from their folder."""

    names: tuple[Name, ...]
    anchored: bool
    folders_only: bool
    negated: bool

    def matches(self, parts: Parts, *, folder: bool) -> bool:
        """`parts` is the path from the rule's folder."""
        if self.folders_only and not folder:
            return False
        if not self.anchored:
            return _is(self.names[0], parts[-1])
        return _all_match(self.names, parts)


def ignore_rules(text: str) -> tuple[IgnoreRule, ...]:
    """The rules of a `.gitignore`, in order."""
    lines = text.removeprefix("\ufeff").split("\n")[:RULES_MAX]
    return tuple(rule for line in lines if (rule := ignore_rule(line)) is not None)


def ignore_rule(line: str) -> IgnoreRule | None:
    """The rule of a line; None for blank lines, comments, and patterns that match nothing."""
    text = _without_trailing_spaces(line.removesuffix("\r"))
    if not text or text.startswith("#") or len(text) > PATTERN_MAX:
        return None
    negated = text.startswith("!")
    text = text.removeprefix("!") if negated else text
    folders_only = text.endswith("/")
    text = text.removesuffix("/")
    anchored = "/" in text
    names = [part for part in text.split("/") if part] if anchored else [text]
    compiled: list[Name] = []
    for name in names:
        if name == "**" and anchored:
            if compiled[-1:] != [None]:
                compiled.append(None)
            continue
        one = _compiled(name)
        if one is None:
            return None
        compiled.append(one)
    return IgnoreRule(tuple(compiled), anchored, folders_only, negated) if compiled else None


def verdict(rules: Sequence[IgnoreRule], parts: Parts, *, folder: bool) -> bool | None:
    """Whether the last rule that matches ignores the path; None where no rule is about it."""
    for rule in reversed(rules):
        if rule.matches(parts, folder=folder):
            return not rule.negated
    return None


def glob_rules(glob: str) -> tuple[IgnoreRule, ...]:
    """A glob as rules, any of which may match: `*.py` at any depth, `src/**/*.ts`, `*.{ts,tsx}`, `docs/`."""
    globs = (f"{each}**" if each.endswith("/") else each for each in _expanded(glob))
    return tuple(rule for each in globs if (rule := ignore_rule(each)) is not None)


def _expanded(glob: str) -> list[str]:
    """`a.{b,c}` is `a.b` and `a.c`."""
    done: list[str] = []
    todo = [glob]
    while todo and len(done) + len(todo) <= _BRACES_MAX:
        each = todo.pop()
        braces = re.search(r"\{([^{}]*,[^{}]*)\}", each)
        if braces is None:
            done.append(each)
        else:
            todo += [each[: braces.start()] + one + each[braces.end() :] for one in braces[1].split(",")]
    return done + todo


def _without_trailing_spaces(line: str) -> str:
    text = line.rstrip(" ")
    escaped = len(text) < len(line) and (len(text) - len(text.rstrip("\\"))) % 2
    return text + " " if escaped else text


def _all_match(names: tuple[Name, ...], parts: Parts) -> bool:
    """Whether the names match the whole path, keeping the set of places that each name could end at."""
    reached = {0}
    for at, name in enumerate(names):
        if name is None:
            inside = 1 if at == len(names) - 1 else 0  # `x/**` is what lies in x, not x
            reached = set(range(min(reached) + inside, len(parts) + 1))
        else:
            reached = {end + 1 for end in reached if end < len(parts) and _is(name, parts[end])}
        if not reached:
            return False
    return len(parts) in reached


def _is(name: Name, part: str) -> bool:
    return part == name if isinstance(name, str) else name is not None and name.fullmatch(part) is not None


def _compiled(name: str) -> str | re.Pattern[str] | None:
    """One name of a pattern; None for one that matches nothing (an open bracket, a backslash at its end)."""
    pieces: list[str] = [""]  # between them stand the `*`
    plain: list[str] | None = []
    at = 0
    while at < len(name):
        char = name[at]
        at += 1
        if char == "*":
            plain = None
            if pieces[-1] or len(pieces) == 1:
                pieces.append("")
            continue
        if char == "?":
            plain = None
            pieces[-1] += "."
            continue
        if char == "[":
            plain = None
            found = _bracket(name, at)
            if found is None:
                return None
            piece, at = found
            pieces[-1] += piece
            continue
        if char == "\\":
            if at == len(name):
                return None
            char = name[at]
            at += 1
        pieces[-1] += re.escape(char)
        if plain is not None:
            plain.append(char)
    if plain is not None:
        return "".join(plain)
    return _pattern(pieces)


def _pattern(pieces: list[str]) -> re.Pattern[str] | None:
    """Each `*` but the last takes what leads to the first place of its piece, for good: no other would do better."""
    first, *others = pieces
    kept = [f"(?>.*?{piece})" for piece in others[:-1]] + [f".*{piece}" for piece in others[-1:]]
    try:
        return re.compile(first + "".join(kept), re.DOTALL)
    except re.error:
        return None


def _bracket(name: str, at: int) -> tuple[str, int] | None:
    """A `[…]` from after its bracket as a class, and where it ends; None where it does not."""
    negated = name[at : at + 1] in ("!", "^")
    at += negated
    items: list[str] = []
    begin = at
    while at < len(name):
        char = name[at]
        if char == "]" and at > begin:
            inside = "".join(items)
            return (f"[^{inside}]" if negated else f"[{inside}]"), at + 1
        if name.startswith("[:", at) and (end := name.find(":]", at)) > 0 and name[at + 2 : end] in _CLASSES:
            items.append(_CLASSES[name[at + 2 : end]])
            at = end + 2
            continue
        if char == "\\" and at + 1 < len(name):
            at += 1
            char = name[at]
        is_range = char == "-" and begin < at < len(name) - 1 and name[at + 1] != "]"
        items.append("-" if is_range else re.escape(char))
        at += 1
    return None
