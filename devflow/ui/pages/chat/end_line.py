"""How a turn ended when it did not end well: stopped, interrupted or failed, with the ways on."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from devflow.domain.run import Run, RunState
from devflow.ui.context import UiContext
from devflow.ui.pages.chat.turn_acts import TurnActs
from devflow.ui.pages.chat.turn_views import TurnView
from devflow.ui.widgets import Button, IconLabel, Label
from devflow.ui.widgets.painting import restyle

_AS_LINE, _AS_CARD, _ABOVE_CARD = (0, 8, 0, 2), (14, 12, 14, 12), 8
_PROVIDER_CODES = frozenset({"unreachable", "key_refused", "model_missing", "provider_failed", "bad_request"})


class EndLine(QWidget):
    """Hidden while there is nothing to say. `continueButton`, `retryButton` act on the turn's run.

    A run that a limit has ended asks on a card whether it is to go on.
    """

    def __init__(self, ctx: UiContext, acts: TurnActs) -> None:
        super().__init__()
        self._ctx = ctx
        self._acts = acts
        self._run_id = ""
        t = ctx.t
        self.setObjectName("turnEnd")
        self.icon = IconLabel(ctx, "circle", "text-faint", 14)
        self.words = Label("", "ui", wrap=True)
        self.words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.hint = Label("", "small", "muted", wrap=True)
        self.go_on = Button(ctx, t("Continue"), small=True)
        self.go_on.setObjectName("continueButton")
        self.retry = Button(ctx, t("Retry"), icon="refresh", small=True)
        self.retry.setObjectName("retryButton")
        self.settings = Button(ctx, t("Open provider settings"), variant="link")
        self.settings.setObjectName("openProvidersButton")
        self.go_on.clicked.connect(self._continue)
        self.retry.clicked.connect(self._retry)
        self.settings.clicked.connect(self._settings)
        texts = QVBoxLayout()
        texts.setSpacing(2)
        texts.addWidget(self.words)
        texts.addWidget(self.hint)
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        buttons.addWidget(self.go_on)
        buttons.addWidget(self.retry)
        buttons.addWidget(self.settings)
        buttons.addStretch(1)
        self._buttons = QWidget()
        self._buttons.setLayout(buttons)
        buttons.setContentsMargins(0, 4, 0, 0)
        texts.addWidget(self._buttons)
        self.frame = QFrame()
        self._around = QVBoxLayout(self)
        self._around.setContentsMargins(0, 0, 0, 0)
        self._around.addWidget(self.frame)
        row = self._row = QHBoxLayout(self.frame)
        row.setContentsMargins(*_AS_LINE)
        row.setSpacing(8)
        mark = QVBoxLayout()
        mark.setContentsMargins(0, 3, 0, 0)
        mark.addWidget(self.icon)
        mark.addStretch(1)
        row.addLayout(mark)
        row.addLayout(texts, 1)
        self.hide()

    def show_turn(self, turn: TurnView, *, last: bool) -> None:
        """The acts are there on the newest turn only: an older one is history."""
        run = turn.run
        if run is None or turn.open_run or (run.state is RunState.COMPLETED and not turn.cut):
            self.hide()
            return
        self._run_id = run.id
        icon, color, tone, words, hint = _words(self._ctx, run, at_limit=turn.at_limit)
        restyle(self.frame, "role", "card" if turn.at_limit else "")
        self._around.setContentsMargins(0, _ABOVE_CARD if turn.at_limit else 0, 0, 0)
        self._row.setContentsMargins(*(_AS_CARD if turn.at_limit else _AS_LINE))
        self.icon.set_icon(icon, color)
        self.words.setText(words)
        self.words.set_tone(tone)
        self.hint.setText(hint)
        self.hint.setVisible(bool(hint))
        self.setAccessibleName(f"{words} {hint}".strip())
        self.go_on.setVisible(turn.cut and bool(turn.answers))
        self.retry.setVisible(run.state is not RunState.COMPLETED and not turn.at_limit)
        code = run.problem.code if run.problem else ""
        self.settings.setVisible(code in _PROVIDER_CODES)
        self._buttons.setVisible(last)
        self.set_busy(False)
        self.show()

    def set_busy(self, busy: bool) -> None:
        self.go_on.setEnabled(not busy)
        self.retry.setEnabled(not busy)

    def _continue(self) -> None:
        self.set_busy(True)
        self._acts.continue_run.emit(self._run_id)

    def _retry(self) -> None:
        self.set_busy(True)
        self._acts.retry.emit(self._run_id)

    def _settings(self) -> None:
        self._acts.open_settings.emit("providers")


def _words(ctx: UiContext, run: Run, *, at_limit: bool) -> tuple[str, str, str, str, str]:
    """Icon, its colour, the words' tone, the sentence, the hint."""
    t = ctx.t
    problem = run.problem
    if run.state is RunState.FAILED and problem is not None:
        params = dict(problem.params or {})
        icon, color, tone = ("pause", "warning", "") if at_limit else ("warning", "danger", "danger")
        return icon, color, tone, t(problem.message, **params), t(problem.hint, **params)
    if run.state is RunState.FAILED:
        return "warning", "danger", "danger", t("The answer failed."), ""
    if run.state is RunState.INTERRUPTED:
        return "circle", "text-faint", "faint", t("DevFlow closed before this answer was complete."), ""
    return "circle", "text-faint", "faint", t("Stopped. The text so far is kept."), ""
