"""A window on a real window system: the libraries of Qt's xcb platform are all there."""

import os
import subprocess
import sys

import pytest

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
