"""The patterns of rules: what they match, which ones an "always allow" may choose from, and which mean too much.

For a file: its path; `*` stands for anything within one folder's name or file's name, `**` for any folders. For a
command: its words, exactly these, or with ` *` at the end these and whatever follows. For anything else: itself.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from fnmatch import fnmatchcase

from devflow.domain.errors import InvalidInput
from devflow.domain.messages import N_
from devflow.domain.text.folding import fold
from devflow.domain.text.hidden import hidden_characters

ANYTHING = "*"
"""Everything a tool could do; only a rule that denies or asks may say so."""

PATTERN_MAX = 2_000  # characters

_MORE = " *"
_PLAIN_WORD = re.compile(r"[A-Za-z][A-Za-z0-9:_-]*")
_WHOLE_LINE_ONLY = frozenset(
    "chgrp chmod chown cp curl dd docker find install kill killall ln mkfs mv nc pkill podman rm rmdir rsync scp sftp"
    " shred ssh tee truncate unlink wget".split()
)
"""Programs whose further words decide what is lost or who is told: a rule names the whole line."""


def matches(pattern: str, target: str, words: Sequence[str], *, is_path: bool) -> bool:
    """Whether the pattern of a rule that allows is about exactly this."""
    if words:
        return _words_match(pattern, words)
    return _path_matches(pattern, target) if is_path else pattern == target


def matches_folded(pattern: str, target: str, words: Sequence[str], *, is_path: bool, runs: bool) -> bool:
    """The same for a rule that forbids: whatever case and composition a name is spelled in, shell lines too.

    A pattern that names a folder covers what is below it.
    """
    if words or runs:
        return _words_match(fold(pattern), [fold(word) for word in words or _split(target) or target.split()])
    if not is_path:
        return fold(pattern) == fold(target)
    steps = fold(target).split("/")
    return any(_segments_match(fold(pattern).strip("/").split("/"), steps[:deep]) for deep in range(1, len(steps) + 1))


def choices(target: str, words: Sequence[str], *, is_path: bool) -> tuple[str, ...]:
    """The patterns that an "always allow" may choose from, the narrowest first; none where none is narrow enough.

    A pattern is shown in full: one with characters that cannot be seen is none.
    """
    if words:
        found = [shlex.join(words), *_prefixes(words)]
    elif is_path:
        folder = target.rpartition("/")[0]
        found = [_literal(target), *([f"{_literal(folder)}/*"] if folder.strip("./") else [])]
    else:
        found = [target]
    if not _can_be_shown(found[0]):
        return ()
    return tuple(pattern for pattern in found if not _too_wide(pattern))


def check_pattern(pattern: str, *, allows: bool = True) -> str:
    """Raise `InvalidInput` for a pattern that says nothing, or where it `allows`, everything."""
    if len(pattern) > PATTERN_MAX:
        raise InvalidInput(
            "pattern",
            N_("The pattern is longer than {limit} characters."),
            N_("Name a folder, or the first words of the command."),
            limit=PATTERN_MAX,
        )
    if not pattern.strip():
        raise InvalidInput("pattern", N_("The pattern is empty."), N_("Name a file, a folder or a command."))
    if allows and _too_wide(pattern):
        raise InvalidInput(
            "pattern",
            N_("The pattern {pattern} would allow everything."),
            N_("Name a file, a folder or a command."),
            pattern=repr(pattern),
        )
    return pattern


def _can_be_shown(pattern: str) -> bool:
    return len(pattern) <= PATTERN_MAX and pattern.isprintable() and not hidden_characters(pattern)


def _too_wide(pattern: str) -> bool:
    return not re.sub(r"\[[^]]*\]", "", pattern).strip("*?/. \t\n") and pattern == _unescaped(pattern)


def _unescaped(pattern: str) -> str:
    return re.sub(r"\[([*?[])\]", r"\1", pattern)


def _words_match(pattern: str, words: Sequence[str]) -> bool:
    more = pattern.endswith(_MORE)
    wanted = _split(pattern.removesuffix(_MORE))
    if not wanted:
        return False
    return list(words[: len(wanted)]) == wanted and (more or len(words) == len(wanted))


def _split(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:
        return []


def _prefixes(words: Sequence[str]) -> list[str]:
    """Program and subcommand (`git status *`); the program alone only where the line is no more than that."""
    if words[0].rpartition("/")[2] in _WHOLE_LINE_ONLY:
        return []
    if len(words) == 1:
        return [shlex.join(words) + _MORE]
    plain = 1
    while plain < min(len(words), 3) and _PLAIN_WORD.fullmatch(words[plain]):
        plain += 1
    return [shlex.join(words[:count]) + _MORE for count in range(plain, 1, -1)]


def _path_matches(pattern: str, path: str) -> bool:
    return _segments_match(pattern.split("/"), path.split("/"))


def _segments_match(pattern: Sequence[str], path: Sequence[str]) -> bool:
    if not pattern or not path:
        return not pattern and not path
    if pattern[0] == "**":
        return any(_segments_match(pattern[1:] or ["*"], path[skipped:]) for skipped in range(len(path)))
    return fnmatchcase(path[0], pattern[0]) and _segments_match(pattern[1:], path[1:])


def _literal(target: str) -> str:
    return "".join(f"[{char}]" if char in "*?[" else char for char in target)
