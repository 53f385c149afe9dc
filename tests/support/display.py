"""A virtual display for the few tests that need a real window system."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def virtual_display(size: str = "1600x1200x24") -> Iterator[str]:
    """Start Xvfb on a free display number, yield its name (`:7`), end it.

    For a program started in a process of its own with `DISPLAY` set to the name and `QT_QPA_PLATFORM=xcb`; this
    process's Qt stays offscreen. Raises FileNotFoundError where there is no Xvfb (`dev.py test` installs it).
    """
    xvfb = shutil.which("Xvfb")
    if xvfb is None:
        raise FileNotFoundError("Xvfb is not installed")
    reading, writing = os.pipe()
    command = [xvfb, "-displayfd", str(writing), "-screen", "0", size, "-nolisten", "tcp"]
    server = subprocess.Popen(command, pass_fds=[writing], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.close(writing)
    try:
        with os.fdopen(reading) as answer:
            number = answer.readline().strip()  # comes once the server accepts connections; empty if it died
        if not number:
            raise RuntimeError("Xvfb did not start")
        yield f":{number}"
    finally:
        server.terminate()
        server.wait(timeout=10)
