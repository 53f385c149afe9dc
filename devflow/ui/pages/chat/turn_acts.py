"""What a human asks of a turn, said by its widgets and done by the page."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal


class TurnActs(QObject):
    """One for a transcript: every block holds it, the page connects to it."""

    copy = Signal(str)
    save_candidate = Signal(str)
    """A message's id."""
    regenerate = Signal(str)
    resend = Signal(str, str)
    """A user message's id and its new text."""
    branch = Signal(str)
    choose_sibling = Signal(str)
    retry = Signal(str)
    """A run's id."""
    continue_run = Signal(str)
    open_sources = Signal(str)
    """A user message's id: whose turn's sources."""
    open_link = Signal(str)
    open_settings = Signal(str)
    decide = Signal(object, object)
    """The card, and the `Decision`."""
