"""What using a model teaches about it: how its tokens compare with our estimate, and how small its window really is.

The ratio is kept in the settings group `token_calibration`; it only makes the composer more careful or less so, and is
shown nowhere. A window that a refusal taught holds until this process ends or the server says something else.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from devflow.domain.conversation import ModelChoice
from devflow.knowledge.settings import Settings

GROUP = "token_calibration"
LEAST, MOST = 0.5, 2.0
ENOUGH = 200
"""Estimated tokens; in a shorter request the server's own wrapping weighs too much."""
UP, DOWN = 0.5, 0.1
"""A request that was longer than estimated counts at once, a shorter one slowly: an overflow costs more than room."""
WORTH_WRITING = 0.01
BELIEVED = (0.25, 4.0)
"""A count further off than this is no count of the whole request: some servers leave out what they had cached."""
MODELS_MAX = 200


class Calibration:
    """One for the process; two processes share the ratios."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._windows: dict[ModelChoice, tuple[int | None, int]] = {}

    async def ratio(self, choice: ModelChoice) -> float:
        """The model's own tokens in one estimated token, 0.5 to 2; 1 until something is known."""
        return _ratio_in(await self._settings.get(GROUP), choice)

    async def observe(self, choice: ModelChoice, *, estimated: float, counted: int | None) -> None:
        """Learn from a request of `estimated` tokens for which the server counted `counted`."""
        if counted is None or estimated < ENOUGH or not BELIEVED[0] <= counted / estimated <= BELIEVED[1]:
            return
        before, seen = await self.ratio(choice), _bounded(counted / estimated)
        after = before + (seen - before) * (UP if seen > before else DOWN)
        if abs(after - before) >= WORTH_WRITING:
            await self._write(choice, after)

    async def overflowed(
        self, choice: ModelChoice, *, told: int | None, estimated: float, window: int | None, sent: int | None
    ) -> None:
        """Learn from a refusal: `told` is the window that was believed, `window` and `sent` what the server says."""
        if window is not None and (told is None or window < told):
            self._windows[choice] = (told, window)
        if sent is not None and estimated > 0:
            seen = _bounded(sent / estimated)
            if seen > await self.ratio(choice):
                await self._write(choice, seen)

    def shrink(self, choice: ModelChoice, told: int | None, window: int) -> None:
        """Believe in a smaller window, where the server refuses and says no number."""
        self._windows[choice] = (told, window)

    def window(self, choice: ModelChoice, told: int | None) -> int | None:
        """The window to compose for: the one told, or a smaller one that a refusal taught since."""
        then, learnt = self._windows.get(choice, (None, 0))
        if choice not in self._windows or then != told:
            return told
        return learnt if told is None else min(told, learnt)

    async def _write(self, choice: ModelChoice, ratio: float) -> None:
        def change(value: Any) -> dict[str, Any]:
            known = dict(value) if isinstance(value, Mapping) else {}
            known.pop(_key(choice), None)  # the newest stands last
            known[_key(choice)] = round(ratio, 3)
            return dict(list(known.items())[-MODELS_MAX:])

        await self._settings.modify(GROUP, change)


def _ratio_in(stored: Mapping[str, Any], choice: ModelChoice) -> float:
    value = stored.get(_key(choice))
    return _bounded(float(value)) if isinstance(value, int | float) and not isinstance(value, bool) else 1.0


def _bounded(ratio: float) -> float:
    return min(MOST, max(LEAST, ratio)) if ratio == ratio else 1.0


def _key(choice: ModelChoice) -> str:
    return f"{choice.provider_id}/{choice.model}"
