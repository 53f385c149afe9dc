"""What an export tells of a conversation: the active path, clean, without secrets (spec 02, `/export`).

Nothing that was put before the model unseen is here: no injected block, no system prompt, no reasoning.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from devflow.domain.conversation import OFFLINE, Message, MessageState, Path, Role
from devflow.domain.ids import now
from devflow.domain.receipt import Receipt
from devflow.domain.redaction import redact
from devflow.domain.request import Injected, InjectedItem
from devflow.domain.run import CallState, ToolCall
from devflow.domain.text.hidden import with_hidden_shown
from devflow.store import conversations, knowledge_bases, receipts, runs
from devflow.store.database import Session
from devflow.tools.call_words import is_mcp, mcp_name, target_of

TARGET_MAX = 200


@dataclass(frozen=True, slots=True)
class SharedCall:
    """A tool call as one line: the tool, what it was about, what became of it."""

    tool: str
    target: str
    state: CallState


@dataclass(frozen=True, slots=True)
class SharedMessage:
    """`number` counts the questions; an answer has its question's. `model` is empty for the built-in assistant."""

    role: Role
    number: int
    text: str
    at: datetime
    model: str = ""
    offline: bool = False
    partial: bool = False
    calls: tuple[SharedCall, ...] = ()


@dataclass(frozen=True, slots=True)
class SharedSource:
    """An entry or a page that answers were given. `mark` is an entry's `K1`; `given` are (question, number) of a page.

    `path` is a page's, relative to its knowledge base.
    """

    title: str
    path: str = ""
    mark: str = ""
    given: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class SharedConversation:
    """`redacted` counts the secrets that were taken out, by what they are called."""

    title: str
    exported_at: datetime
    base: str = ""
    project: str = ""
    messages: tuple[SharedMessage, ...] = ()
    sources: tuple[SharedSource, ...] = ()
    redacted: Mapping[str, int] = field(default_factory=dict)


Rows = tuple[Path, Mapping[str, tuple[ToolCall, ...]], tuple[Receipt, ...], str]


def read_rows(session: Session, conversation_id: str) -> Rows:
    """The conversation, its calls, what it was given, and its knowledge base's name, in one transaction.

    Raises NotFound.
    """
    path = conversations.path(session, conversation_id)
    asked_in = {each.run_id for each in path.messages if each.role is Role.ASSISTANT and each.run_id}
    calls = runs.calls_of(session, [each.id for each in path.messages if each.role is Role.ASSISTANT])
    given = receipts.of_conversation(session, conversation_id, asked_in) if asked_in else ()
    kb_id = path.conversation.kb_id
    base = knowledge_bases.get(session, kb_id).name if kb_id is not None else ""
    return path, calls, given, base


def shared_of(rows: Rows) -> SharedConversation:
    """What is told of them. Long conversations take their time: call it on a thread."""
    path, calls, given, base = rows
    return _Telling(path, calls, given).told(base)


class _Telling:
    """Puts it together, and counts what is redacted on the way."""

    def __init__(self, path: Path, calls: Mapping[str, tuple[ToolCall, ...]], given: Sequence[Receipt]) -> None:
        self._path = path
        self._calls = calls
        self._given = given
        self._redacted: Counter[str] = Counter()

    def told(self, base: str) -> SharedConversation:
        conversation = self._path.conversation
        messages, questions = self._messages()
        sources = self._sources(questions)
        project = conversation.project.name if conversation.project is not None else ""
        return SharedConversation(
            title=self._line(conversation.title),
            exported_at=now(),
            base=self._line(base),
            project=self._line(project),
            messages=messages,
            sources=sources,
            redacted=dict(self._redacted),
        )

    def _messages(self) -> tuple[tuple[SharedMessage, ...], dict[str, int]]:
        """The messages, and which question each run answered."""
        told: list[SharedMessage] = []
        questions: dict[str, int] = {}
        number = 0
        for message in self._path.messages:
            if message.role is Role.USER:
                number += 1
            elif message.run_id is not None:
                questions[message.run_id] = number
            told.append(self._message(message, number))
        return tuple(told), questions

    def _message(self, message: Message, number: int) -> SharedMessage:
        return SharedMessage(
            role=message.role,
            number=number,
            text=self._text(message.content),
            at=message.created_at,
            model=self._line(message.model or ""),
            offline=message.provider_id == OFFLINE.provider_id,
            partial=message.state is not MessageState.COMPLETE,
            calls=tuple(self._call(call) for call in self._calls.get(message.id, ())),
        )

    def _call(self, call: ToolCall) -> SharedCall:
        target = self._line(target_of(call))
        tool = mcp_name(call.tool, call.preview) if is_mcp(call.tool) else call.tool
        return SharedCall(tool, target if len(target) <= TARGET_MAX else f"{target[:TARGET_MAX]}…", call.state)

    def _sources(self, questions: Mapping[str, int]) -> tuple[SharedSource, ...]:
        """Entries by their number, then pages in the order in which they were first given."""
        entries: dict[str, InjectedItem] = {}
        pages: dict[str, InjectedItem] = {}
        marks: dict[str, list[tuple[int, str]]] = {}
        for receipt in self._given:
            for item in _items(receipt):
                if item.source == "entry":
                    entries[item.ref] = item
                    continue
                pages.setdefault(item.ref, item)
                mark = (questions.get(receipt.run_id, 0), item.number)
                if mark not in marks.setdefault(item.ref, []):
                    marks[item.ref].append(mark)
        told = [
            SharedSource(self._line(item.title), mark=item.number)
            for item in sorted(entries.values(), key=lambda item: int(item.number.lstrip("K") or 0))
        ]
        told += [
            SharedSource(self._line(item.title), path=self._line(ref), given=tuple(marks[ref]))
            for ref, item in pages.items()
        ]
        return tuple(told)

    def _text(self, text: str) -> str:
        """Without secrets; characters that nobody sees but a program obeys are spelled out."""
        found = redact(text)
        self._redacted.update(found.labels)
        return with_hidden_shown(found.text)

    def _line(self, text: str) -> str:
        return " ".join(self._text(text).split())


def _items(receipt: Receipt) -> tuple[InjectedItem, ...]:
    lookups = (receipt.library, receipt.pages)
    return tuple(item for lookup in lookups if isinstance(lookup, Injected) for item in lookup.items)
