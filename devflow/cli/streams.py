"""The three standard streams, as hostile as they come: closed, full, endless, of another encoding, a terminal."""

from __future__ import annotations

import os
import sys
from typing import TextIO

from devflow.domain.errors import InvalidInput, Refused, UserFacing
from devflow.domain.messages import N_
from devflow.domain.text.hidden import hidden_characters


class OutputFailed(UserFacing):
    """What was asked for could not be written."""

    code = "output"


def open_streams() -> tuple[TextIO, TextIO]:
    """Standard output and error, in UTF-8 whatever the locale; a path that is not UTF-8 goes out as the bytes it is.

    One that is closed leads nowhere. Its descriptor is taken, or the next file that is opened, the database, would get
    it and whatever else is printed.
    """
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    if sys.stdout is None:
        sys.stdout = _nowhere()
    if sys.stderr is None:
        sys.stderr = _nowhere()
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="surrogateescape")
    return sys.stdout, sys.stderr


def speak_utf8_to_the_system() -> None:
    """Start again in Python's UTF-8 mode where names of files have another encoding: people type them in UTF-8.

    Only a locale of the last century, or `PYTHONUTF8=0`, leads here. Never returns then.
    """
    if os.name != "posix" or sys.flags.utf8_mode or getattr(sys, "frozen", False):
        return
    if sys.getfilesystemencoding().lower().replace("-", "") != "utf8":
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])  # noqa: S606  # ourselves


def write(stream: TextIO, text: str) -> None:
    """Write; raises `BrokenPipeError` where the reader has gone, and `OutputFailed` where the disk refuses."""
    try:
        stream.write(text)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise output_failed(error) from error
    except UnicodeEncodeError:  # half of a surrogate pair, which no file name holds
        stream.write(text.encode("utf-8", "replace").decode())


def output_failed(error: OSError) -> OutputFailed:
    return OutputFailed(
        N_("The output cannot be written: {reason}."),
        N_("What the command does is done; only what it prints is lost."),
        reason=error.strerror or error,
    )


def let_go(stream: TextIO) -> None:
    """What still waits to be written goes nowhere, so that the end of the process does not try once more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def read_stdin(limit: int, field: str) -> bytes:
    """Standard input to its end; raises `InvalidInput` on `field` for more than `limit` bytes: it may never end."""
    if sys.stdin is None:
        raise Refused(N_("Standard input is closed."), N_("Pipe the text in, or give it as an option."))
    return within(sys.stdin.buffer.read(limit + 1), limit, field)


def within(data: bytes, limit: int, field: str) -> bytes:
    if len(data) > limit:
        raise InvalidInput(
            field,
            N_("The text is longer than {limit} bytes."),
            N_("Shorten it, or split it."),
            limit=f"{limit:,}",
        )
    return data


def for_terminal(text: str, stream: TextIO) -> str:
    """On a terminal, hidden characters by their numbers: foreign text must not move the cursor or fill a clipboard."""
    if not stream.isatty():
        return text
    pieces: list[str] = []
    at = 0
    for hidden in hidden_characters(text):
        pieces += (text[at : hidden.start], f"<U+{ord(hidden.char):04X}>")
        at = hidden.start + 1
    return "".join((*pieces, text[at:])).replace("\r", "<U+000D>")


def _nowhere() -> TextIO:
    return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123  # for the life of the process
