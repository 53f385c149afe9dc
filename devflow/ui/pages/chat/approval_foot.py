"""The foot of an approval card: Allow once ▾, Always allow…, Edit…, the reason, Deny."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from devflow.tools.approval import Approval
from devflow.ui.context import UiContext
from devflow.ui.pages.chat.approval_words import no_rule_words
from devflow.ui.widgets import Button, NoticeStrip, SplitButton


class ApprovalFoot(QWidget):
    """Says what was pressed. Nothing here is pressed by Enter in the composer, or takes the keyboard by itself."""

    allowed = Signal()
    allowed_here = Signal()
    """In this conversation."""
    always_wanted = Signal()
    edit_wanted = Signal()
    denied = Signal()

    def __init__(self, ctx: UiContext) -> None:
        super().__init__()
        self._ctx = ctx
        self._approval = Approval()
        self._deciding = False
        t = ctx.t
        self.problem = NoticeStrip(ctx, "", "danger")
        self.problem.hide()
        self.allow = SplitButton(ctx, t("Allow once"), menu_name=t("How far the yes reaches"))
        self.approve = self.allow.button
        self.approve.setObjectName("approveButton")
        self.allow.menu_button.setObjectName("approveMenuButton")
        self.once = QAction(t("Allow once"), self.allow.menu)
        self.here = QAction("", self.allow.menu)
        self.allow.menu.addActions([self.once, self.here])
        self.allow.menu.setToolTipsVisible(True)
        self.always = Button(ctx, t("Always allow…"))
        self.always.setObjectName("alwaysAllowButton")
        self.edit = Button(ctx, t("Edit…"))
        self.edit.setObjectName("editArgumentsButton")
        self.reason = QLineEdit()
        self.reason.setObjectName("denyReason")
        self.reason.setPlaceholderText(t("Reason for denying (the model is told)"))
        self.reason.setAccessibleName(t("Reason for denying"))
        self.deny = Button(ctx, t("Deny"), variant="danger")
        self.deny.setObjectName("denyButton")
        self.allow.clicked.connect(self.allowed)
        self.once.triggered.connect(self.allowed)
        self.here.triggered.connect(self.allowed_here)
        self.always.clicked.connect(self.always_wanted)
        self.edit.clicked.connect(self.edit_wanted)
        self.deny.clicked.connect(self.denied)
        self.reason.returnPressed.connect(self.denied)
        column = QVBoxLayout(self)
        column.setContentsMargins(13, 10, 13, 9)
        column.setSpacing(8)
        column.addWidget(self.problem)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self.allow)
        row.addWidget(self.always)
        row.addWidget(self.edit)
        row.addSpacing(4)
        row.addWidget(self.reason, 1)
        row.addWidget(self.deny)
        column.addLayout(row)

    def show_approval(self, approval: Approval) -> None:
        """Offer the rules that could allow this call, or say why there are none."""
        t = self._ctx.t
        self._approval = approval
        self.here.setText(
            t("Allow in this conversation, though it has read text from outside")
            if approval.untrusted
            else t("Allow in this conversation")
        )
        why = no_rule_words(t, approval)
        self.always.setToolTip(why)
        self.always.setAccessibleDescription(why)
        self.here.setToolTip(why)
        self._enable()

    def set_deciding(self, deciding: bool) -> None:
        self._deciding = deciding
        self._enable()
        if deciding:
            self.problem.hide()

    def set_editing(self, editing: bool) -> None:
        """While arguments are edited there is nothing to allow yet: they are checked and shown first."""
        t = self._ctx.t
        self.edit.set_label(t("Do not edit") if editing else t("Edit…"))
        self.approve.set_label(t("Check the edited call") if editing else t("Allow once"))
        self.allow.menu_button.setVisible(not editing)
        self.always.setVisible(not editing)

    def _enable(self) -> None:
        for control in (self.approve, self.allow.menu_button, self.edit, self.reason, self.deny):
            control.setEnabled(not self._deciding)
        offered = bool(self._approval.patterns)
        self.always.setEnabled(offered and not self._deciding)
        self.here.setEnabled(offered)
