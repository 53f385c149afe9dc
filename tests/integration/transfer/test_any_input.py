"""Whatever is in a file, reading it ends and says what is wrong: it raises nothing, and makes only what may be."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from devflow.domain.knowledge import CONTENT_MAX, TITLE_MAX
from devflow.transfer import as_files, export, reading
from devflow.transfer.pieces import Read
from tests.integration.transfer.test_sources import (
    CLAUDE_MD,
    CURSOR_RULE,
    GRAPH,
    MEMORY_NOTE,
    VAULT_NOTE,
    chatgpt,
    claude,
)

NAMES = ("a.md", "CLAUDE.md", "a.mdc", "memory.jsonl", "conversations.json", ".windsurfrules", "a.zip", "a.txt")
PARTS = st.lists(
    st.sampled_from(
        [
            "---\n",
            "- ",
            "# ",
            "## ",
            "```\n",
            "[[",
            "]]",
            "|",
            "#tag",
            "\n",
            "\r",
            "\x85",
            "&a",
            "*a",
            ": ",
            "{",
            "[",
            "锁",
            "\ufeff",
        ]
    )
    | st.text(max_size=6),
    max_size=40,
).map("".join)
JSON: Any = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
BOUNDED = settings(max_examples=120, deadline=None)


def read(folder: Path, name: str, data: bytes) -> Read:
    file = folder / name
    file.write_bytes(data)
    found = reading.read([file])
    for piece in found.pieces:
        assert 0 < len(piece.draft.title) <= TITLE_MAX
        assert 0 < len(piece.draft.content) <= CONTENT_MAX
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("any")


@BOUNDED
@given(name=st.sampled_from(NAMES), text=PARTS)
def test_any_text(folder: Path, name: str, text: str) -> None:
    read(folder, name, text.encode("utf-8", "replace"))


@BOUNDED
@given(name=st.sampled_from(NAMES), data=st.binary(max_size=200))
def test_any_bytes(folder: Path, name: str, data: bytes) -> None:
    read(folder, name, data)


@BOUNDED
@given(kind=st.sampled_from(["chatgpt", "claude", "library", "graph"]), field=st.integers(0, 20), value=JSON)
def test_any_value_in_any_place(folder: Path, kind: str, field: int, value: Any) -> None:
    """One value of a good file is replaced by another one."""
    whole: Any = {
        "chatgpt": [chatgpt()],
        "claude": [claude()],
        "graph": {"entities": [{"name": "a", "entityType": "b", "observations": ["c"]}], "relations": []},
        "library": {
            "devflow_library": as_files.FORMAT,
            "entry_count": 1,
            "links": [
                {"entry": "1", "other": "2", "relation": "similar", "score": 1, "created_at": "2026-01-01T00:00:00Z"}
            ],
            "not_contradicting": [],
            "entries": [
                {
                    "id": "1",
                    "kind": "pitfall",
                    "title": "t",
                    "content": "c",
                    "tags": [],
                    "status": "published",
                    "confidence": 1.0,
                    "reuse_count": 0,
                    "project": None,
                    "source_ref": "manual",
                    "created_at": "2026-01-01T00:00:00Z",
                    "updated_at": "2026-01-01T00:00:00Z",
                    "published_at": None,
                    "archived_at": None,
                    "version": 1,
                    "evidence": None,
                    "timeline": [],
                }
            ],
        },
    }[kind]
    places = list(_places(whole))
    holder, key = places[field % len(places)]
    holder[key] = value
    read(folder, "conversations.json", json.dumps(whole).encode())


@BOUNDED
@given(st.sampled_from([CLAUDE_MD, CURSOR_RULE, GRAPH, MEMORY_NOTE, VAULT_NOTE]), st.data())
def test_any_file_that_is_cut(folder: Path, whole: str, data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(whole.encode())))
    for name in ("a.md", "AGENTS.md", "a.mdc", "memory.jsonl"):
        read(folder, name, whole.encode()[:cut])


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_byte_of_an_archive_that_is_changed(folder: Path, data: st.DataObject) -> None:
    good = folder / "good.zip"
    if not good.exists():
        with zipfile.ZipFile(good, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("a.md", "Read me. " * 50)
            archive.writestr("conversations.json", json.dumps([claude()]))
        assert not export._is_ours(good)
    raw = bytearray(good.read_bytes())
    raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    read(folder, "bad.zip", bytes(raw))


def _places(value: Any) -> Any:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in list(items):
        yield value, key
        yield from _places(inner)
