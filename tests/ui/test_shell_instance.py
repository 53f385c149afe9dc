"""One window for each home: a second start raises the first; a dead one is no obstacle."""

import signal
import subprocess
import sys
from pathlib import Path

from PySide6.QtWidgets import QApplication

from devflow.app.desktop_instance import OnlyOne
from tests.support.waiting import emission


async def test_a_second_start_raises_the_first_and_ends(qapp: QApplication, tmp_path: Path) -> None:
    first, second = OnlyOne(tmp_path), OnlyOne(tmp_path)
    assert first.claim()
    answers: list[bool] = []
    await emission(first.raised, lambda: answers.append(second.claim()))
    assert answers == [False]
    first.release()


async def test_two_homes_have_a_window_each(qapp: QApplication, tmp_path: Path) -> None:
    one, other = OnlyOne(tmp_path / "a"), OnlyOne(tmp_path / "b")
    assert one.claim()
    assert other.claim()
    one.release()
    other.release()


def test_the_socket_of_a_killed_process_does_not_block(qapp: QApplication, tmp_path: Path) -> None:
    program = (
        "import sys\n"
        "from pathlib import Path\n"
        "from PySide6.QtCore import QCoreApplication\n"
        "from devflow.app.desktop_instance import OnlyOne\n"
        "app = QCoreApplication([])\n"
        "one = OnlyOne(Path(sys.argv[1]))\n"
        "print(one.claim(), flush=True)\n"
        "app.exec()\n"
    )
    process = subprocess.Popen([sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline().strip() == "True"
    process.send_signal(signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM)
    process.wait(timeout=10)
    process.stdout.close()

    later = OnlyOne(tmp_path)
    assert later.claim()
    later.release()
