"""What was changed and is not saved yet, over what is stored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class Edits:
    """Named values; one that is set back to the stored value is no edit any more.

    `rebase` takes over what is stored now (another process may have saved): edits stay, everything else follows.
    """

    def __init__(self, stored: Mapping[str, Any]) -> None:
        self._stored = dict(stored)
        self._changed: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        return self._changed[name] if name in self._changed else self._stored[name]

    def stored(self, name: str) -> Any:
        return self._stored[name]

    def set(self, name: str, value: Any) -> None:
        if value == self._stored[name]:
            self._changed.pop(name, None)
        else:
            self._changed[name] = value

    def rebase(self, stored: Mapping[str, Any]) -> None:
        self._stored = dict(stored)
        self._changed = {name: value for name, value in self._changed.items() if value != self._stored.get(name)}

    @property
    def changed(self) -> Mapping[str, Any]:
        """Only what differs from what is stored."""
        return dict(self._changed)

    def __len__(self) -> int:
        return len(self._changed)

    def __bool__(self) -> bool:
        return bool(self._changed)
