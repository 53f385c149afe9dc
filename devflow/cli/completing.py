"""What may stand next on a command line that is half typed: commands, options, and the values that are known."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from devflow.cli.parser import Parser, build

Files = Literal["", "files", "folders"]


@dataclass(frozen=True, slots=True)
class Choice:
    word: str
    about: str = ""


@dataclass(frozen=True, slots=True)
class Completion:
    """`files`: the shell offers names of files or folders, too."""

    choices: tuple[Choice, ...] = ()
    files: Files = ""


@dataclass(slots=True)
class _Typed:
    """A command line so far: which parser reads on, what it has had, and the option that waits for its value."""

    parser: Parser
    act: list[str] = field(default_factory=list)
    positionals: int = 0
    used: set[str] = field(default_factory=set)
    waiting: argparse.Action | None = None
    ended: bool = False
    home: str | None = None
    lost: bool = False


def complete(words: Sequence[str]) -> Completion:
    """What the last of the words, which may be empty, can become."""
    *before, last = words or [""]
    typed = _read(before, build(words))
    if last == "=" and typed.waiting is not None:  # bash takes `--kind=` for two words
        last = ""
    if typed.lost:
        return Completion()
    if typed.waiting is not None:
        return _fitting(_values(typed, typed.waiting, last), last)
    if last.startswith("-") and not typed.ended:
        return _fitting(Completion(tuple(_options(typed))), last)
    action = _positional(typed)
    return Completion() if action is None else _fitting(_values(typed, action, last), last)


def _read(words: Sequence[str], parser: Parser) -> _Typed:
    typed = _Typed(parser)
    for word in words:
        if typed.waiting is not None:
            if word == "=":
                continue
            if typed.waiting.dest == "home":
                typed.home = word
            typed.waiting = None
        elif word == "--" and not typed.ended:
            typed.ended = True
        elif word.startswith("-") and word != "-" and not typed.ended:
            _take_option(typed, word)
        else:
            _take_word(typed, word)
    return typed


def _take_option(typed: _Typed, word: str) -> None:
    name, sign, _ = word.partition("=")
    option = typed.parser._option_string_actions.get(name)
    if option is None:
        return
    typed.used.update(option.option_strings)
    if option.nargs != 0 and not sign:
        typed.waiting = option


def _take_word(typed: _Typed, word: str) -> None:
    action = _positional(typed)
    if action is not None and isinstance(action.choices, dict):
        below = action.choices.get(word)
        typed.lost = typed.lost or below is None
        typed.parser, typed.positionals = below or typed.parser, 0
        typed.act.append(word)
        typed.used.clear()
    else:
        typed.positionals += 1


def _positional(typed: _Typed) -> argparse.Action | None:
    """The argument that the next word without a dash is; None where none is left."""
    known = [action for action in typed.parser._actions if not action.option_strings]
    if typed.positionals < len(known):
        return known[typed.positionals]
    return known[-1] if known and known[-1].nargs in ("+", "*") else None


def _options(typed: _Typed) -> Iterator[Choice]:
    for action in typed.parser._actions:
        again = isinstance(action, argparse._AppendAction | argparse._CountAction)
        names = [name for name in action.option_strings if name.startswith("--")]
        if names and (again or not typed.used.intersection(names)):
            yield Choice(names[0], action.help or "")


def _values(typed: _Typed, action: argparse.Action, last: str) -> Completion:
    if isinstance(action, argparse._SubParsersAction):
        return Completion(tuple(Choice(each.dest, each.help or "") for each in action._get_subactions()))
    if action.choices is not None:
        return Completion(tuple(Choice(str(one)) for one in action.choices))
    if action.type is Path:
        return Completion(files="folders" if action.metavar == "DIR" else "files")
    from devflow.cli import known_values

    return known_values.of(typed.act, action, last, typed.home)


def _fitting(completion: Completion, last: str) -> Completion:
    fitting = tuple(choice for choice in completion.choices if choice.word.startswith(last))
    return Completion(fitting, completion.files)
