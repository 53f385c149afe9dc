"""`/` at the beginning of a message: the commands are offered, then what may stand behind one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol

from PySide6.QtCore import QObject
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QWidget

from devflow.ui.context import UiContext
from devflow.ui.pages.chat.commands import Command, find, fitting
from devflow.ui.pages.chat.completion import Completion
from devflow.ui.pages.chat.completion_popup import CompletionPopup, Offer
from devflow.ui.pages.chat.composer_field import ComposerField

_NAME = re.compile(r"\s*/([\w-]*)$")
_ARGUMENT = re.compile(r"\s*/([\w-]+)[ \t]+([^\n@]*)$")


class CommandSource(Protocol):
    """Knows the commands (`CommandActs`)."""

    def commands(self) -> Sequence[Command]: ...

    def freshen(self) -> None:
        """Look for new ones; `look` is called again where there are."""
        ...

    def waits(self, command: Command) -> str:
        """Why it cannot run now; empty where it can."""
        ...

    def arguments(self, command: Command, typed: str) -> Sequence[Offer]:
        """What may stand behind it, given what was typed of that; the `data` of each is the text to put there."""
        ...


class CommandCompletion(Completion):
    """Enter takes what is chosen: a command that needs nothing more runs, another one waits for its words."""

    def __init__(
        self,
        ctx: UiContext,
        field: ComposerField,
        above: QWidget,
        popup: CompletionPopup,
        parent: QObject,
        source: CommandSource,
    ) -> None:
        super().__init__(field, above, popup, parent)
        self._ctx = ctx
        self._source = source
        self._left = False  # it was put away, until the text is another one

    def look(self) -> None:
        if self.field.signalsBlocked() or not self.field.hasFocus():
            self.close()
            return
        before = self._before()
        if before is None or not before.lstrip().startswith("/"):
            self._left = False
            self.close()
            return
        if self._left:
            return
        if (named := _NAME.match(before)) is not None:
            if not named[1] and not self.offering:
                self._source.freshen()
            self._show_commands(named[1] or "")
        elif (behind := _ARGUMENT.match(before)) is not None:
            self._show_arguments(behind[1], behind[2])
        else:
            self.close()

    def put_away(self) -> None:
        self._left = True

    def take(self, offer: Offer, *, by_tab: bool = False) -> None:
        before = self._before() or ""
        match offer.data:
            case Command() as command:
                text = command.typed
                done = not command.argument or before.strip().casefold() == text
            case str() as argument:
                text = f"{before[: len(before) - len(before.lstrip())]}{before.split()[0]} {argument}"
                done = True
            case _:
                return
        self.close()
        self._replace(before, text if done and not by_tab else f"{text} ")
        if done and not by_tab:
            self.close()
            self.field.submitted.emit()

    def _show_commands(self, typed: str) -> None:
        t = self._ctx.t
        offers = []
        for command in fitting(self._source.commands(), typed):
            why = self._source.waits(command)
            detail = why or command.does
            offers.append(Offer(command, command.typed, detail, command.icon, enabled=not why))
        told = t.n("{count} command", "{count} commands", len(offers))
        self._offer(offers, told)

    def _show_arguments(self, name: str, typed: str) -> None:
        command = find(self._source.commands(), name)
        offers = self._source.arguments(command, typed.strip()) if command is not None else ()
        told = self._ctx.t.n("{count} choice", "{count} choices", len(offers))
        self._offer(offers, told)

    def _offer(self, offers: Sequence[Offer], told: str) -> None:
        if not offers:
            self.close()
            return
        self.offering = True
        self.popup.offer(offers, self.above, self._ctx.t("Commands"), told)

    def _before(self) -> str | None:
        """The text before the caret; None where words stand right behind it, or some are selected."""
        cursor = self.field.textCursor()
        if cursor.hasSelection():
            return None
        text, at = self.field.toPlainText(), cursor.position()
        units = text.encode("utf-16-le")
        before, behind = units[: 2 * at].decode("utf-16-le"), units[2 * at :].decode("utf-16-le")
        return before if not behind[:1].strip() else None

    def _replace(self, before: str, text: str) -> None:
        cursor = self.field.textCursor()
        cursor.setPosition(0)
        cursor.setPosition(len(before.encode("utf-16-le")) // 2, QTextCursor.MoveMode.KeepAnchor)
        cursor.insertText(text)
        self.field.setTextCursor(cursor)
        self.field.ensureCursorVisible()
