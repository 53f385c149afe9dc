"""Whether a window can open here: without a display Qt ends the process itself, in words for programmers."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Mapping

from devflow.domain.errors import Refused
from devflow.domain.messages import N_

WHAT_TO_DO = N_(
    "Start DevFlow on a desktop or set DISPLAY; `devflow ask` and the other commands work without a display."
)


def check_display(environ: Mapping[str, str]) -> None:
    """Raise Refused where Qt would find no X display. Other window systems are Qt's to judge."""
    if sys.platform != "linux" or not _means_x(environ):
        return
    name = environ.get("DISPLAY", "")
    if not name:
        raise Refused(N_("No window can open: there is no display."), WHAT_TO_DO)
    if not _opens(name):
        raise Refused(N_('No window can open: the display "{display}" does not answer.'), WHAT_TO_DO, display=name)


def _means_x(environ: Mapping[str, str]) -> bool:
    if chosen := environ.get("QT_QPA_PLATFORM"):
        return chosen.partition(":")[0] == "xcb"
    return not environ.get("WAYLAND_DISPLAY") and environ.get("XDG_SESSION_TYPE") != "wayland"


def _opens(display: str) -> bool:
    """Ask as Qt will, so that places, ports and permissions are judged alike; without the library Qt has the word."""
    try:
        xcb = ctypes.CDLL("libxcb.so.1")
    except OSError:
        return True
    xcb.xcb_connect.restype = ctypes.c_void_p
    connection = ctypes.c_void_p(xcb.xcb_connect(display.encode(errors="surrogateescape"), None))
    try:
        return int(xcb.xcb_connection_has_error(connection)) == 0
    finally:
        xcb.xcb_disconnect(connection)
