"""What of a conversation no longer fits into the model's window: a line under the question, and words for the meter."""

from __future__ import annotations

from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from devflow.domain.messages import Translator
from devflow.domain.request import Measure
from devflow.ui.context import UiContext
from devflow.ui.pages.chat.lines import Line


def left_out_words(t: Translator, measure: Measure | None) -> str:
    """Empty where everything was sent."""
    if measure is None or not (measure.trimmed or measure.shortened or measure.without_tools):
        return ""
    older = t.n(
        "{count} older message no longer fits the model's window and is left out",
        "{count} older messages no longer fit the model's window and are left out",
        measure.trimmed,
    )
    long = t.n(
        "{count} long output is shortened to fit",
        "{count} long outputs are shortened to fit",
        measure.shortened,
    )
    tools = t.n(
        "{count} tool has no room in the model's window and is not offered",
        "{count} tools have no room in the model's window and are not offered",
        measure.without_tools,
    )
    parts = ((older, measure.trimmed), (long, measure.shortened), (tools, measure.without_tools))
    return " · ".join(words for words, count in parts if count)


class LeftOutLine(Line):
    """Words only, in the transcript: the answer below was given without what they name."""

    def __init__(self, ctx: UiContext, parent: QWidget | None = None) -> None:
        super().__init__(ctx, parent)
        self.setObjectName("leftOutLine")
        self.set_inert(True)
        self.hide()

    def show_measure(self, measure: Measure | None) -> None:
        words = left_out_words(self._ctx.t, measure)
        self.setText(words)
        self.setAccessibleName(words)
        self.setToolTip(self._ctx.t("The system prompt, the knowledge and your message are always sent whole"))
        self.setVisible(bool(words))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        self.paint_icon(painter, 0, "info", "text-faint", 14)
        self.paint_words(painter, 20, self.text(), "small", "text-muted", self.width())
