"""The servers that DevFlow knows by name, and the table of context windows; both are files in `resources/providers`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from devflow.providers.chat_body import Dialect, Structured

CUSTOM = "custom"
_STRUCTURED = {
    "json_schema": Structured.JSON_SCHEMA,
    "json_object": Structured.JSON_OBJECT,
    "prompt_only": Structured.PROMPT_ONLY,
}


@dataclass(frozen=True, slots=True)
class Preset:
    """A known server. `key` says whether one is needed; `key_page` is where the user gets it, empty if nowhere.

    `name` is empty for the custom one: the window and the command line name it in the user's language.
    """

    id: str
    name: str
    base_url: str
    key: Literal["required", "optional", "none"]
    key_page: str
    dialect: Dialect
    adapter: str = "openai_compat"

    @property
    def is_local(self) -> bool:
        """Whether it usually runs on this machine."""
        return self.base_url.startswith("http://127.0.0.1:")


@cache
def presets(resources: Path) -> tuple[Preset, ...]:
    """Every preset, in the order of the menu; the custom one is the last."""
    rows = json.loads((resources / "providers" / "presets.json").read_text(encoding="utf-8"))
    return tuple(Preset(**{**row, "dialect": _dialect(row["dialect"])}) for row in rows)


def preset(resources: Path, id: str) -> Preset:
    """The preset of that id; an unknown one (of a newer version) counts as custom."""
    known = {one.id: one for one in presets(resources)}
    return known.get(id, known[CUSTOM])


@cache
def context_windows(resources: Path) -> MappingProxyType[str, int]:
    """Model name, or the beginning of one, to tokens: for servers that do not say."""
    rows = json.loads((resources / "providers" / "context_windows.json").read_text(encoding="utf-8"))
    return MappingProxyType({str(name): int(tokens) for name, tokens in rows.items()})


def _dialect(row: dict[str, Any]) -> Dialect:
    values = dict(row)
    if "structured" in values:
        values["structured"] = _STRUCTURED[values["structured"]]
    return Dialect(**values)
