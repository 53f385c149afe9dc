"""What every test stands on: an own home, no network, no unexpected warning, and a Qt loop where Qt is tested.

* `tests/ui` and `tests/e2e`: an `async def test_…` runs on a qasync `QEventLoop`, so that widgets work while the test
  awaits. Everywhere else it runs on asyncio's own loop, and no Qt is imported.
* A log record of level WARNING or above fails the test, unless it is marked `@pytest.mark.expects_log`.
* A socket that leaves the machine fails the test.
"""

import asyncio
import faulthandler
import functools
import ipaddress
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.display import virtual_display

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication

# Before anything imports Qt. `dev.py shots` and tests marked `display` choose another platform in their own process.
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
# No test may find the settings, the skills, the language or the keychain of the person who runs it.
os.environ.pop("DEVFLOW_HOME", None)
os.environ["DEVFLOW_SHARED_SKILLS"] = ""
os.environ["LANGUAGE"] = "en"
os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.null.Keyring"

# A shell that starts the tests in the background has them ignore it, and every program that a test starts and
# interrupts would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

TESTS = Path(__file__).parent
ON_THE_QT_LOOP = (TESTS / "ui", TESTS / "e2e")


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Let a crash tell the stack of its own thread only: the others' are long, and a shortened log loses the one."""
    assert sys.__stderr__ is not None
    faulthandler.enable(file=os.dup(sys.__stderr__.fileno()), all_threads=False)


def pytest_asyncio_loop_factories(
    config: pytest.Config, item: pytest.Item
) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    """Choose the event loop of an async test by the folder it stands in (hook of pytest-asyncio)."""
    if any(item.path.is_relative_to(folder) for folder in ON_THE_QT_LOOP):
        return {"qasync": _qt_loop}
    return {"asyncio": asyncio.new_event_loop}


def _qt_loop() -> asyncio.AbstractEventLoop:
    from tests.support.qt_loop import PatientLoop

    return PatientLoop(_application())


@functools.cache
def _application() -> "QApplication":
    """The one QApplication of the process; pytest-qt's `qapp` finds it and uses it too."""
    from PySide6.QtWidgets import QApplication

    return QApplication.instance() or QApplication(["devflow-tests"])  # type: ignore[return-value]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests of a virtual display where there is no such thing."""
    if sys.platform == "linux":
        return
    elsewhere = [item for item in items if item.get_closest_marker("display")]
    config.hook.pytest_deselected(items=elsewhere)
    items[:] = [item for item in items if item not in elsewhere]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """An empty folder for `--home`: database, keys and logs of one test."""
    return tmp_path / "home"


@pytest.fixture(scope="session")
def display() -> Iterator[str]:
    """The name of a virtual display, for programs that a test starts with a real window (mark it `display`)."""
    with virtual_display() as name:
        yield name


@pytest.fixture(autouse=True)
def _no_unexpected_log(request: pytest.FixtureRequest, caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Fail on a log record of level WARNING or above that the test did not announce."""
    yield
    if request.node.get_closest_marker("expects_log"):
        return
    records = [
        record
        for phase in ("setup", "call", "teardown")  # a task that is still pending is told when the loop closes
        for record in caplog.get_records(phase)
        if record.levelno >= logging.WARNING
    ]
    if records:
        said = "\n".join(f"  {record.levelname} {record.name}: {record.getMessage()}" for record in records)
        pytest.fail(f"unexpected log records:\n{said}", pytrace=False)


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Deny every connection that would leave the machine; loopback and local sockets stay open."""
    real_connect, real_connect_ex, real_lookup = socket.socket.connect, socket.socket.connect_ex, socket.getaddrinfo

    def connect(self: socket.socket, address: Any) -> None:
        _refuse_unless_local(self, address)
        real_connect(self, address)

    def connect_ex(self: socket.socket, address: Any) -> int:
        _refuse_unless_local(self, address)
        return real_connect_ex(self, address)

    def getaddrinfo(host: Any, *arguments: Any, **options: Any) -> Any:
        _refuse_unless_loopback(host)
        return real_lookup(host, *arguments, **options)

    monkeypatch.setattr(socket.socket, "connect", connect)
    monkeypatch.setattr(socket.socket, "connect_ex", connect_ex)
    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)


def _refuse_unless_local(connecting: socket.socket, address: Any) -> None:
    if connecting.family in (socket.AF_INET, socket.AF_INET6):
        _refuse_unless_loopback(address[0])


def _refuse_unless_loopback(host: Any) -> None:
    name = host.decode() if isinstance(host, bytes) else str(host or "localhost")
    if name == "localhost":
        return
    try:
        if ipaddress.ip_address(name.partition("%")[0]).is_loopback:
            return
    except ValueError:
        pass  # a name: only a resolver on the network would know it
    raise PermissionError(f"a test tried to reach {name}: only loopback is allowed")
