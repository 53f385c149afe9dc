"""What has streamed since a message began: kept while it streams, so that leaving and coming back shows it whole."""

from __future__ import annotations

import time
from dataclasses import dataclass

from devflow.domain.events import CallOutput, MessageEnded, MessageStarted, TextArrived


@dataclass(slots=True)
class LiveText:
    """`since` is a monotonic instant in seconds; `characters` counts text and thinking."""

    text: str = ""
    reasoning: str = ""
    since: float = 0.0
    characters: int = 0


class LiveTexts:
    """By message id. A message whose beginning was not seen is not here: its row is all there is.

    Also the newest output of each tool call that runs.
    """

    def __init__(self) -> None:
        self._live: dict[str, LiveText] = {}
        self._outputs: dict[str, CallOutput] = {}

    def started(self, event: MessageStarted) -> None:
        self._live[event.message_id] = LiveText(since=time.monotonic())

    def arrived(self, event: TextArrived) -> LiveText | None:
        live = self._live.get(event.message_id)
        if live is None:
            return None
        live.characters += len(event.text)
        if event.reasoning:
            live.reasoning += event.text
        else:
            live.text += event.text
        return live

    def ended(self, event: MessageEnded) -> None:
        self._live.pop(event.message_id, None)

    def of(self, message_id: str) -> LiveText | None:
        return self._live.get(message_id)

    def printed(self, event: CallOutput) -> None:
        self._outputs[event.call_id] = event

    def output(self, call_id: str) -> str:
        """What the running call has printed last; empty where nothing is known."""
        event = self._outputs.get(call_id)
        return event.text if event is not None else ""

    def tools_done(self, run_id: str) -> None:
        """The run executes no tool any more: stored results take the place of its outputs."""
        self._outputs = {id: event for id, event in self._outputs.items() if event.run_id != run_id}
