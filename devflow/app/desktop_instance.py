"""One window per home: the second start asks the first to come forward and ends."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtNetwork import QLocalServer, QLocalSocket

_WAIT_MS = 300
_RAISE = b"raise\n"


class OnlyOne(QObject):
    """`raised` when another start for the same home asked for the window.

    The socket of a killed process is found dead, because nobody answers, and is taken over.
    """

    raised = Signal()

    def __init__(self, home: Path) -> None:
        super().__init__()
        self._name = _name(home)
        self._server: QLocalServer | None = None

    def claim(self) -> bool:
        """True: this process is the one. False: another one was there and was asked to come forward."""
        if self._asked_the_other():
            return False
        server = QLocalServer(self)
        server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        if not server.listen(self._name):
            QLocalServer.removeServer(self._name)
            if not server.listen(self._name):
                return True  # no socket to be had: better a window than none
        server.newConnection.connect(self._connected)
        self._server = server
        return True

    def release(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None

    def _asked_the_other(self) -> bool:
        socket = QLocalSocket()
        socket.connectToServer(self._name)
        if not socket.waitForConnected(_WAIT_MS):
            return False
        socket.write(_RAISE)
        socket.waitForBytesWritten(_WAIT_MS)
        socket.disconnectFromServer()
        return True

    def _connected(self) -> None:
        if self._server is None:
            return
        connection = self._server.nextPendingConnection()
        if connection is not None:
            connection.disconnected.connect(connection.deleteLater)
            self.raised.emit()


def _name(home: Path) -> str:
    """Short (socket paths are limited), and different for every home and user."""
    user = str(os.getuid()) if hasattr(os, "getuid") else os.environ.get("USERNAME", "")
    return "devflow-" + hashlib.sha256(f"{user}\0{home.resolve()}".encode()).hexdigest()[:20]
