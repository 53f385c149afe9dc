"""What the chat says in the status line: the newest lookup, and what the run does."""

from __future__ import annotations

import time

from PySide6.QtCore import QObject, QTimer

from devflow.domain.conversation import MessageState
from devflow.domain.run import RunState
from devflow.domain.tokens import MARGIN, estimate_tokens
from devflow.ui.context import UiContext
from devflow.ui.pages.chat.turn_views import TurnView, lookup_words

_EVERY_MS = 500


class ChatStatus(QObject):
    """`rate` counts what streams; it is shown twice a second while it does."""

    def __init__(self, ctx: UiContext, parent: QObject) -> None:
        super().__init__(parent)
        self._ctx = ctx
        self._turn: TurnView | None = None
        self._tokens = 0.0
        self._since = 0.0
        self._said: dict[str, tuple[str, str, str]] = {}
        self._clock = QTimer(self)
        self._clock.setInterval(_EVERY_MS)
        self._clock.timeout.connect(self._say_run)

    def show_turn(self, turn: TurnView | None) -> None:
        self._turn = turn
        streaming = turn is not None and turn.working
        if streaming and not self._clock.isActive():
            self._clock.start()
        if not streaming:
            self._clock.stop()
            self._tokens, self._since = 0.0, 0.0
        self._say_lookup()
        self._say_run()

    def arrived(self, text: str) -> None:
        """Streamed text of the open conversation."""
        if not self._since:
            self._since = time.monotonic()
        self._tokens += estimate_tokens(text) / MARGIN

    def _say_lookup(self) -> None:
        t = self._ctx.t
        words = lookup_words(self._turn) if self._turn is not None else None
        state = words.state if words is not None else "hidden"
        match state:
            case "found":
                found = words.entries + words.pages if words is not None else 0
                text = t.n("Retrieval: {count} source", "Retrieval: {count} sources", found)
                self._say("retrieval", "check", text, "good")
            case "searching" | "searching_pages":
                self._say("retrieval", "half-disc", t("Retrieval: searching"), "busy")
            case "nothing" | "nothing_pages":
                self._say("retrieval", "circle", t("Retrieval: nothing found"), "")
            case "failed":
                self._say("retrieval", "warning", t("Retrieval failed"), "trouble")
            case "off" | "off_here":
                self._say("retrieval", "circle", t("Retrieval: off"), "")
            case _:
                self._say("retrieval", "", "", "")

    def _say_run(self) -> None:
        t = self._ctx.t
        turn = self._turn
        if turn is None or turn.run is None:
            self._say("run", "", "", "")
        elif turn.awaiting:
            count = len(turn.awaiting)
            self._say("run", "pause", t.n("Waiting for approval", "Waiting for {count} approvals", count), "trouble")
        elif turn.run.state is RunState.EXECUTING:
            self._say("run", "half-disc", t("Running a tool"), "busy")
        elif turn.working:
            self._say("run", "half-disc", self._replying(turn), "busy")
        elif turn.at_limit:
            self._say("run", "pause", t("Stopped at a limit"), "trouble")
        elif turn.run.state is RunState.FAILED:
            self._say("run", "warning", t("The answer failed"), "trouble")
        else:
            self._say("run", "", "", "")

    def _replying(self, turn: TurnView) -> str:
        t = self._ctx.t
        streaming = bool(turn.answers) and turn.answers[-1].message.state is MessageState.STREAMING
        seconds = time.monotonic() - self._since if self._since else 0.0
        if streaming and seconds > 1:
            return t("Replying · {rate} tokens/s", rate=round(self._tokens / seconds))
        return t("Replying")

    def _say(self, key: str, icon: str, text: str, tone: str) -> None:
        """Only what is new: the status line announces itself to assistive tools."""
        if self._said.get(key) != (icon, text, tone):
            self._said[key] = (icon, text, tone)
            self._ctx.shell.set_status(key, icon, text, tone, "chat")
