"""A call that cannot be done as asked. The sentence is for the model, in English; it is stored with the call."""

from __future__ import annotations

from devflow.domain.errors import UserFacing


class ToolRefused(UserFacing):
    """`reason` is whole and final: it may quote file names, so nothing in it is a placeholder."""

    code = "tool_refused"

    def __init__(self, reason: str) -> None:
        super().__init__("{reason}", reason=reason)
