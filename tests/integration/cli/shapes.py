"""Shapes of JSON values: a few words for each, in a file that people read, and values held against them.

A shape is a word, or words with ` | ` between them: `text`, `id` (a UUID), `instant`, `number`, `truth`, `null`, or the
name of another shape; `[shape]` is an array of it; an object names its keys: `key?` may be missing, `*` stands for any
key, and `...` takes over another shape's keys. `{}` is an object whose keys are told nowhere.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

Shape = str | list[Any] | dict[str, Any]

INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")


@dataclass
class Shapes:
    """`met` collects every alternative that a value had: its key, the words of the shape, and the one that fitted."""

    named: Mapping[str, Shape]
    met: set[tuple[str, str, str]] = field(default_factory=set)

    def differences(self, value: Any, shape: Shape, path: str = "") -> Iterator[str]:
        """What in the value is not as its shape says; nothing where it is."""
        match shape:
            case str():
                yield from self._of_words(value, shape, path)
            case [each]:
                if not isinstance(value, list):
                    yield f"{path or 'it'} is no array: {value!r}"
                    return
                for one in value:
                    yield from self.differences(one, each, f"{path}[]")
            case dict():
                if not isinstance(value, dict):
                    yield f"{path or 'it'} is no object: {value!r}"
                    return
                yield from self._of_keys(value, self.keys(shape), path)

    def keys(self, shape: dict[str, Any]) -> dict[str, Any]:
        """The shape's own keys, and those that it takes over."""
        taken = self.named[shape["..."]] if "..." in shape else {}
        assert isinstance(taken, dict)
        return {**taken, **{key: each for key, each in shape.items() if key != "..."}}

    def unmet(self) -> set[tuple[str, str, str]]:
        """Alternatives that no value had: nothing shows that they can be."""
        told = {(key, words) for shape in self.named.values() for key, words in _words(shape)}
        return {(key, words, word) for key, words in told for word in words.split(" | ")} - self.met

    def _of_words(self, value: Any, words: str, path: str) -> Iterator[str]:
        alternatives = words.split(" | ")
        tried = {word: list(self._of_word(value, word, path)) for word in alternatives}
        fitting = [word for word, differing in tried.items() if not differing]
        if fitting:
            self.met.add((path.rpartition(".")[2], words, fitting[0]))
        elif isinstance(value, dict):
            yield from next((found for word, found in tried.items() if word in self.named), [f"{path}: {value!r}"])
        else:
            yield f"{path or 'it'} is not {words}: {value!r}"

    def _of_word(self, value: Any, word: str, path: str) -> Iterator[str]:
        if word.startswith("["):
            yield from self.differences(value, [word.strip("[]")], path)
        elif word in self.named:
            yield from self.differences(value, self.named[word], path)
        elif not _is(value, word):
            yield f"{path or 'it'} is not {word}: {value!r}"

    def _of_keys(self, value: dict[str, Any], shapes: dict[str, Any], path: str) -> Iterator[str]:
        if not shapes:
            return
        known = {key.removesuffix("?"): shape for key, shape in shapes.items()}
        for key in value.keys() - known.keys() if "*" not in known else ():
            yield f"{path}.{key} is told nowhere"
        for key in shapes.keys() - value.keys() - {"*"}:
            if not key.endswith("?"):
                yield f"{path}.{key} is missing"
        for key, one in value.items():
            if (shape := known.get(key, known.get("*"))) is not None:
                yield from self.differences(one, shape, f"{path}.{key if key in known else '*'}")


def _words(shape: Shape, key: str = "") -> Iterator[tuple[str, str]]:
    """Every key with several alternatives, and their words."""
    match shape:
        case str() if " | " in shape:
            yield key, shape
        case [each]:
            yield from _words(each, f"{key}[]")
        case dict():
            for name, each in shape.items():
                yield from _words(each, name.removesuffix("?"))


def _is(value: Any, word: str) -> bool:
    match word:
        case "text":
            return isinstance(value, str)
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "truth":
            return isinstance(value, bool)
        case "null":
            return value is None
        case "instant":
            return isinstance(value, str) and INSTANT.fullmatch(value) is not None
        case "id":
            return isinstance(value, str) and _is_uuid(value)
        case "anything":
            return True
        case _:
            raise ValueError(f"no shape is named {word}")


def _is_uuid(value: str) -> bool:
    try:
        return str(uuid.UUID(value)) == value
    except ValueError:
        return False
