"""The arguments of a call, to be changed before they are allowed: as a form or as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPlainTextEdit, QVBoxLayout, QWidget

from devflow.ui.context import UiContext
from devflow.ui.widgets import Label, Segmented

_MAX_ROWS = 12


class ArgumentEditor(QWidget):
    """`value()` is the arguments as JSON text, or None while they are not an object; then the reason stands below.

    A text argument is a field of the form; anything else is shown there as its JSON.
    """

    def __init__(self, ctx: UiContext, arguments: str) -> None:
        super().__init__()
        self._ctx = ctx
        t = ctx.t
        self._fields: dict[str, tuple[QPlainTextEdit, bool]] = {}
        self._view = Segmented(ctx, [t("Form"), t("JSON")])
        self._view.chosen.connect(self._switch)
        self._form = QWidget()
        self._form_column = QVBoxLayout(self._form)
        self._form_column.setContentsMargins(0, 0, 0, 0)
        self._form_column.setSpacing(4)
        self._json = _field(ctx, t("Arguments as JSON"), mono=True)
        self._json.setObjectName("argumentsJson")
        self._problem = Label("", "small", "danger", wrap=True)
        self._problem.hide()
        column = QVBoxLayout(self)
        column.setContentsMargins(14, 10, 14, 10)
        column.setSpacing(8)
        column.addWidget(self._view, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self._form)
        column.addWidget(self._json)
        column.addWidget(self._problem)
        parsed = _object(arguments)
        if parsed is None:
            self._json.setPlainText(arguments)
            self._view.select(1)
            self._show(json_view=True)
        else:
            self._fill(parsed)
            self._show(json_view=False)

    def value(self) -> str | None:
        if self._json.isVisibleTo(self):
            text = self._json.toPlainText()
            if _object(text) is None:
                self._say(self._ctx.t("This is not a JSON object."))
                return None
            return text
        return self._from_form()

    def focus(self) -> None:
        target = self._json if self._json.isVisibleTo(self) else next(iter(self._fields.values()))[0]
        target.setFocus(Qt.FocusReason.OtherFocusReason)

    def _switch(self, index: int) -> None:
        """Carry what was typed to the other view; a text that cannot be carried stays where it is."""
        if index == 1:
            text = self._from_form()
            if text is not None:
                self._json.setPlainText(json.dumps(json.loads(text), ensure_ascii=False, indent=2))
                self._show(json_view=True)
        else:
            parsed = _object(self._json.toPlainText())
            if parsed is None:
                self._say(self._ctx.t("This is not a JSON object."))
                self._view.select(1)
                return
            self._fill(parsed)
            self._show(json_view=False)

    def _fill(self, arguments: Mapping[str, Any]) -> None:
        while (item := self._form_column.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        self._fields.clear()
        for name, value in arguments.items():
            is_text = isinstance(value, str)
            field = _field(self._ctx, name, mono=True)
            field.setObjectName(f"argument_{name}")
            field.setPlainText(value if is_text else json.dumps(value, ensure_ascii=False))
            _size(field)
            self._form_column.addWidget(Label(name, "small", "muted"))
            self._form_column.addWidget(field)
            self._fields[name] = (field, is_text)

    def _from_form(self) -> str | None:
        values: dict[str, Any] = {}
        for name, (field, is_text) in self._fields.items():
            text = field.toPlainText()
            if is_text:
                values[name] = text
                continue
            try:
                values[name] = json.loads(text)
            except ValueError:
                self._say(self._ctx.t("“{name}” is not a JSON value.", name=name))
                return None
        self._problem.hide()
        return json.dumps(values, ensure_ascii=False)

    def _show(self, *, json_view: bool) -> None:
        self._form.setVisible(not json_view)
        self._json.setVisible(json_view)
        self._problem.hide()
        if json_view:
            _size(self._json)

    def _say(self, text: str) -> None:
        self._problem.setText(text)
        self._problem.show()


def _field(ctx: UiContext, name: str, *, mono: bool) -> QPlainTextEdit:
    field = QPlainTextEdit()
    field.setProperty("role", "field")
    field.setAccessibleName(name)
    field.setTabChangesFocus(True)
    if mono:
        field.setFont(ctx.theme.font("code"))
    return field


def _size(field: QPlainTextEdit) -> None:
    rows = min(max(field.document().blockCount(), 1), _MAX_ROWS)
    field.setFixedHeight(rows * field.fontMetrics().lineSpacing() + 26)


def _object(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
