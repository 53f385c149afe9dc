"""Python's cycle collector, kept from pausing the window."""

from __future__ import annotations

import gc

_YOUNG, _MIDDLE, _OLD = 5_000, 20, 50
"""Allocations before a young collection, young ones before a middle one, middle ones before a full one."""


def calm() -> None:
    """Take what start-up made out of every later collection, and have full ones come rarely.

    Modules, classes and the window's widgets live as long as the process, and walking them all takes 100 ms and more
    (measured: the longest stall while an answer streams). Call once, when the window stands; nothing is collected
    first, which would be such a pause itself.
    """
    gc.freeze()
    gc.set_threshold(_YOUNG, _MIDDLE, _OLD)
