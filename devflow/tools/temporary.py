"""Names of the files that are written beside a file before they take its place, and which of them nobody needs."""

from __future__ import annotations

import os
import re
import secrets
import time

LEFT_S = 3_600
"""A write takes a moment: a temporary file so old belongs to a process that was killed."""

_NAME = re.compile(r"\.devflow-[0-9a-f]{16}\.tmp", re.ASCII)


def temporary_name() -> str:
    return f".devflow-{secrets.token_hex(8)}.tmp"


def is_temporary(name: str) -> bool:
    return _NAME.fullmatch(name) is not None


def is_left(status: os.stat_result) -> bool:
    """Whether a killed process left it."""
    return time.time() - status.st_mtime > LEFT_S
