"""What must stay whole has no room in the window: said before anything is sent, with what to do (decision 20)."""

from __future__ import annotations

from collections.abc import Sequence

from devflow.domain.errors import UserFacing
from devflow.domain.messages import N_
from devflow.domain.request import ChatMessage, UserText
from devflow.prompt.estimate import tokens_of


class TooLong(UserFacing):
    """The request cannot be made to fit; nothing was sent."""

    code = "too_long"


def too_long(model: str, window: int, ratio: float, room: int, left: Sequence[ChatMessage]) -> TooLong:
    """Name what is to blame: the prompt itself, the user's message, or the newest step. All numbers are estimates.

    `room` is what system prompt and knowledge leave, and `left` what could not be taken away, in estimated
    tokens.
    """
    about: dict[str, object] = {"model": model, "window": f"{window:,}"}
    if room <= 0:
        return TooLong(
            N_("The window of {model} ({window} tokens) is too small for the instructions and the knowledge alone."),
            N_("Choose a model with a larger window."),
            **about,
        )
    asked = sum(tokens_of(message) for message in left if isinstance(message, UserText))
    if asked > room:
        return TooLong(
            N_("The message is too long for {model}: about {tokens} tokens, and there is room for {room}."),
            N_("Shorten it, put it into a file in the project folder, or choose a model with a larger window."),
            **about,
            tokens=f"{int(asked * ratio):,}",
            room=f"{int(room * ratio):,}",
        )
    return TooLong(
        N_("The newest step is too long for the window of {model} ({window} tokens)."),
        N_("Ask for it in smaller parts, or choose a model with a larger window."),
        **about,
    )
