"""A time in milliseconds, shown and typed in seconds."""

from __future__ import annotations

import re

from PySide6.QtCore import Qt
from PySide6.QtGui import QValidator, QWheelEvent
from PySide6.QtWidgets import QSpinBox

from devflow.domain.config import IDLE_TIMEOUT_RANGE_MS
from devflow.ui.look import Look
from devflow.ui.widgets.fields import SPIN_MARGINS

_TYPED = re.compile(r"\s*(\d+(?:[.,]\d*)?|[.,]\d+)\s*(\D*)\s*")
_UNITS_MS = {
    **dict.fromkeys(("", "s", "sec", "秒"), 1_000),
    **dict.fromkeys(("ms", "毫秒"), 1),
    **dict.fromkeys(("min", "m", "分", "分钟"), 60_000),
}
_STEPS = ((5_000, 500), (30_000, 1_000), (120_000, 5_000), (600_000, 30_000))


class IdleBox(QSpinBox):
    """`value()` is in milliseconds; the human sees and types seconds, with decimals: `1.5 s`.

    `1500 ms` and `2 min` are understood too. The steps grow with the time.
    """

    def __init__(self, look: Look, name: str) -> None:
        super().__init__()
        self._unit = look.t.p("unit", "s")
        self.setAccessibleName(name)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCorrectionMode(QSpinBox.CorrectionMode.CorrectToNearestValue)
        self.setRange(*IDLE_TIMEOUT_RANGE_MS)
        self.setSuffix(f" {self._unit}")
        self.lineEdit().setTextMargins(*SPIN_MARGINS)

    def textFromValue(self, value: int) -> str:
        return f"{value / 1000:.3f}".rstrip("0").rstrip(".")

    def valueFromText(self, text: str) -> int:
        found = self._read(text)
        return self.value() if found is None else found

    def validate(self, text: str, pos: int) -> tuple[QValidator.State, str, int]:
        found = self._read(text)
        fits = found is not None and self.minimum() <= found <= self.maximum()
        state = QValidator.State.Acceptable if fits else QValidator.State.Intermediate
        return state, text, pos

    def stepBy(self, steps: int) -> None:
        now = self.value() - (1 if steps < 0 else 0)
        step = next((step for below, step in _STEPS if now < below), 60_000)
        # onto the next multiple, so that 31 s steps to 35 s
        place = self.value() // step if steps > 0 else -(-self.value() // step)
        self.setValue((place + steps) * step)

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()

    def _read(self, text: str) -> int | None:
        typed = _TYPED.fullmatch(text)
        unit = None if typed is None else _UNITS_MS.get(self._own(typed[2].strip().lower()))
        if typed is None or unit is None:
            return None
        return round(float(typed[1].replace(",", ".")) * unit)

    def _own(self, unit: str) -> str:
        """The suffix stays behind what is typed before it: `1500 ms s` means milliseconds."""
        return unit.removesuffix(self._unit).strip() or ""
