"""The card on which a human decides about a tool call. It never takes the focus; nothing but its buttons decides."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import QDialog, QFrame, QHBoxLayout, QMenu, QScrollArea, QVBoxLayout, QWidget

from devflow.agent.deciding import Decision
from devflow.domain.run import ToolCall
from devflow.domain.text.hidden import with_hidden_shown
from devflow.tools.approval import approval_of
from devflow.tools.call_words import arguments_of, is_mcp, target_of
from devflow.ui.context import UiContext
from devflow.ui.pages.chat.always_allow import AlwaysAllowDialog
from devflow.ui.pages.chat.approval_foot import ApprovalFoot
from devflow.ui.pages.chat.approval_words import because_words
from devflow.ui.pages.chat.argument_editor import ArgumentEditor
from devflow.ui.pages.chat.command_body import CommandBody
from devflow.ui.pages.chat.patch import patch_note, patch_rows
from devflow.ui.pages.chat.tool_line import CodeText
from devflow.ui.pages.chat.tool_words import request_of, risk_words
from devflow.ui.widgets import (
    Chip,
    CodeDiff,
    ElidedLabel,
    Hairline,
    IconButton,
    IconLabel,
    Label,
    NoticeStrip,
)

_MAX_BODY = 420


class ApprovalCard(QFrame):
    """`decided(Decision)`, which names the call as it is shown here.

    A press disables every button at once, so that a double click decides once; `refuse` brings them back with words.
    """

    decided = Signal(object)

    def __init__(self, ctx: UiContext, call: ToolCall, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._ctx = ctx
        self.call = call
        self._json = False
        self._editor: ArgumentEditor | None = None
        self._content: QWidget | None = None
        self.setObjectName("approvalCard")
        self.setProperty("role", "card")
        self.setProperty("focusRadius", 8)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.foot = ApprovalFoot(ctx)
        self.foot.allowed.connect(self._allow)
        self.foot.allowed_here.connect(self._allow_here)
        self.foot.always_wanted.connect(self._ask_always)
        self.foot.denied.connect(self._refuse)
        self.foot.edit_wanted.connect(self._edit)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(1, 1, 1, 1)
        self._column.setSpacing(0)
        self._head = _Head(ctx)
        self._head.view_wanted.connect(self._toggle_view)
        self._head.copy_wanted.connect(self._copy)
        self._body = QVBoxLayout()
        self._body.setContentsMargins(0, 0, 0, 0)
        self._column.addWidget(self._head)
        self._column.addWidget(Hairline())
        self._column.addLayout(self._body)
        self._column.addWidget(Hairline())
        self._column.addWidget(self.foot)
        self.show_call(call)

    def show_call(self, call: ToolCall) -> None:
        """Show the call as it stands now: new arguments or a new preview ask for a new decision."""
        fresh = call != self.call
        self.call = call
        self._head.show_call(call)
        self.setAccessibleName(f"{request_of(self._ctx.t, call)}: {target_of(call)}")
        if fresh or self._content is None:
            self._head.show_counts(0, 0)
            self.foot.show_approval(approval_of(call.preview))
            self._editor = None
            self._show_content()
            self.set_deciding(False)

    def set_deciding(self, deciding: bool) -> None:
        self.foot.set_deciding(deciding)

    def refuse(self, words: str) -> None:
        """The decision was not taken: say why and let the human decide again."""
        self.set_deciding(False)
        self.foot.problem.say(words)

    def _allow(self) -> None:
        arguments: str | None = None
        if self._editor is not None:
            arguments = self._editor.value()
            if arguments is None:
                return
            if json.loads(arguments) == arguments_of(self.call):
                arguments = None
        self._decide(Decision(True, arguments=arguments, shown=self.call.shown_hash))

    def _allow_here(self) -> None:
        self._decide(Decision(True, scope="conversation", shown=self.call.shown_hash))

    def _ask_always(self) -> None:
        self._ctx.tasks.launch(self._always(), what="ask about a rule", owner=self)

    async def _always(self) -> None:
        """The rule in full, before it is made; it belongs to the call that was shown when it was asked for."""
        shown = self.call.shown_hash
        dialog = AlwaysAllowDialog(self._ctx, self.call, self.window())
        if await self._ctx.dialogs.run(dialog) != QDialog.DialogCode.Accepted:
            return
        self._decide(
            Decision(True, scope="always", shown=shown, pattern=dialog.pattern, after_untrusted=dialog.after_untrusted)
        )

    def _refuse(self) -> None:
        self._decide(Decision(False, self.foot.reason.text().strip(), shown=self.call.shown_hash))

    def _decide(self, decision: Decision) -> None:
        self.set_deciding(True)
        self.decided.emit(decision)

    def _edit(self) -> None:
        if self._editor is None:
            self._editor = ArgumentEditor(self._ctx, self.call.arguments)
            self._put(self._editor)
            self.foot.set_editing(True)
            self._editor.focus()
        else:
            self.setFocus(Qt.FocusReason.OtherFocusReason)
            self._editor = None
            self._show_content()

    def _toggle_view(self) -> None:
        self._json = not self._json
        if self._editor is None:
            self._show_content()

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.call.arguments)

    def _show_content(self) -> None:
        self.foot.set_editing(False)
        self._head.set_json(self._json)
        self._put(_content(self._ctx, self.call, as_json=self._json, counts=self._head.show_counts))

    def _put(self, content: QWidget) -> None:
        if self._content is not None:
            self._body.removeWidget(self._content)
            self._content.hide()
            self._content.deleteLater()
        self._content = content
        self._body.addWidget(content)
        content.show()  # now, so that it can take the keyboard


class _Head(QWidget):
    """40 px: shield, act, risk, target, +n −m, more."""

    view_wanted = Signal()
    copy_wanted = Signal()

    def __init__(self, ctx: UiContext) -> None:
        super().__init__()
        self._ctx = ctx
        t = ctx.t
        self._json = False
        self._title = Label("", "section")
        self._risk = Chip("", "warning")
        self._target = ElidedLabel(ctx, "", role="code-small", color="text-muted", middle=True)
        self._added = Label("", "small", "success")
        self._removed = Label("", "small", "danger")
        more = IconButton(ctx, "dots", t("More about this call"), small=True)
        more.setObjectName("approvalMoreButton")
        more.clicked.connect(self._menu)
        self._more = more
        row = QHBoxLayout(self)
        row.setContentsMargins(13, 0, 7, 0)
        row.setSpacing(8)
        row.addWidget(IconLabel(ctx, "shield", "warning", 16))
        row.addWidget(self._title)
        row.addWidget(self._risk)
        row.addStretch(1)
        row.addWidget(self._target)
        row.addWidget(self._added)
        row.addWidget(self._removed)
        row.addWidget(more)
        self.setFixedHeight(40)

    def show_call(self, call: ToolCall) -> None:
        t = self._ctx.t
        self._title.setText(request_of(t, call))
        self._risk.setText(risk_words(t, call.risk))
        self._target.set_text("" if call.tool == "run_command" else target_of(call))  # its whole line stands below

    def show_counts(self, added: int, removed: int) -> None:
        self._added.setText(f"+{added}")
        self._removed.setText(f"−{removed}")
        self._added.setVisible(bool(added or removed))
        self._removed.setVisible(bool(added or removed))

    def set_json(self, json_view: bool) -> None:
        self._json = json_view

    def _menu(self) -> None:
        t = self._ctx.t
        menu = QMenu(self)
        view = QAction(t("Show what would happen") if self._json else t("Show the arguments as JSON"), menu)
        view.triggered.connect(self.view_wanted)
        copy = QAction(t("Copy the arguments"), menu)
        self._ctx.icons.put(copy, "copy")
        copy.triggered.connect(self.copy_wanted)
        menu.addActions([view, copy])
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(self._more.mapToGlobal(self._more.rect().bottomLeft()))


def _content(ctx: UiContext, call: ToolCall, *, as_json: bool, counts: Callable[[int, int], None]) -> QWidget:
    """What would happen: a diff where the preview has one, else the arguments as a form; or the JSON."""
    t = ctx.t
    preview = call.preview or {}
    diff = preview.get("diff")
    holder = QWidget()
    column = QVBoxLayout(holder)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(0)
    for words in _notices(ctx, call):
        strip = NoticeStrip(ctx, words, "warning")
        frame = QVBoxLayout()
        frame.setContentsMargins(13, 10, 13, 0)
        frame.addWidget(strip)
        column.addLayout(frame)
    if as_json or (not diff and not arguments_of(call)):
        column.addWidget(_padded(CodeText(ctx, _pretty(call), t("Arguments as JSON"))))
    elif isinstance(diff, str) and diff:
        rows = patch_rows(diff)
        view = CodeDiff(ctx)
        view.show_rows(rows)
        counts(preview.get("added", view.added), preview.get("removed", view.removed))
        if rows:
            column.addSpacing(6)
            column.addWidget(_capped(view))
            column.addSpacing(6)
        if patch_note(diff):
            column.addWidget(_padded(Label(t("The diff is too long to show whole."), "small", "muted", wrap=True)))
    elif call.tool == "run_command" and preview.get("line") is not None:
        column.addWidget(CommandBody(ctx, call))
    else:
        column.addWidget(_form(ctx, call))
    if is_mcp(call.tool):
        column.addWidget(_padded(Label(_origin(ctx, preview), "small", "muted", wrap=True)))
    return holder


def _origin(ctx: UiContext, preview: Mapping[str, Any]) -> str:
    """Who would do it, in full, and what it says of itself."""
    words = [ctx.t("MCP server: {line}", line=with_hidden_shown(str(preview.get("mcp_line", ""))))]
    if preview.get("read_only_hint"):
        words.append(ctx.t("It says that this tool only reads; nobody has checked that."))
    if preview.get("destructive_hint"):
        words.append(ctx.t("It says that this tool may destroy something."))
    return "\n".join(words)


def _notices(ctx: UiContext, call: ToolCall) -> list[str]:
    notes = []
    if call.error and call.tool == "run_command":
        notes.append(ctx.t("What it would start has changed since you looked. This is what would happen now."))
    elif call.error and call.tool == "read_file":
        notes.append(ctx.t("This file has several names (hard links). Another one may lie outside the project folder."))
    elif call.error and is_mcp(call.tool):
        notes.append(ctx.t("The server changed this tool after you looked. This is what it is now."))
    elif call.error:
        notes.append(ctx.t("The file changed after you looked. This is what would happen now."))
    if call.edited:
        notes.append(ctx.t("These are your edited arguments; the model is told."))
    if why := because_words(ctx.t, approval_of(call.preview)):
        notes.append(why)
    return notes


def _form(ctx: UiContext, call: ToolCall) -> QWidget:
    holder = QWidget()
    column = QVBoxLayout(holder)
    column.setContentsMargins(13, 10, 13, 10)
    column.setSpacing(4)
    for name, value in arguments_of(call).items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        column.addWidget(Label(name, "small", "muted"))
        column.addWidget(CodeText(ctx, text, name))
    return holder


def _pretty(call: ToolCall) -> str:
    arguments = arguments_of(call)
    return json.dumps(arguments, ensure_ascii=False, indent=2) if arguments else call.arguments


def _padded(widget: QWidget) -> QWidget:
    holder = QWidget()
    column = QVBoxLayout(holder)
    column.setContentsMargins(13, 10, 13, 6)
    column.addWidget(widget)
    return holder


def _capped(view: CodeDiff) -> QWidget:
    """A long diff scrolls inside the card, so that the buttons stay near."""
    if view.height() <= _MAX_BODY:
        return view
    area = QScrollArea()
    area.setWidgetResizable(True)
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setFixedHeight(_MAX_BODY)
    area.setWidget(view)
    return area
