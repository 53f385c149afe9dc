"""The small acts of a message (copy, save as candidate, …) and the switch between its alternatives ‹2/3›."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QHBoxLayout, QMenu, QSizePolicy, QWidget

from devflow.domain.conversation import Siblings
from devflow.ui.context import UiContext
from devflow.ui.widgets import IconButton, Label


@dataclass(frozen=True, slots=True)
class Act:
    """One act: the objectName of its button, its icon, its name, and what it does."""

    name: str
    icon: str
    words: str
    do: Callable[[], None]


class ActBar(QWidget):
    """A row of small icon buttons. Shown by its owner on hover and while the keyboard is in it."""

    def __init__(self, ctx: UiContext, acts: Sequence[Act]) -> None:
        super().__init__()
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(2)
        self.buttons: dict[str, IconButton] = {}
        for act in acts:
            button = IconButton(ctx, act.icon, act.words, small=True)
            button.setObjectName(act.name)
            button.clicked.connect(act.do)
            row.addWidget(button)
            self.buttons[act.name] = button


class SiblingSwitch(QWidget):
    """‹2/3›: `chosen(message id)`. Hidden where there is only one."""

    chosen = Signal(str)

    def __init__(self, ctx: UiContext) -> None:
        super().__init__()
        self._ctx = ctx
        self._siblings: Siblings | None = None
        self.setObjectName("siblings")
        self.before = IconButton(ctx, "chevron-left", ctx.t("The alternative before"), small=True)
        self.before.setObjectName("previousSibling")
        self.after = IconButton(ctx, "chevron-right", ctx.t("The alternative after"), small=True)
        self.after.setObjectName("nextSibling")
        self.words = Label("", "small", "muted")
        self.before.clicked.connect(self._back)
        self.after.clicked.connect(self._forth)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self.before)
        row.addWidget(self.words)
        row.addWidget(self.after)
        self.hide()

    def show_siblings(self, siblings: Siblings | None) -> None:
        self._siblings = siblings
        if siblings is None or len(siblings.ids) < 2:
            self.hide()
            return
        self.words.setText(f"{siblings.index + 1}/{len(siblings.ids)}")
        spoken = self._ctx.t("Alternative {place} of {count}", place=siblings.index + 1, count=len(siblings.ids))
        self.setAccessibleName(spoken)
        self.before.setEnabled(siblings.index > 0)
        self.after.setEnabled(siblings.index + 1 < len(siblings.ids))
        self.show()

    def _back(self) -> None:
        self._step(-1)

    def _forth(self) -> None:
        self._step(1)

    def _step(self, by: int) -> None:
        if self._siblings is not None:
            self.chosen.emit(self._siblings.ids[self._siblings.index + by])


def act_menu(ctx: UiContext, parent: QWidget, acts: Sequence[Act]) -> QMenu:
    """The same acts as a context menu, to be opened by the caller; it deletes itself."""
    menu = QMenu(parent)
    for act in acts:
        action = QAction(act.words, menu)
        ctx.icons.put(action, act.icon)
        action.triggered.connect(act.do)
        menu.addAction(action)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    return menu
