"""The text of a file that is to be digested: `.md .txt .html .pdf .docx` (spec 02, Batch digest).

Plain texts are decoded here. The other formats are read in a process of its own (`extracting`): what hangs, needs too
much memory or breaks in a library harms one file alone, the window never stutters, and nothing of it is loaded here.
Everything blocks: call it on a thread.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import stat
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

from devflow.digest.limits import BYTES_MAX, SECONDS_MAX, TEXT_MAX
from devflow.domain.errors import UserFacing
from devflow.domain.foreign_json import loads
from devflow.domain.messages import N_
from devflow.wiki.decoding import decode
from devflow.wiki.founding import SOURCES

log = logging.getLogger(__name__)

PLAIN = (".md", ".txt")
_MODULE = "devflow.digest.extracting"
_READING = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
"""Not blocking: a FIFO without a writer would hold up the batch for ever."""


class Unreadable(UserFacing):
    """The file cannot be digested; the batch goes on."""

    code = "unreadable_source"


@dataclass(frozen=True, slots=True)
class Raw:
    """A file as it was read once: what is hashed is what is digested."""

    path: Path
    data: bytes

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.data).hexdigest()


class Stop:
    """Ends a reading from another thread."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._stopped = False
        self._guard = threading.Lock()

    def stop(self) -> None:
        with self._guard:
            self._stopped = True
            if self._process is not None:
                self._process.kill()

    def watch(self, process: subprocess.Popen[bytes]) -> None:
        with self._guard:
            self._process = process
            if self._stopped:
                process.kill()


def read_raw(path: Path) -> Raw:
    """The file's bytes; raises `Unreadable` for what is missing, no regular file, too large, or of another kind."""
    name = path.name
    if path.suffix.lower() not in SOURCES:
        raise Unreadable(
            N_("{name} is of a kind that cannot be read."),
            N_("Kinds that can: .md, .txt, .html, .pdf, .docx."),
            name=name,
        )
    try:
        with os.fdopen(os.open(path, _READING), "rb") as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                raise Unreadable(N_("{name} is no regular file."), N_("Choose files, or a folder of them."), name=name)
            if found.st_size > BYTES_MAX:
                raise _too_large(name)
            data = file.read(BYTES_MAX + 1)
    except OSError as error:
        raise Unreadable(
            N_("{name} cannot be read: {reason}."),
            N_("Check that it is there and that you may read it."),
            name=name,
            reason=error.strerror or str(error),
        ) from error
    if len(data) > BYTES_MAX:
        raise _too_large(name)
    return Raw(path, data)


def text_of(raw: Raw, stop: Stop | None = None, *, seconds: float = SECONDS_MAX) -> str:
    """The file's text as Markdown; raises `Unreadable`."""
    suffix, name = raw.path.suffix.lower(), raw.path.name
    if suffix in PLAIN:
        text = decode(raw.data)
        if text is None:
            raise _no_encoding(name)
    else:
        text = _extracted(raw, suffix, stop or Stop(), seconds)
    text = text.strip("\n\r\f \t")
    if not text:
        raise _empty(name, suffix)
    if len(text) > TEXT_MAX:
        raise Unreadable(
            N_("{name} has more text than can be digested: {count} characters, at most {limit}."),
            N_("Split it into smaller files."),
            name=name,
            count=f"{len(text):,}",
            limit=f"{TEXT_MAX:,}",
        )
    return text


def _extracted(raw: Raw, suffix: str, stop: Stop, seconds: float) -> str:
    name = raw.path.name
    process = subprocess.Popen(
        [sys.executable, "-m", _MODULE, suffix],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONWARNINGS": "ignore", "PYTHONIOENCODING": "utf-8"},
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
    )
    stop.watch(process)
    with process:
        try:
            out, _ = process.communicate(raw.data, timeout=seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise Unreadable(
                N_("{name} took longer than {seconds} seconds to read."),
                N_("Save its text as .md or .txt and digest that."),
                name=name,
                seconds=f"{seconds:g}",
            ) from None
        except BaseException:
            process.kill()
            raise
    answer = None
    with contextlib.suppress(ValueError):
        answer = loads(out)
    if not isinstance(answer, dict):
        log.info("the reader of %s ended without an answer", name)
        raise _broken(name)
    text, why = answer.get("text"), answer.get("why")
    if isinstance(text, str):
        return text
    raise _refused(name, suffix, str(why), str(answer.get("detail", "")))


def _refused(name: str, suffix: str, why: str, detail: str) -> Unreadable:
    match why:
        case "encrypted":
            return Unreadable(
                N_("{name} is protected by a password."), N_("Save a copy without the password first."), name=name
            )
        case "empty":
            return _empty(name, suffix)
        case "encoding":
            return _no_encoding(name)
        case "too_large":
            return Unreadable(
                N_("{name} is too large once it is unpacked: {detail}."),
                N_("Split it into smaller files."),
                name=name,
                detail=detail,
            )
        case "entities":
            return Unreadable(
                N_("{name} declares entities, which no Word document does."),
                N_("Open it in its own program and save it anew."),
                name=name,
            )
        case _:
            log.info("%s cannot be read: %s", name, detail)
            return _broken(name)


def _broken(name: str) -> Unreadable:
    return Unreadable(
        N_("{name} is damaged, or no such file as its name says."),
        N_("Open it in its own program and save it anew."),
        name=name,
    )


def _empty(name: str, suffix: str) -> Unreadable:
    hint = N_("A scanned PDF holds pictures only; run text recognition (OCR) on it first.") if suffix == ".pdf" else ""
    return Unreadable(N_("{name} has no text that can be extracted."), hint, name=name)


def _no_encoding(name: str) -> Unreadable:
    return Unreadable(
        N_("The encoding of {name} cannot be told."), N_("Save it as UTF-8, then digest it again."), name=name
    )


def _too_large(name: str) -> Unreadable:
    return Unreadable(
        N_("{name} is larger than {limit} MB."),
        N_("Split it into smaller files."),
        name=name,
        limit=BYTES_MAX // 1_000_000,
    )
