"""The user's rules in a card: read again at every change, revoked at once, and back by Undo."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QHBoxLayout, QVBoxLayout, QWidget
from shiboken6 import isValid

from devflow.domain.errors import NotFound
from devflow.knowledge.projects import is_folder
from devflow.tools.policy import AnyRule, Rule, strictest_first
from devflow.tools.rules import GROUP, add_rule, read_rules, remove_rule
from devflow.ui.context import UiContext
from devflow.ui.dialogs.settings.rule_dialog import RuleDialog
from devflow.ui.dialogs.settings.rule_row import RuleRow
from devflow.ui.dialogs.settings.rule_words import Scenes, act_words, pattern_words
from devflow.ui.models.refresh import Refresher
from devflow.ui.widgets import Button, Card, Label, Paragraph, UndoBar


class RulesList(QWidget):
    """`objectName` rulesList. `shown` when the stored rules are on the screen; `rows` are those."""

    shown = Signal()

    def __init__(self, ctx: UiContext, bar: UndoBar) -> None:
        super().__init__()
        self._ctx = ctx
        self._bar = bar
        self._seen: tuple[tuple[AnyRule, ...], Scenes] | None = None
        self.rows: list[RuleRow] = []
        self.setObjectName("rulesList")
        self.setAccessibleName(ctx.t("Rules"))
        self.add = Button(ctx, ctx.t("Add…"), icon="plus", small=True)
        self.add.setObjectName("addRuleButton")
        self.add.setAccessibleName(ctx.t("Add a rule"))
        self.add.clicked.connect(self._add)
        head = QHBoxLayout()
        head.addWidget(Label(ctx.t("Rules"), "section"), 1)
        head.addWidget(self.add)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(6)
        self._column.addLayout(head)
        self._card: Card | None = None
        self._reread = Refresher(ctx.tasks, self._read, "read the rules", self)
        ctx.events.settings_changed.connect(self._changed)
        ctx.events.conversations_changed.connect(self._ask)
        self._ask()

    # reading

    def _changed(self, groups: frozenset[str]) -> None:
        if GROUP in groups:
            self._ask()

    def _ask(self, _ids: object = None) -> None:
        self._reread.ask()

    async def _read(self) -> None:
        rules = tuple(strictest_first(await read_rules(self._ctx.services.settings)))
        scenes = Scenes(await asyncio.to_thread(_folders, rules), await self._titles(rules))
        if (rules, scenes) != self._seen:
            self._seen = rules, scenes
            self._show(rules, scenes)
        self.shown.emit()

    async def _titles(self, rules: Iterable[AnyRule]) -> dict[str, str]:
        titles = {}
        for id in {rule.conversation_id for rule in rules if rule.conversation_id}:
            try:
                conversation = await self._ctx.services.conversations.get(id)
            except NotFound:
                continue
            if conversation.deleted_at is None:
                titles[id] = conversation.title
        return titles

    # showing

    def _show(self, rules: tuple[AnyRule, ...], scenes: Scenes) -> None:
        place = next((at for at, row in enumerate(self.rows) if row.button.hasFocus()), None)
        if self._card is not None:
            self._column.removeWidget(self._card)
            self._card.hide()
            self._card.deleteLater()
        self._card = Card(padding=16)
        self.rows = [RuleRow(self._ctx, rule, scenes) for rule in rules]
        for row in self.rows:
            row.revoked.connect(self._revoke)
            self._card.add_row(row)
        if not rules:
            self._card.add_row(self._nothing())
        self._column.addWidget(self._card)
        if place is not None and self.rows:
            self.rows[min(place, len(self.rows) - 1)].button.setFocus(Qt.FocusReason.OtherFocusReason)

    def _nothing(self) -> QWidget:
        t = self._ctx.t
        words = Paragraph(
            self._ctx,
            t(
                "No rules yet. Reading inside the project folder is free; writing, running and everything outside ask"
                " each time. “Always allow…” on a call's card makes a rule, and it appears here."
            ),
            "ui",
        )
        words.setObjectName("rulesEmpty")
        words.setContentsMargins(0, 12, 0, 12)
        holder = QWidget()
        column = QVBoxLayout(holder)
        column.setContentsMargins(0, 12, 0, 12)
        column.addWidget(words)
        return holder

    # what the human does

    def _add(self) -> None:
        self._ctx.tasks.launch(self._added(), what="add a rule", owner=self)

    async def _added(self) -> None:
        """Rules that ask or deny can be written down here."""
        services = self._ctx.services
        projects = await services.projects.with_folder()
        tools = await services.turns.tool_names(projects[0] if projects else None)
        dialog = RuleDialog(self._ctx, tools, projects, self.window())
        if await self._ctx.dialogs.run(dialog) == QDialog.DialogCode.Accepted and dialog.rule is not None:
            await add_rule(services.settings, dialog.rule)

    def _revoke(self, rule: AnyRule) -> None:
        self._ctx.tasks.launch(self._revoked(rule), what="revoke a rule")

    async def _revoked(self, rule: AnyRule) -> None:
        await remove_rule(self._ctx.services.settings, rule)
        if not isValid(self._bar):  # the dialog was closed meanwhile: revoked it is
            return
        t = self._ctx.t
        words = t("Revoked: {tool} {pattern}", tool=act_words(t, rule), pattern=pattern_words(rule))
        self._bar.show_undo(words, lambda: self._bring_back(rule))

    def _bring_back(self, rule: AnyRule) -> None:
        self._ctx.tasks.launch(add_rule(self._ctx.services.settings, rule), what="bring a rule back")


def _folders(rules: Iterable[AnyRule]) -> frozenset[str]:
    return frozenset(rule.workspace for rule in rules if isinstance(rule, Rule) and is_folder(rule.workspace))
