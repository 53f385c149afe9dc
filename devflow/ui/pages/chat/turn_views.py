"""A conversation's rows as the transcript shows them: turns of a question, what was looked up, and its answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from devflow.agent.conversations import Shown
from devflow.domain.conversation import Message, MessageState, Role, Siblings
from devflow.domain.next_step import LIMITS
from devflow.domain.receipt import Receipt
from devflow.domain.request import Injected, InjectedItem, Lookup, LookupFailed, NothingFound, NotUsed
from devflow.domain.run import ACTIVE_STATES, OPEN_STATES, CallState, Run, RunState, ToolCall
from devflow.ui.models.page_links import AnswerLinks, page_address

_READS_PAGES = frozenset({"query_knowledge_base", "list_knowledge_base_pages"})


@dataclass(frozen=True, slots=True)
class AnswerView:
    """One assistant message with the calls it asked for; `siblings` where it has alternatives."""

    message: Message
    calls: tuple[ToolCall, ...] = ()
    siblings: Siblings | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """An entry or page that a turn was given, with the receipt its feedback belongs to. `kb_id`: whose page it is."""

    item: InjectedItem
    receipt_id: str
    verdict: int = 0
    kb_id: str = ""

    @property
    def label(self) -> str:
        """`K1`, or `P1` for a page (numbered `1` in the prompt)."""
        return self.item.number if self.item.source == "entry" else f"P{self.item.number}"

    @property
    def address(self) -> str:
        """Where the window shows it."""
        ref = self.item.ref
        return f"devflow:entry/{ref}" if self.item.source == "entry" else page_address(self.kb_id, ref)


@dataclass(frozen=True, slots=True)
class TurnView:
    """One user message, what was looked up for it, and its answers. `run` is the one whose answers are shown, or one
    that was to answer anew and has ended without a word: then the former answers are shown, and its end below them.
    `kb_id`: the conversation's knowledge base.
    """

    user: Message
    siblings: Siblings | None = None
    answers: tuple[AnswerView, ...] = ()
    run: Run | None = None
    receipts: tuple[Receipt, ...] = ()
    kb_id: str | None = None

    @property
    def open_run(self) -> bool:
        return self.run is not None and self.run.state in OPEN_STATES

    @property
    def working(self) -> bool:
        return self.run is not None and self.run.state in ACTIVE_STATES

    @property
    def awaiting(self) -> tuple[ToolCall, ...]:
        """The calls that wait for a decision, in the order in which they were asked for."""
        if self.run is None or self.run.state not in OPEN_STATES:
            return ()
        return tuple(call for answer in self.answers for call in answer.calls if call.state is CallState.AWAITING)

    @property
    def cut(self) -> bool:
        """Whether the turn ended before its answer did and can go on (Continue)."""
        if self.run is None or self.open_run or self.run.beside is not None:
            return False
        if self.at_limit or self.run.state in (RunState.CANCELLED, RunState.INTERRUPTED):
            return True
        return bool(self.answers) and self.answers[-1].message.state is MessageState.PARTIAL

    @property
    def at_limit(self) -> bool:
        """Whether the run was ended by a limit, and could go on."""
        problem = self.run.problem if self.run is not None else None
        return problem is not None and problem.code in LIMITS and not self.open_run

    def sources(self) -> tuple[Source, ...]:
        """Everything the turn was given, entries first, each once: the newest lookup that has it speaks."""
        found: dict[tuple[str, str], Source] = {}
        for receipt in self.receipts:
            for item in (*_items(receipt.library), *_items(receipt.pages)):
                verdict = receipt.feedback.get(item.ref, 0)
                found[item.source, item.ref] = Source(item, receipt.id, verdict, self.kb_id or "")
        return tuple(sorted(found.values(), key=lambda source: source.item.source != "entry"))

    def marks(self) -> dict[str, tuple[str, str]]:
        """The marks that mean something in this turn alone: `P1`, and `1` as the prompt numbers it → (address, title).

        Of two lookups that number differently the newest speaks.
        """
        marks: dict[str, tuple[str, str]] = {}
        for receipt in self.receipts:
            for item in _items(receipt.pages):
                place = (page_address(self.kb_id or "", item.ref), item.title)
                marks[item.number], marks[f"P{item.number}"] = place, place
        return marks

    def page_links(self) -> AnswerLinks | None:
        """What the pages that its answers name are held against; None where no page was looked for."""
        lookups = [receipt.pages for receipt in self.receipts]
        if self.kb_id is None or not any(isinstance(each, Injected | NothingFound) for each in lookups):
            return None
        given = frozenset(item.ref for lookup in lookups for item in _items(lookup))
        return AnswerLinks(self.kb_id, given, "\n".join(self._read()))

    def _read(self) -> Iterator[str]:
        """What it was told of beside: a page that a given page or a tool names is none that the answer made up."""
        for receipt in self.receipts:
            for item in _items(receipt.pages):
                yield item.excerpt
        for answer in self.answers:
            for call in answer.calls:
                if call.tool in _READS_PAGES:
                    yield call.result


@dataclass(frozen=True, slots=True)
class LookupWords:
    """What the retrieval line says: `state` is searching, searching_pages, found, nothing, nothing_pages, failed, off,
    off_here or hidden. The ones on pages are for a conversation with a knowledge base."""

    state: str
    entries: int = 0
    pages: int = 0


def turns_of(loaded: Shown) -> tuple[TurnView, ...]:
    """The active path as turns, oldest first."""
    path = loaded.path
    runs = {run.id: run for run in loaded.runs}
    by_question: dict[str, list[Run]] = {}
    for run in loaded.runs:
        by_question.setdefault(run.user_message_id, []).append(run)
    receipts: dict[str, list[Receipt]] = {}
    for receipt in loaded.receipts:
        receipts.setdefault(receipt.run_id, []).append(receipt)
    wordless = _wordless_run(loaded)
    turns: list[TurnView] = []
    kb_id = path.conversation.kb_id
    for user, answers in _grouped(path.messages):
        shown = _run_shown(answers, runs, by_question.get(user.id, []))
        views = tuple(
            AnswerView(each, tuple(loaded.calls.get(each.id, ())), path.siblings.get(each.id)) for each in answers
        )
        given = tuple(receipts.get(shown.id, ())) if shown is not None else ()
        if wordless is not None and wordless.user_message_id == user.id:
            shown = wordless
        turns.append(TurnView(user, path.siblings.get(user.id), views, shown, given, kb_id))
    return tuple(turns)


def lookup_words(turn: TurnView) -> LookupWords:
    """What is known about the turn's lookup right now."""
    if not turn.receipts:
        if not turn.working:
            return LookupWords("hidden")
        return LookupWords("searching_pages" if turn.kb_id is not None else "searching")
    newest = turn.receipts[-1]
    entries, pages = _items(newest.library), _items(newest.pages)
    if entries or pages:
        return LookupWords("found", len(entries), len(pages))
    lookups: tuple[Lookup, ...] = (newest.library, newest.pages)
    if any(isinstance(lookup, LookupFailed) for lookup in lookups):
        return LookupWords("failed")
    if isinstance(newest.pages, NothingFound):
        return LookupWords("nothing_pages")
    if any(isinstance(lookup, NothingFound) for lookup in lookups):
        return LookupWords("nothing")
    reasons = {lookup.why for lookup in lookups if isinstance(lookup, NotUsed)}
    if "off" in reasons:
        return LookupWords("off")
    return LookupWords("off_here" if "conversation" in reasons else "hidden")


