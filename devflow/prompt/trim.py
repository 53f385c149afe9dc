"""Making a request fit the model's window (spec 03, Context window; decision 20).

The oldest turns go first. Of the turn that is being answered the user's message always stays whole; its older steps
give way before its newest, and a tool call is never separated from its result.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from devflow.domain.request import AssistantTurn, ChatMessage, ToolResult, UserText
from devflow.domain.tokens import estimate_tokens
from devflow.prompt.estimate import MESSAGE_OVERHEAD, tokens_of, tokens_of_call
from devflow.prompt.shorten import NAME_CHARS, short_arguments, shortened

RESULT_TOKENS = 120
"""The newest outputs are shortened to no less than this each; below it the request does not fit."""


@dataclass(frozen=True, slots=True)
class Marks:
    """What stands in the place of what was taken: of a whole output, of a part of one, of a part of an argument."""

    output: str
    part: str
    argument: str


@dataclass(frozen=True, slots=True)
class Trimmed:
    """What is left; `left_out` counts whole messages, `shortened` the outputs and calls that are not whole any more.

    `over` is by how many tokens it still does not fit: 0 unless the newest step alone is too long.
    """

    messages: tuple[ChatMessage, ...]
    left_out: int = 0
    shortened: int = 0
    over: int = 0


def trim(messages: tuple[ChatMessage, ...], room: int, marks: Marks) -> Trimmed:
    """The messages that fit into `room` tokens.

    In this order, and only as far as needed: whole turns are dropped, oldest first; of the last turn, the outputs of
    older steps are replaced by a mark; the long arguments of older steps are cut; older steps are dropped; the newest
    outputs are cut to equal shares; the newest calls' arguments and the newest answer's text are cut; of very many
    calls at once the last are dropped.
    """
    asked = max((i for i, message in enumerate(messages) if isinstance(message, UserText)), default=0)
    last = messages[asked:]
    total = sum(tokens_of(message) for message in last)
    older, dropped = _newest_turns(messages[:asked], room - total)
    if total <= room:
        return Trimmed((*older, *last), dropped)
    work = _Work(room, total, steps=_steps(last[1:]), marks=marks, left_out=dropped)
    work.shorten_old()
    work.drop_old()
    work.shorten_newest()
    left = (*last[:1], *(message for step in work.steps for message in step))
    return Trimmed(left, work.left_out, work.shortened, max(0, work.total - room))


def _newest_turns(messages: tuple[ChatMessage, ...], room: int) -> tuple[list[ChatMessage], int]:
    """As many whole turns as fit, and how many messages are in the others, which nobody counts the tokens of."""
    turns = _turns(messages)
    start = len(turns)
    while start and (room := room - sum(tokens_of(message) for message in turns[start - 1])) >= 0:
        start -= 1
    return [message for turn in turns[start:] for message in turn], sum(map(_messages_in, turns[:start]))


def _messages_in(group: list[ChatMessage]) -> int:
    """Outputs belong to the message that asked for them: they are no messages of their own to a reader."""
    return sum(not isinstance(message, ToolResult) for message in group)


@dataclass(slots=True)
class _Work:
    """The steps of the last turn as they shrink, and the tokens of everything that is still there."""

    room: int
    total: int
    steps: list[list[ChatMessage]]
    marks: Marks
    left_out: int = 0
    shortened: int = 0

    @property
    def fits(self) -> bool:
        return self.total <= self.room

    def shorten_old(self) -> None:
        for step in self.steps[:-1]:
            self._each(step, self._without_output)
        for step in self.steps[:-1]:
            self._each(step, self._with_short_arguments)

    def drop_old(self) -> None:
        while len(self.steps) > 1 and not self.fits:
            gone = self.steps.pop(0)
            self.left_out += _messages_in(gone)
            self.total -= sum(tokens_of(message) for message in gone)

    def shorten_newest(self) -> None:
        if self.fits or not self.steps:
            return
        newest = self.steps[-1]
        results = [message for message in newest if isinstance(message, ToolResult)]
        if results:
            limit = _share([tokens_of(result) for result in results], self.total - self.room)
            self._each(newest, lambda message: self._to_size(message, max(limit, RESULT_TOKENS)))
        self._each(newest, self._with_short_arguments)
        self._each(newest, self._with_short_text)
        self._drop_last_calls(newest)

    def _drop_last_calls(self, step: list[ChatMessage]) -> None:
        """Of more calls than there is room for the first ones stay, each with its result."""
        asking = step[0]
        if not isinstance(asking, AssistantTurn):
            return
        calls = list(asking.calls)
        while not self.fits and len(calls) > 1:
            self.total -= tokens_of_call(calls.pop()) + tokens_of(step.pop())
            self.shortened += 1
        step[0] = replace(asking, calls=tuple(calls))

    def _each(self, step: list[ChatMessage], change: Callable[[ChatMessage], ChatMessage]) -> None:
        for i, message in enumerate(step):
            if self.fits:
                return
            changed = change(message)
            saved = tokens_of(message) - tokens_of(changed)
            if saved > 0:
                step[i] = changed
                self.total -= saved
                self.shortened += 1

    def _without_output(self, message: ChatMessage) -> ChatMessage:
        return replace(message, text=self.marks.output) if isinstance(message, ToolResult) else message

    def _with_short_arguments(self, message: ChatMessage) -> ChatMessage:
        if not isinstance(message, AssistantTurn):
            return message
        mark = self.marks.argument
        calls = tuple(
            replace(call, tool=call.tool[:NAME_CHARS], arguments=short_arguments(call.arguments, mark))
            for call in message.calls
        )
        return replace(message, calls=calls)

    def _to_size(self, message: ChatMessage, tokens: int) -> ChatMessage:
        if not isinstance(message, ToolResult):
            return message
        return replace(message, text=shortened(message.text, tokens - 2 * MESSAGE_OVERHEAD, self.marks.part))

    def _with_short_text(self, message: ChatMessage) -> ChatMessage:
        """An answer that is to be continued keeps its end, and so does what was said before a call."""
        if not isinstance(message, AssistantTurn):
            return message
        left = estimate_tokens(message.text) - (self.total - self.room)
        return replace(message, text=shortened(message.text, max(left, RESULT_TOKENS), self.marks.part, head=0.0))


def _share(sizes: list[int], over: int) -> int:
    """The size to which the largest must be cut so that all together lose `over`."""
    left = sum(sizes) - over
    for place, size in enumerate(ordered := sorted(sizes)):
        share = left // (len(ordered) - place)
        if size > share:
            return share
        left -= size
    return max(sizes)


def _turns(messages: tuple[ChatMessage, ...]) -> list[list[ChatMessage]]:
    """Each user text with everything up to the next one."""
    return _grouped(messages, UserText)


def _steps(messages: tuple[ChatMessage, ...]) -> list[list[ChatMessage]]:
    """Each answer with the results of its calls."""
    return _grouped(messages, AssistantTurn)


def _grouped(messages: tuple[ChatMessage, ...], first: type[ChatMessage]) -> list[list[ChatMessage]]:
    groups: list[list[ChatMessage]] = []
    for message in messages:
        if isinstance(message, first) or not groups:
            groups.append([])
        groups[-1].append(message)
    return groups
