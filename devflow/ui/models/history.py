"""What can be taken back, and what can be done again: operation ids, fifty deep (spec 05, Inbox)."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace

DEPTH = 50


@dataclass(frozen=True, slots=True)
class Step:
    """One operation of the service; `words` say what it did, `ids` are its entries."""

    operation: str
    words: str
    ids: tuple[str, ...]


class History:
    """Two stacks. The service undoes; this only remembers what to name."""

    def __init__(self, depth: int = DEPTH) -> None:
        self._done: deque[Step] = deque(maxlen=depth)
        self._undone: deque[Step] = deque(maxlen=depth)

    @property
    def last(self) -> Step | None:
        """What Undo would take back."""
        return self._done[-1] if self._done else None

    @property
    def next(self) -> Step | None:
        """What Redo would do again."""
        return self._undone[-1] if self._undone else None

    def did(self, step: Step) -> None:
        """A new act: what was undone before it cannot be done again."""
        self._done.append(step)
        self._undone.clear()

    def undid(self, operation: str) -> None:
        """The last step was taken back by `operation`, which Redo will name."""
        self._undone.append(replace(self._done.pop(), operation=operation))

    def redid(self, operation: str) -> None:
        """The step was done again by `operation`, which Undo will name."""
        self._done.append(replace(self._undone.pop(), operation=operation))

    def drop_last(self) -> None:
        """The last step cannot be taken back any more: its entry has changed since."""
        self._done.pop()

    def drop_next(self) -> None:
        self._undone.pop()
