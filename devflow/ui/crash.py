"""A bug is told once, calmly; the application goes on."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable, Coroutine
from typing import Any

from devflow.ui.look import Look
from devflow.ui.widgets.dialogs import Dialogs

log = logging.getLogger(__name__)


class CrashReporter:
    """Shows one dialog at a time; what comes meanwhile is in the log only."""

    def __init__(self, look: Look, dialogs: Dialogs, start: Callable[[Coroutine[Any, Any, Any]], object]) -> None:
        self._look = look
        self._dialogs = dialogs
        self._start = start
        self._showing = False

    def report(self, what: str, error: BaseException) -> None:
        """Say that something failed; the details can be copied."""
        if self._showing:
            return
        self._showing = True
        details = "".join(traceback.format_exception(error)).strip()
        self._start(self._show(f"{what}\n\n{details}" if what else details))

    async def _show(self, details: str) -> None:
        t = self._look.t
        try:
            await self._dialogs.tell(
                t("Something in DevFlow failed"),
                t("This is a mistake in the program, not yours. DevFlow goes on; the same details are in its log."),
                details=details,
            )
        finally:
            self._showing = False
