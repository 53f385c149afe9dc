"""Which model servers failed the newest answer that was asked of them. Known while the window is open."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from devflow.ui.context import UiContext

_NAME = "troubled-providers"


class Troubled(QObject):
    """Provider ids, from a failure until the next success; `changed` when one comes or goes."""

    changed = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._ids: set[str] = set()
        self.setObjectName(_NAME)

    @classmethod
    def of(cls, ctx: UiContext) -> Troubled:
        """The window's own: it outlives a change of language, as the undo stacks do."""
        return ctx.events.findChild(cls, _NAME) or cls(ctx.events)

    def __contains__(self, id: object) -> bool:
        return id in self._ids

    def failed(self, id: str) -> None:
        if id not in self._ids:
            self._ids.add(id)
            self.changed.emit()

    def answered(self, id: str) -> None:
        if id in self._ids:
            self._ids.discard(id)
            self.changed.emit()
