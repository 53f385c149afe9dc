"""The log of lookups in knowledge bases: a line of JSON each, a file a day (seed §5.7, spec 02, Log).

A line is written when its answer is complete, so that it says what the answer did with the pages; what is still open
when the program ends is written without that. A log that cannot be written never disturbs a turn.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

log = logging.getLogger(__name__)

KEPT = timedelta(days=30)
PREVIEW_CHARS = 120


class Journal:
    """`folder` holds the files; it is made with the first line."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._open: dict[str, dict[str, Any]] = {}
        self._lock = threading.Lock()
        self._day: date | None = None

    def begin(self, run_id: str, line: Mapping[str, Any]) -> None:
        """A lookup for that run; the run's last one, if it is still open, has had its answer."""
        self.end(run_id)
        with self._lock:
            self._open[run_id] = dict(line)

    def is_open(self, run_id: str) -> bool:
        with self._lock:
            return run_id in self._open

    def end(self, run_id: str, **answer: Any) -> None:
        """Write the run's open line, with what its answer did."""
        with self._lock:
            line = self._open.pop(run_id, None)
            if line is not None:
                self._write({**line, **answer})

    def write(self, line: Mapping[str, Any]) -> None:
        """A line that no answer will complete."""
        with self._lock:
            self._write(line)

    def close(self) -> None:
        for run_id in tuple(self._open):
            self.end(run_id)

    def _write(self, line: Mapping[str, Any]) -> None:
        at = datetime.fromtimestamp(line["ts"] / 1_000).astimezone()
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            with (self._folder / f"{at:%Y-%m-%d}.jsonl").open("a", encoding="utf-8", newline="\n") as file:
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
            if self._day != at.date():
                self._day = at.date()
                self._drop_old(at.date())
        except OSError as error:
            log.info("the log of lookups cannot be written: %s", error)

    def _drop_old(self, today: date) -> None:
        for file in self._folder.glob("????-??-??.jsonl"):
            try:
                if date.fromisoformat(file.stem) < today - KEPT:
                    file.unlink()
            except ValueError:
                continue


def preview(message: str) -> str:
    """The beginning of a message, on one line."""
    return " ".join(message.split())[:PREVIEW_CHARS]
