"""The fields of an entry, each with its rule's own sentence under it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QPlainTextEdit, QScrollArea, QStackedWidget, QVBoxLayout, QWidget

from devflow.domain.errors import InvalidInput
from devflow.domain.knowledge import CONTENT_MAX, Entry, Kind, check_content, check_tags, check_title
from devflow.ui.context import UiContext
from devflow.ui.models.words import kind_name, refusal
from devflow.ui.widgets.chips import Label
from devflow.ui.widgets.fields import ComboBox
from devflow.ui.widgets.markdown import MarkdownView
from devflow.ui.widgets.painting import restyle
from devflow.ui.widgets.segmented import Segmented

_TAG_ENDS = re.compile(r"[,，、;；\n]")


@dataclass(frozen=True, slots=True)
class Fields:
    """What stands in the form, as typed."""

    kind: Kind
    title: str
    tags: tuple[str, ...]
    content: str

    @classmethod
    def of(cls, entry: Entry) -> Fields:
        return cls(entry.kind, entry.title, entry.tags, entry.content)


EMPTY = Fields(Kind.PITFALL, "", (), "")


class EntryForm(QWidget):
    """`edited` on every change by hand or by `put`."""

    edited = Signal()

    def __init__(self, ctx: UiContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._ctx = ctx
        self._judging = False
        t = ctx.t
        self.title = QLineEdit()
        self.title.setObjectName("titleField")
        self.title.setAccessibleName(t("Title"))
        self.kind = ComboBox(ctx, name=t("Kind"), width=170)
        self.kind.setObjectName("kindField")
        for kind in Kind:
            self.kind.add(kind_name(t, kind), kind)
        self.tags = QLineEdit()
        self.tags.setObjectName("tagsField")
        self.tags.setAccessibleName(t("Tags"))
        self.tags.setPlaceholderText(t("Separated by commas"))
        self.content = QPlainTextEdit()
        self.content.setObjectName("contentField")
        self.content.setAccessibleName(t("Content"))
        self.content.setProperty("role", "field")
        self.content.setTabChangesFocus(True)
        self.content.setPlaceholderText(t("What someone should know, in Markdown"))
        self.preview = MarkdownView(ctx)
        self.preview.setObjectName("contentPreview")
        self.preview.set_citing(False)
        self._sides = Segmented(ctx, [t("Write"), t("Preview")])
        self._sides.setFixedWidth(180)
        self._sides.part(0).setObjectName("writeSide")
        self._sides.part(1).setObjectName("previewSide")
        self._sides.chosen.connect(self._show_side)
        self._length = Label("", "small", "faint")
        self._wrong = {name: _problem() for name in ("title", "tags", "content")}
        self._lay_out()
        self.title.textChanged.connect(self._changed)
        self.tags.textChanged.connect(self._changed)
        self.content.textChanged.connect(self._changed)
        self.kind.currentIndexChanged.connect(self._changed)
        self._changed()

    def put(self, fields: Fields) -> None:
        """Show these values; what was typed can be had back with each field's own undo."""
        self.kind.select_data(fields.kind)
        _replace_line(self.title, fields.title)
        _replace_line(self.tags, ", ".join(fields.tags))
        if self.content.toPlainText() != fields.content:
            cursor = self.content.textCursor()
            cursor.beginEditBlock()
            cursor.select(cursor.SelectionType.Document)
            cursor.insertText(fields.content)
            cursor.endEditBlock()
            cursor.setPosition(0)
            self.content.setTextCursor(cursor)

    def fields(self) -> Fields:
        """As typed; tags split and trimmed."""
        tags = tuple(tag for part in _TAG_ENDS.split(self.tags.text()) if (tag := part.strip()))
        return Fields(Kind(self.kind.currentData()), self.title.text().strip(), tags, self.content.toPlainText())

    def judge(self) -> bool:
        """Show every rule that is broken, from now on while typing too; focus the first. True when none is."""
        self._judging = True
        broken = self._judge()
        for name, field in (("title", self.title), ("tags", self.tags), ("content", self.content)):
            if name in broken:
                if name == "content":
                    self.write()
                field.setFocus()
                break
        return not broken

    def refuse(self, error: InvalidInput) -> bool:
        """Show what the service refused under its field; False where the field is not here."""
        if error.field not in self._wrong:
            return False
        self._say(error.field, error)
        return True

    def write(self) -> None:
        """The side where the content is written."""
        self._sides.select(0)
        self._show_side(0)

    def _changed(self) -> None:
        length = len(self.content.toPlainText())
        self._length.setText(
            self._ctx.t("{length} of {limit} characters", length=f"{length:,}", limit=f"{CONTENT_MAX:,}")
        )
        self._judge()
        self.edited.emit()

    def _judge(self) -> frozenset[str]:
        """Before the first Save only what cannot become right by typing on is said."""
        fields = self.fields()
        checks: tuple[tuple[str, Callable[[], object], bool], ...] = (
            ("title", lambda: check_title(fields.title), bool(fields.title)),
            ("tags", lambda: check_tags(fields.tags), True),
            ("content", lambda: check_content(fields.content), bool(fields.content.strip())),
        )
        broken: set[str] = set()
        for name, check, begun in checks:
            problem: InvalidInput | None = None
            try:
                check()
            except InvalidInput as error:
                broken.add(name)
                problem = error
            self._say(name, problem if self._judging or begun else None)
        return frozenset(broken)

    def _say(self, name: str, problem: InvalidInput | None) -> None:
        label = self._wrong[name]
        field = {"title": self.title, "tags": self.tags, "content": self.content}[name]
        text = "" if problem is None else refusal(self._ctx.t, problem)
        label.setText(text)
        label.setVisible(bool(text))
        field.setAccessibleDescription(text)
        restyle(field, "invalid", "true" if text else "false")

    def _show_side(self, side: int) -> None:
        if side == 1:
            self.preview.set_markdown(self.content.toPlainText())
        self._stack.setCurrentIndex(side)
        if side == 0:
            self.content.setFocus()

    def _lay_out(self) -> None:
        t = self._ctx.t
        area = QScrollArea()
        area.setWidgetResizable(True)
        page = QWidget()
        page.setProperty("role", "page")
        inner = QVBoxLayout(page)
        inner.setContentsMargins(2, 8, 8, 8)
        inner.addWidget(self.preview)
        inner.addStretch(1)
        area.setWidget(page)
        self._stack = QStackedWidget()
        self._stack.addWidget(self.content)
        self._stack.addWidget(area)
        side = QHBoxLayout()
        side.addWidget(self._sides)
        side.addStretch(1)
        side.addWidget(self._length)
        pair = QHBoxLayout()
        pair.setSpacing(12)
        pair.addLayout(_field(t("Kind"), self.kind))
        pair.addLayout(_field(t("Tags"), self.tags, self._wrong["tags"]), 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(12)
        column.addLayout(_field(t("Title"), self.title, self._wrong["title"]))
        column.addLayout(pair)
        column.addLayout(side)
        column.addWidget(self._stack, 1)
        column.addWidget(self._wrong["content"])


def _field(name: str, field: QWidget, problem: Label | None = None) -> QVBoxLayout:
    column = QVBoxLayout()
    column.setSpacing(4)
    label = Label(name, "small", "muted")
    label.setBuddy(field)
    column.addWidget(label)
    column.addWidget(field)
    if problem is not None:
        column.addWidget(problem)
    column.addStretch(1)
    return column


def _problem() -> Label:
    label = Label("", "small", "danger", wrap=True)
    label.hide()
    return label


def _replace_line(line: QLineEdit, text: str) -> None:
    """Like typing it: the line's undo brings the old text back."""
    if line.text() != text:
        line.selectAll()
        line.insert(text)
        line.setCursorPosition(0)
