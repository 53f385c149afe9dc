"""A program of its own: find the lines of texts that a regular expression matches. `line_matching` starts it.

Python's expressions can take for ever and hold up the whole process meanwhile, so they run where they can be ended.
Nothing of DevFlow is imported here: it starts with `-I -S`.

Frames are a length (8 bytes, big-endian) and so many bytes. First comes JSON with `pattern`, `ignore_case` and `most`
(lines of one text); the answer is `{}` or `{"error": …}`. Then each text in UTF-8 is answered by
`{"lines": [[number, start, end], …], "more": bool}`, with the first match of each line.
"""

from __future__ import annotations

import json
import re
import struct
import sys
from typing import IO, Any, BinaryIO

MEMORY = 2 * 1024**3  # bytes
CPU = 60  # seconds: the end of a program that nobody waits for any more


def main() -> None:
    _limit()
    source, target = sys.stdin.buffer, sys.stdout.buffer
    head = receive(source)
    if head is None:
        return
    asked = json.loads(head)
    try:
        pattern = re.compile(asked["pattern"], re.IGNORECASE if asked["ignore_case"] else 0)
    except (re.error, OverflowError, RecursionError, MemoryError) as error:
        send(target, {"error": str(error) or type(error).__name__})
        return
    send(target, {})
    while (text := receive(source)) is not None:
        send(target, found(pattern, text.decode("utf-8", "surrogatepass"), asked["most"]))


def found(pattern: re.Pattern[str], text: str, most: int) -> dict[str, Any]:
    lines: list[tuple[int, int, int]] = []
    texts = text.split("\n")
    if not texts[-1]:
        texts.pop()  # after the last line's end there is no line
    for number, line in enumerate(texts, 1):
        match = pattern.search(line.removesuffix("\r"))
        if match is None:
            continue
        if len(lines) == most:
            return {"lines": lines, "more": True}
        lines.append((number, match.start(), match.end()))
    return {"lines": lines, "more": False}


def receive(source: IO[bytes]) -> bytes | None:
    """The next frame; None at the end."""
    length = source.read(8)
    if len(length) < 8:
        return None
    (size,) = struct.unpack(">Q", length)
    data = source.read(size)
    return data if len(data) == size else None


def send(target: BinaryIO, value: object) -> None:
    data = json.dumps(value).encode()
    target.write(struct.pack(">Q", len(data)) + data)
    target.flush()


def _limit() -> None:
    try:
        import resource
    except ImportError:  # Windows
        return
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU, CPU))


if __name__ == "__main__":
    main()
