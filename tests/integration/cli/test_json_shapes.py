"""What every command prints with `--json`: the shapes of `json_shapes.json`, which `docs/json.md` describes key by key.

A wanted change is made by hand in both.
"""

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from devflow.cli.ask import EVENTS
from devflow.domain.conversation import Origin
from devflow.domain.digest import BatchState, FileState
from devflow.domain.health import Health
from devflow.domain.knowledge import EmbeddingStatus, EventKind, Kind, Status
from devflow.domain.provider import LineState, Probe
from devflow.domain.receipt import Phase as ReceiptPhase
from devflow.domain.run import OPEN_STATES, CallState, RunState
from devflow.knowledge.embedding_state import Phase
from devflow.retrieval.pages import HitReason
from tests.integration.cli.conftest import Home, acts
from tests.integration.cli.every_command import every_command
from tests.integration.cli.shapes import Shape, Shapes
from tests.support.commands import ROOT

GOLDEN = json.loads(Path(__file__).with_name("json_shapes.json").read_text(encoding="utf-8"))
PAGE = (ROOT / "docs" / "json.md").read_text(encoding="utf-8")


NOT_MET = {
    ("base", "null | Sample base", "null"),  # a home without room for the sample wiki
    ("conversation_id", "null | id", "null"),  # without a conversation `extract` fails
    ("dimension", "null | number", "number"),  # vectors are shown in tests/integration/embedding
    ("similarity", "null | number", "number"),
}
"""Alternatives that the walk through every command does not come to. Whatever else is new must be shown."""


def test_every_command_prints_what_its_shape_says(run: Home, tmp_path: Path) -> None:
    shapes = Shapes(GOLDEN["shapes"])
    printed = every_command(run, tmp_path)
    wrong = [
        f"{command}: {difference}"
        for command, values in printed.items()
        for value in values
        for difference in shapes.differences(value, GOLDEN["commands"].get(command, {"told nowhere": "text"}))
    ]
    assert wrong == []
    assert shapes.unmet() == NOT_MET
    assert printed.keys() == GOLDEN["commands"].keys()


def test_an_error_is_one_object_too(run: Home) -> None:
    shapes = Shapes(GOLDEN["shapes"])
    for words, code in ((("knowledge", "get", "nobody"), 1), (("knowledge", "list", "--limit", "x"), 2), (("no",), 2)):
        failed = run(*words, "--json")
        assert (failed.code, failed.out) == (code, "")
        assert list(shapes.differences(json.loads(failed.err), "Error")) == []


@pytest.mark.parametrize(
    "value,said",
    [
        ({"id": 7, "name": "n", "path": "p"}, ".id is not id: 7"),
        ({"id": "7", "name": "n", "path": "p"}, ".id is not id: '7'"),
        ({"name": "n", "path": "p"}, ".id is missing"),
        ({"id": "0990eed3-ee55-4d12-a424-8976378026f4", "name": "n", "path": "p", "more": 1}, ".more is told nowhere"),
        ([], "it is no object: []"),
    ],
)
def test_the_check_would_find_a_value_of_another_shape(value: Any, said: str) -> None:
    assert list(Shapes(GOLDEN["shapes"]).differences(value, GOLDEN["shapes"]["Project"])) == [said]


def test_every_act_that_there_is_prints_json() -> None:
    """All but the server itself, whose standard output is the protocol, and the shells' own text."""
    named = {" ".join(command.split()[:2]) for command in GOLDEN["commands"]} - {"mcp --print-config"}
    assert acts().keys() - {"mcp", "completion"} == named


def test_the_page_describes_every_command_and_every_key() -> None:
    told = {name: _told(shape) for name, shape in GOLDEN["commands"].items()}
    rows = _rows(PAGE.partition("\n## Commands\n")[2].partition("\n## ")[0])
    assert {name.strip("`"): words for name, words in rows.items()} == told
    for name, shape in GOLDEN["shapes"].items():
        assert f"\n### {name}\n" in PAGE, name
        section = PAGE.partition(f"\n### {name}\n")[2].partition("\n#")[0]
        assert {key.strip("`"): words for key, words in _rows(section).items()} == dict(_keys(shape)), name


@pytest.mark.parametrize(
    "shape,key,values",
    [
        ("Entry", "kind", Kind),
        ("Entry", "status", Status),
        ("Entry", "embedding.status", EmbeddingStatus),
        ("Event", "event", EventKind),
        ("Vectors", "phase", Phase),
        ("Page hit", "hit_reason", HitReason),
        ("Digest", "state", BatchState),
        ("Digest file", "state", FileState),
        ("Answer", "receipt.phase", ReceiptPhase),
        ("Answer", "calls[].state", CallState),
        ("Answer", "state", set(RunState) - OPEN_STATES),
        ("Turn event", "event", set(EVENTS.values())),
        ("Health", "checks[].state", Health),
        ("Test", "lines[].state", LineState),
        ("Test", "lines[].what", Probe),
        ("Conversation", "origin", Origin),
    ],
)
def test_the_page_names_all_the_words_that_a_key_can_be(shape: str, key: str, values: Iterable[str]) -> None:
    section = PAGE.partition(f"\n### {shape}\n")[2].partition("\n#")[0]
    (said,) = [line for line in section.splitlines() if line.startswith(f"| `{key}` |")]
    assert set(re.findall(r"`(\w+)`", said.split(" | ", 2)[2])) == {str(value) for value in values}


def _rows(text: str) -> dict[str, str]:
    """The first two cells of each row of a table, links taken off."""
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| `")]
    return {cells[0]: re.sub(r"\[([^\]]+)\]\(#[^)]+\)", r"\1", cells[1]) for cells in rows}


def _keys(shape: Shape, path: str = "") -> Iterator[tuple[str, str]]:
    """Every key of a shape with its shape in words, those of objects within as `outer.inner`."""
    assert isinstance(shape, dict)
    for key, each in shape.items():
        optional, where = key.endswith("?"), f"{path}{key.removesuffix('?')}"
        match each:
            case dict() if each and "*" not in each:
                yield from _keys(each, f"{where}.")
            case [dict() as one]:
                yield from _keys(one, f"{where}[].")
            case _:
                yield where, f"{_told(each)}, or missing" if optional else _told(each)


def _told(shape: Shape) -> str:
    """As the page says it."""
    match shape:
        case str():
            return " or ".join(f"array of {w.strip('[]')}" if w.startswith("[") else w for w in shape.split(" | "))
        case [each]:
            return f"array of {_told(each)}"
        case {"*": each}:
            return f"object of {_told(each)}"
        case {}:
            return "object" if not shape else ", ".join(f"`{key}`: {words}" for key, words in _keys(shape))
        case _:
            raise AssertionError(shape)
