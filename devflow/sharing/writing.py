"""An exported file: all of it or nothing, and what stood there before stays until all of it is written."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Callable
from pathlib import Path

from devflow.domain.errors import UserFacing
from devflow.domain.messages import N_


class NotExported(UserFacing):
    """The file cannot be written; what was there is as it was."""

    code = "not_exported"


def write_whole(target: Path, write: Callable[[Path], object]) -> None:
    """Let `write` fill a new file beside `target`, then put it in its place. Blocks; raises NotExported."""
    new = target.with_name(f".devflow-{secrets.token_hex(6)}.part")
    try:
        write(new)
        with new.open("rb+") as file:
            os.fsync(file.fileno())
        new.replace(target)
    except OSError as error:
        raise NotExported(
            N_("The file {path} cannot be written: {reason}."),
            N_("Choose another folder, or free some space."),
            path=target,
            reason=error.strerror or str(error),
        ) from error
    finally:
        with contextlib.suppress(OSError):
            new.unlink(missing_ok=True)


def write_text(target: Path, text: str) -> None:
    """UTF-8, with `\\n` at line ends."""
    write_whole(target, lambda new: new.write_bytes(text.encode("utf-8", "replace")))
