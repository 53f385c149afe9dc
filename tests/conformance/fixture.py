"""A fixture: the bytes of one answer as a server sends them, below a head that says what they mean.

    about: Two calls whose pieces come in turn
    item: parallel calls
    expect: call a read_file {"path": "x"}
    expect: end tool_calls tool_calls
    ----
    data: {"choices": …

Lines of the head, in any order:

* `about` one sentence; `item` (several) the quirk of the specification's list that it shows (`items.py`).
* `expect` (several, in order), one of
  `text "…"`, `thought "…"` (JSON strings; neighbours count as one), `call ID TOOL ARGUMENTS` (ID `*`: one of ours,
  ARGUMENTS: text to the end of the line), `usage IN OUT` (`-`: not told), `replay JSON` (the blocks that
  go back verbatim),
  `end REASON DETAIL`, or `fail CODE WORDS` as the last one: the failure's code, and words that its sentence holds.
* `status` (200), `type` (the protocol's own) of the answer.
* `then`: what follows the bytes: `end` (the body ends well), `cut` (the connection breaks), `silence` (nothing, for
  ever), `keep-alives` (comments or blank lines, for ever).
* `tries` (1): how many requests arrive: 4 where the failure may pass by itself and nothing had arrived.
* `settings`: JSON, of the provider's settings.

The bytes begin after the line `----`. Where the adapter asks on by itself, another such line parts what the first
request gets from what the next one gets (the last answers all that follow).
`<<N TEXT>>` in them stands for TEXT N times over.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
PROTOCOLS = ("openai", "anthropic", "ollama")
TYPES = {"openai": "text/event-stream", "anthropic": "text/event-stream", "ollama": "application/x-ndjson"}
_ONCE = {"about", "status", "type", "then", "tries", "settings"}
_REPEATED = re.compile(rb"<<(\d+) ([^>]*)>>")


@dataclass(frozen=True)
class Fixture:
    protocol: str
    name: str
    about: str
    items: tuple[str, ...]
    expected: tuple[str, ...]
    bodies: tuple[bytes, ...]
    status: int = 200
    type: str = "text/event-stream"
    then: str = "end"
    tries: int = 1
    settings: Mapping[str, Any] | None = None

    @property
    def fails(self) -> bool:
        return self.expected[-1].startswith("fail ")

    def body(self, number: int) -> bytes:
        """What the request of that number (from 0) gets."""
        return self.bodies[min(number, len(self.bodies) - 1)]

    @property
    def size(self) -> int:
        return max(len(body) for body in self.bodies)

    @property
    def outcome(self) -> str:
        """What it comes to, in a few words for the table."""
        kinds = [line.partition(" ")[0] for line in self.expected[:-1]]
        counted = [f"{kinds.count(kind)} {kind}s" if kinds.count(kind) > 1 else kind for kind in dict.fromkeys(kinds)]
        last = " ".join(self.expected[-1].split(" ")[:2])
        return ", ".join([*counted, last])

    def __str__(self) -> str:
        return f"{self.protocol}/{self.name}"


def fixtures(*protocols: str) -> tuple[Fixture, ...]:
    """Every fixture of these protocols (of all of them by default), by name."""
    return tuple(
        read(protocol, file)
        for protocol in protocols or PROTOCOLS
        for file in sorted((FOLDER / protocol).glob("*.txt"))
    )


def read(protocol: str, file: Path) -> Fixture:
    head, line, body = file.read_bytes().partition(b"\n----\n")
    assert line, f"{file.name} has no line ----"
    once: dict[str, Any] = {}
    items, expected = [], []
    for text in head.decode().splitlines():
        name, _, value = text.partition(": ")
        if name == "item":
            items.append(value)
        elif name == "expect":
            expected.append(value)
        else:
            assert name in _ONCE, f"{file.name}: what is {name!r}?"
            assert name not in once, f"{file.name}: {name} twice"
            once[name] = value
    for name, made in (("status", int), ("tries", int), ("settings", json.loads)):
        if name in once:
            once[name] = made(once[name])
    whole = _REPEATED.sub(lambda found: found[2] * int(found[1]), body)
    return Fixture(
        protocol,
        file.stem,
        items=tuple(items),
        expected=tuple(expected),
        bodies=tuple(whole.split(b"\n----\n")),
        **{"type": TYPES[protocol], **once},
    )
