"""When to try again without asking: only before the first token, only what may pass by itself, and never for long."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from devflow.providers.failures import Unreachable, WireFailure

LONGEST_WAIT = 60.0  # seconds; a server that wants more gets its words shown instead


@dataclass(frozen=True, slots=True)
class Retry:
    """Full jitter: the n-th pause is a random part of `base * 2**n`, at most `cap`, in seconds."""

    tries: int = 3
    base: float = 0.5
    cap: float = 8.0
    random: Callable[[], float] = random.random

    def pause(self, failed: int, failure: WireFailure, *, loopback: bool) -> float | None:
        """Seconds to wait before the next try after `failed` failed ones (from 1), or None to give up.

        This machine's own server is tried once more at once (a pooled connection may be stale): if nobody listens
        there, waiting does not help, and the user should know.
        """
        if not failure.transient or failed > self.tries:
            return None
        if failure.retry_after is not None:
            return failure.retry_after if failure.retry_after <= LONGEST_WAIT else None
        if loopback and isinstance(failure, Unreachable):
            return 0.0 if failed == 1 else None
        return self.random() * min(self.cap, self.base * 2.0 ** (failed - 1))


def retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Seconds from `Retry-After` (a number or a date) or `retry-after-ms`; None where there is none to read."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        text = headers.get(name, "").strip()
        if not text:
            continue
        try:
            seconds: float = float(text) * unit
        except ValueError:
            pass
        else:
            return None if math.isnan(seconds) else max(0.0, seconds)
        try:
            at = parsedate_to_datetime(text)
        except ValueError:
            continue
        if at.tzinfo is None:
            at = at.replace(tzinfo=UTC)
        return max(0.0, (at - (now or datetime.now(UTC))).total_seconds())
    return None
