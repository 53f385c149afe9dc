"""What a test says: one row each, in the server's own words, as they arrive."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from devflow.domain.provider import Probe, TestLine
from devflow.ui.context import UiContext
from devflow.ui.dialogs.settings.provider_edit import ProviderEdit
from devflow.ui.dialogs.settings.provider_words import line_mark, probe_name
from devflow.ui.models import moments
from devflow.ui.widgets import Button, Card, ElidedLabel, IconLabel, Label


class TestPanel(QWidget):
    """`wanted` when Test is pressed, `cancelled` when the running one is to be stopped."""

    __test__ = False

    wanted = Signal()
    cancelled = Signal()

    def __init__(self, ctx: UiContext) -> None:
        super().__init__()
        self._ctx = ctx
        t = ctx.t
        self._title = Label(t("Test"), "section")
        self._when = Label("", "small", "muted")
        self.button = Button(ctx, t("Test"), icon="refresh", small=True)
        self.button.setObjectName("testProviderButton")
        self.cancel = Button(ctx, t("Cancel"), variant="ghost", small=True)
        self.cancel.setObjectName("cancelTestButton")
        self.rows = {what: TestRow(ctx, what) for what in Probe}
        self._card = Card(padding=14)
        self._card.setObjectName("testResults")
        self._card.column.setContentsMargins(14, 4, 14, 4)
        for row in self.rows.values():
            self._card.column.addWidget(row)
        head = QHBoxLayout()
        head.setSpacing(5)
        head.addWidget(self._title)
        head.addWidget(self._when)
        head.addStretch(1)
        head.addWidget(self.cancel)
        head.addWidget(self.button)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addLayout(head)
        column.addWidget(self._card)
        self.button.clicked.connect(self.wanted)
        self.cancel.clicked.connect(self.cancelled)

    def show_edit(self, edit: ProviderEdit) -> None:
        t = self._ctx.t
        testing = edit.testing is not None
        report = None if testing else edit.last_test
        lines = edit.lines if testing else {} if report is None else {line.what: line for line in report.lines}
        self._title.setText(t("Test results") if report is not None or testing else t("Test"))
        self._when.setText(
            ""
            if report is None
            else t(
                "{ago} · {seconds} s",
                ago=moments.ago(t, report.at, moments.local_now()),
                seconds=f"{report.duration_ms / 1000:.1f}",
            )
        )
        self.button.set_label(t("Testing…") if testing else t("Test again") if report is not None else t("Test"))
        self.button.set_icon("half-disc" if testing else "refresh")
        self.button.setEnabled(not testing)
        self.cancel.setVisible(testing)
        self._card.setVisible(testing or bool(lines))
        waiting = next((what for what in Probe if what not in lines and what is not Probe.KEY), None)
        for what, row in self.rows.items():
            row.show_line(lines.get(what), busy=testing and what is waiting)
            row.setVisible(testing or what in lines)  # an older test did not ask everything


class TestRow(QFrame):
    """28 px: state, name, words. A click or Enter unfolds words that do not fit; there they can be selected."""

    __test__ = False

    def __init__(self, ctx: UiContext, what: Probe) -> None:
        super().__init__()
        self._ctx = ctx
        self._name = probe_name(ctx.t, what)
        self.setObjectName(f"test-{what.value}")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setProperty("focusRadius", 4)
        self._icon = IconLabel(ctx, "circle", "text-faint", 14)
        name = Label(self._name, "ui")
        name.setFixedWidth(104)
        self._words = ElidedLabel(ctx, "", role="small", color="text-muted")
        self._whole = Label("", "small", "muted", wrap=True)
        self._whole.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self._whole.hide()
        head = QHBoxLayout()
        head.setSpacing(8)
        head.setContentsMargins(0, 0, 0, 0)
        head.addWidget(self._icon)
        head.addWidget(name)
        head.addWidget(self._words, 1)
        bar = QWidget()
        bar.setFixedHeight(28)
        bar.setLayout(head)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(bar)
        column.addWidget(self._whole)
        self._whole.setContentsMargins(22, 0, 0, 6)

    @property
    def words(self) -> str:
        return self._words.text

    def show_line(self, line: TestLine | None, *, busy: bool) -> None:
        if line is None:
            self._icon.set_icon("half-disc" if busy else "circle", "accent-fg" if busy else "text-faint")
            words = self._ctx.t("asking…") if busy else ""
        else:
            self._icon.set_icon(*line_mark(line.state))
            words = line.render(self._ctx.t)
        self._words.set_text(words)
        if words != self._whole.text():
            self._whole.setText(words)
            self._whole.hide()
            self._words.show()
        self.setAccessibleName(f"{self._name}: {words}" if words else self._name)

    def unfold(self) -> None:
        """Show all of the words, or one line again."""
        folded = self._whole.isHidden()
        self._whole.setVisible(folded and bool(self._whole.text()))
        self._words.setVisible(not folded)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self.unfold()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.unfold()
        else:
            super().keyPressEvent(event)
