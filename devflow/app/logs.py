"""The log file: `logs/devflow.log`, readable by its owner alone, kept to a few megabytes."""

from __future__ import annotations

import contextlib
import logging
import logging.handlers
import os
import sys
from collections.abc import Callable

from devflow.app.paths import AppPaths

LOG_FILE = "devflow.log"
SIZE = 2_000_000
KEPT = 3
FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"


class _PrivateFile(logging.handlers.RotatingFileHandler):
    """One that cannot be written says so once, and stops nothing."""

    _said = False

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  # logging's name
        error = sys.exc_info()[1]
        if not isinstance(error, OSError):
            super().handleError(record)
        elif not self._said and sys.stderr is not None:
            self._said = True
            with contextlib.suppress(OSError):
                sys.stderr.write(f"devflow: no log is kept in {self.baseFilename}: {error.strerror or error}\n")

    def _open(self):  # type: ignore[no-untyped-def]
        os.close(os.open(self.baseFilename, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600))
        return super()._open()


def set_up(paths: AppPaths, *, verbose: int = 0) -> Callable[[], None]:
    """Log to the file; with `verbose` 1 (2: everything) to standard error as well. The result takes it all back."""
    level = logging.DEBUG if verbose > 1 else logging.INFO
    root = logging.getLogger()
    root.setLevel(level)
    file = _PrivateFile(paths.logs / LOG_FILE, maxBytes=SIZE, backupCount=KEPT, encoding="utf-8", delay=True)
    file.setFormatter(logging.Formatter(FORMAT))
    handlers: list[logging.Handler] = [file]
    if verbose:
        screen = logging.StreamHandler(sys.stderr)
        screen.setFormatter(logging.Formatter("%(levelname)s %(name)s: %(message)s"))
        handlers.append(screen)
    for handler in handlers:
        root.addHandler(handler)
    for talkative in ("httpx", "httpcore", "markdown_it", "asyncio", "alembic.runtime.plugins"):
        logging.getLogger(talkative).setLevel(max(level, logging.WARNING))

    def take_back() -> None:
        for handler in handlers:
            root.removeHandler(handler)
            handler.close()

    return take_back