def references(numbers: Mapping[int, str], turns: Sequence[TurnView]) -> dict[str, tuple[str, str]]:
    """Where each mark of the conversation leads: `K1` → (address, title). `numbers`: every entry it was ever given."""
    titles = {source.item.ref: source.item.title for turn in turns for source in turn.sources()}
    return {f"K{number}": (f"devflow:entry/{entry}", titles.get(entry, "")) for number, entry in numbers.items()}


def _grouped(messages: Sequence[Message]) -> list[tuple[Message, list[Message]]]:
    groups: list[tuple[Message, list[Message]]] = []
    for message in messages:
        if message.role is Role.USER:
            groups.append((message, []))
        elif groups:
            groups[-1][1].append(message)
    return groups


def _run_shown(answers: Sequence[Message], runs: Mapping[str, Run], asked: Sequence[Run]) -> Run | None:
    """The run of the newest answer on the path; without an answer the newest run of the question."""
    for message in reversed(answers):
        if message.run_id is not None and message.run_id in runs:
            return runs[message.run_id]
    return asked[-1] if asked else None


def _wordless_run(loaded: Shown) -> Run | None:
    """The newest run that was to answer anew, if it failed without a word and nothing has been said since."""
    newest = loaded.path.messages[-1].id if loaded.path.messages else ""
    failed = (run for run in reversed(loaded.runs) if run.state in (RunState.FAILED, RunState.INTERRUPTED))
    return next((run for run in failed if run.beside == newest), None)


def _items(lookup: Lookup) -> tuple[InjectedItem, ...]:
    return lookup.items if isinstance(lookup, Injected) else ()
