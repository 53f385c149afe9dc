"""One of the user's rules: what it does, to what, where, and Revoke."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from devflow.tools.policy import AnyRule, BrokenRule, Rule
from devflow.ui.context import UiContext
from devflow.ui.dialogs.settings.rule_words import (
    Scenes,
    act_words,
    effect_words,
    is_stale,
    pattern_words,
    where_words,
)
from devflow.ui.widgets import Button, Chip, ElidedLabel, Label


class RuleRow(QWidget):
    """`revoked(rule)` when its button is pressed."""

    revoked = Signal(object)

    def __init__(self, ctx: UiContext, rule: AnyRule, scenes: Scenes) -> None:
        super().__init__()
        t = ctx.t
        self.rule = rule
        self.setObjectName("ruleRow")
        self.setMinimumHeight(54)
        broken = isinstance(rule, BrokenRule)
        word, kind = effect_words(t, rule.effect)
        act, pattern, where = act_words(t, rule), pattern_words(rule), where_words(t, rule, scenes)
        self.button = Button(ctx, t("Remove") if broken else t("Revoke"), small=True)
        self.button.setObjectName("revokeRuleButton")
        self.button.setAccessibleName(f"{self.button.text()}: {word} {act} {pattern}")
        self.button.clicked.connect(self._revoke)
        self.setAccessibleName(f"{word} {act} {pattern}, {where}")
        line = QHBoxLayout()
        line.setSpacing(8)
        line.addWidget(Chip(word, kind))
        line.addWidget(Label(act, "ui"))
        line.addWidget(ElidedLabel(ctx, pattern, role="code-small", color="text", middle=True), 1)
        about = Label(where, "small", "warning" if broken or is_stale(rule, scenes) else "muted", wrap=True)
        about.setToolTip(rule.workspace if isinstance(rule, Rule) else "")
        words = QVBoxLayout()
        words.setSpacing(2)
        words.addLayout(line)
        words.addWidget(about)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 8, 0, 8)
        row.setSpacing(12)
        row.addLayout(words, 1)
        row.addWidget(self.button)

    def _revoke(self) -> None:
        self.revoked.emit(self.rule)
