"""The application's own process, with a witness in it: `python -m tests.benchmarks.start_probe HOME STARTED [ASK]`.

Starts the window as `devflow --home HOME` does. Once it is shown, a letter is typed into the composer; the window is
interactive when that letter has been painted. Prints one JSON object and closes the window as a human does. STARTED is
the parent's `time.monotonic()` from before the process was made. With ASK the question is sent, and the window closed
in the middle of the answer.

Nothing is imported here that the application imports: in which order it does so is part of what is measured. A timer of
the system looks for the application's object and puts the witness beside it.
"""

from __future__ import annotations

import signal
import sys
import time

STARTED = float(sys.argv[2])
HOME = sys.argv[1]
ASK = sys.argv[3] if len(sys.argv) > 3 else ""
LOOK_S = 0.002


def look(*_signal: object) -> None:
    """Runs on the main thread, between two instructions of whatever it does."""
    widgets = sys.modules.get("PySide6.QtWidgets")
    if widgets is not None and getattr(widgets, "QApplication", None) is not None:
        if widgets.QApplication.instance() is not None:
            signal.setitimer(signal.ITIMER_REAL, 0)
            from tests.benchmarks.witness import Witness

            kept.append(Witness(STARTED, ASK))


kept: list[object] = []


def main() -> int:
    signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, LOOK_S, LOOK_S)
    from devflow.cli import main as devflow

    return devflow(["--home", HOME])


if __name__ == "__main__":
    sys.exit(main())
