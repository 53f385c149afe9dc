"""The rule that "Always allow…" would make, in full, before it is made."""

from __future__ import annotations

import math

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetricsF, QShowEvent, QTextOption
from PySide6.QtWidgets import (
    QButtonGroup,
    QCheckBox,
    QDialog,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QPlainTextEdit,
    QRadioButton,
    QVBoxLayout,
    QWidget,
)

from devflow.domain.run import ToolCall
from devflow.tools.approval import Approval, approval_of
from devflow.tools.call_words import verb_of
from devflow.ui.context import UiContext
from devflow.ui.pages.chat.approval_words import pattern_words
from devflow.ui.widgets import Button, Label, Paragraph

_WIDTH, _MARGIN, _INDENT = 520, 24, 22
_MAX_LINES, _LINE = 8, 18


class AlwaysAllowDialog(QDialog):
    """Run it with `ctx.dialogs.run`; then `pattern` and `after_untrusted` are what was chosen.

    Nothing in it is a default button: the rule is made by pressing Allow, not by an Enter too many.
    """

    def __init__(self, ctx: UiContext, call: ToolCall, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        t = ctx.t
        self._ctx = ctx
        self._approval: Approval = approval_of(call.preview)
        self.setObjectName("alwaysAllowDialog")
        self.setWindowTitle(t("Always allow"))
        self.setFixedWidth(_WIDTH)
        self._choices = QButtonGroup(self)
        self.after = QCheckBox(t("Also after reading untrusted text"))
        self.after.setObjectName("afterUntrusted")
        column = QVBoxLayout(self)
        column.setContentsMargins(_MARGIN, 20, _MARGIN, 16)
        column.setSpacing(8)
        column.addWidget(Label(t("Always allow this"), "heading"))
        column.addWidget(Paragraph(ctx, t("What this rule covers runs without asking, in every conversation."), "ui"))
        column.addSpacing(4)
        column.addLayout(self._facts(call))
        column.addSpacing(4)
        for place, pattern in enumerate(self._approval.patterns):
            column.addWidget(self._choice(place, pattern))
        column.addSpacing(4)
        column.addWidget(self.after)
        about = t(
            "Files, command output and pages may hold words that talk the model into something. Without this, the rule"
            " asks again once a conversation has read any."
        )
        column.addLayout(_indented(Paragraph(ctx, about, "small")))
        column.addWidget(Paragraph(ctx, t("Settings → Tools lists every rule and can revoke it."), "small"))
        column.addSpacing(8)
        column.addLayout(self._foot())

    def showEvent(self, event: QShowEvent) -> None:
        """As high as its words need at this width."""
        super().showEvent(event)
        layout = self.layout()
        if layout is not None:
            self.setFixedHeight(layout.totalHeightForWidth(_WIDTH))

    @property
    def pattern(self) -> str:
        return self._approval.patterns[self._choices.checkedId()]

    @property
    def after_untrusted(self) -> bool:
        return self.after.isChecked()

    def _facts(self, call: ToolCall) -> QGridLayout:
        t, folder = self._ctx.t, self._approval.workspace
        facts = QGridLayout()
        facts.setHorizontalSpacing(16)
        facts.setVerticalSpacing(6)
        facts.setColumnStretch(1, 1)
        verb, room = verb_of(t, call.tool), _WIDTH - 2 * _MARGIN - 100
        tool = QHBoxLayout()
        tool.setSpacing(8)
        if verb != call.tool:
            tool.addWidget(Label(verb))
        tool.addWidget(_Whole(self._ctx, call.tool, t("Tool"), room), 1)
        facts.addWidget(Label(t("Tool"), "small", "muted"), 0, 0)
        facts.addLayout(tool, 0, 1)
        facts.addWidget(Label(t("Project folder"), "small", "muted"), 1, 0)
        where = _Whole(self._ctx, folder, t("Project folder"), room) if folder else Label(t("without a project folder"))
        facts.addWidget(where, 1, 1)
        return facts

    def _choice(self, place: int, pattern: str) -> QWidget:
        """What it means, and the pattern itself below; the narrowest is chosen."""
        meaning = pattern_words(self._ctx.t, pattern, self._approval.covers)
        button = QRadioButton(meaning)
        button.setObjectName(f"rulePattern-{place}")
        button.setAccessibleName(f"{meaning}: {pattern}")
        button.setChecked(place == 0)
        self._choices.addButton(button, place)
        holder = QWidget()
        lines = QVBoxLayout(holder)
        lines.setContentsMargins(0, 2, 0, 2)
        lines.setSpacing(2)
        lines.addWidget(button)
        lines.addLayout(_indented(_Whole(self._ctx, pattern, meaning, _WIDTH - 2 * _MARGIN - _INDENT)))
        return holder

    def _foot(self) -> QHBoxLayout:
        t = self._ctx.t
        cancel = Button(self._ctx, t("Cancel"))
        cancel.setObjectName("cancelButton")
        cancel.clicked.connect(self.reject)
        allow = Button(self._ctx, t("Allow"), variant="primary")
        allow.setObjectName("acceptButton")
        allow.clicked.connect(self.accept)
        for button in (cancel, allow):
            button.setAutoDefault(False)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addStretch(1)
        row.addWidget(cancel)
        row.addWidget(allow)
        return row


class _Whole(QPlainTextEdit):
    """Code text that is never elided: it wraps wherever it must, and can be selected."""

    def __init__(self, ctx: UiContext, text: str, name: str, width: int) -> None:
        super().__init__()
        self.setReadOnly(True)
        self.setAccessibleName(name)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFont(ctx.theme.font("code-small"))
        self.setWordWrapMode(QTextOption.WrapMode.WrapAnywhere)
        self.document().setDocumentMargin(0)
        self.setPlainText(text)
        self.setTabChangesFocus(True)
        metrics = QFontMetricsF(self.font())
        self.setViewportMargins(0, 4, 0, 0)  # on the baseline of the label beside it
        lines = max(1, math.ceil(metrics.horizontalAdvance(text) / (width - 2 * metrics.averageCharWidth() - 8)))
        line = max(metrics.lineSpacing(), _LINE)  # a Han fallback is taller than the face
        self.setFixedHeight(math.ceil(min(lines, _MAX_LINES) * line) + 6)
        if lines == 1:
            self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)


def _indented(widget: QWidget) -> QHBoxLayout:
    row = QHBoxLayout()
    row.setContentsMargins(_INDENT, 0, 0, 0)
    row.addWidget(widget)
    return row
