"""A window on a real window system: the libraries of Qt's xcb platform are all there."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from devflow.app.display import check_display
from devflow.domain.errors import Refused
from tests.support.commands import devflow

PROGRAM = """
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QLabel

app = QApplication([])
label = QLabel("DevFlow")
label.show()
QTimer.singleShot(0, lambda: (print(app.platformName(), label.windowHandle().isVisible()), app.quit()))
app.exec()
"""


@pytest.mark.display
def test_a_window_opens_on_a_virtual_display(display: str) -> None:
    environment = {**os.environ, "DISPLAY": display, "QT_QPA_PLATFORM": "xcb"}
    opened = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert (opened.stdout.strip(), opened.returncode) == ("xcb True", 0), opened.stderr


@pytest.mark.display
@pytest.mark.parametrize(
    "name, why",
    [
        ("", "there is no display."),
        (":9999", 'the display ":9999" does not answer.'),
        ("localhost:9999", 'the display "localhost:9999" does not answer.'),
    ],
)
def test_without_an_answering_display_it_says_what_to_do_instead_of_failing_in_qt(
    home: Path, name: str, why: str
) -> None:
    refused = devflow(home, env={"DISPLAY": name, "WAYLAND_DISPLAY": "", "QT_QPA_PLATFORM": "xcb"})
    assert refused.code == 1
    assert refused.err.startswith(f"devflow: No window can open: {why} Start DevFlow on a desktop or set DISPLAY;")
    assert refused.err.count("\n") == 1


@pytest.mark.display
def test_a_display_that_answers_and_other_window_systems_are_not_refused(display: str) -> None:
    check_display({"DISPLAY": display})
    check_display({"DISPLAY": ":9999", "WAYLAND_DISPLAY": "wayland-0"})
    check_display({"DISPLAY": ":9999", "QT_QPA_PLATFORM": "offscreen"})
    with pytest.raises(Refused):
        check_display({"DISPLAY": ":9999"})
