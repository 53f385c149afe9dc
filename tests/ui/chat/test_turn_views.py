"""Rows as turns: which run a question shows, what its lookup says, and where a mark leads."""

from datetime import UTC, datetime

import pytest

from devflow.agent.conversations import Shown
from devflow.domain.conversation import OFFLINE, Conversation, Draft, Message, MessageState, Origin, Path, Role
from devflow.domain.receipt import Phase, Receipt
from devflow.domain.request import Injected, InjectedItem, Lookup, LookupFailed, NothingFound, NotUsed
from devflow.domain.run import CallState, Risk, Run, RunState, ToolCall
from devflow.domain.text.as_typed import as_typed
from devflow.ui.pages.chat.patch import patch_note, patch_rows
from devflow.ui.pages.chat.sources_panel import plain_excerpt
from devflow.ui.pages.chat.turn_views import TurnView, lookup_words, references, turns_of
from devflow.ui.widgets.diffing import Side

AT = datetime(2026, 11, 30, tzinfo=UTC)


def message(id: str, role: Role, run: str | None = None, state: MessageState = MessageState.COMPLETE) -> Message:
    return Message(id, "c", None, run, role, f"text of {id}", 1, AT, state)


def run(id: str, question: str, state: RunState = RunState.COMPLETED) -> Run:
    return Run(id, "c", question, state, 1, None, OFFLINE, 0, None, AT)


def call(id: str, message_id: str, state: CallState) -> ToolCall:
    return ToolCall(id, "r1", message_id, 0, "w", "read_file", "{}", "h", state, Risk.READS)


def receipt(id: str, run_id: str, library: Lookup, pages: Lookup | None = None, **feedback: int) -> Receipt:
    return Receipt(id, "c", run_id, 1, Phase.TURN, "n", library, pages or NotUsed("no_kb"), AT, feedback)


def item(ref: str, number: str, source: str = "entry") -> InjectedItem:
    return InjectedItem(source, ref, number, f"Title of {ref}", "excerpt", "term", 1.0, 7)


def path(*messages: Message) -> Path:
    conversation = Conversation(
        "c", "t", False, Origin.WINDOW, None, None, messages[-1].id, False, True, None, Draft(), "", AT, AT
    )
    return Path(conversation, messages)


def test_a_question_shows_the_run_of_the_answer_on_the_path() -> None:
    loaded = Shown(path(message("q", Role.USER), message("a1", Role.ASSISTANT, "r1")), (run("r1", "q"), run("r2", "q")))
    assert turns_of(loaded)[0].run == run("r1", "q")


def test_a_question_without_an_answer_shows_its_newest_run() -> None:
    loaded = Shown(path(message("q", Role.USER)), (run("r1", "q"), run("r2", "q", RunState.FAILED)))
    assert turns_of(loaded)[0].run == run("r2", "q", RunState.FAILED)


def test_calls_wait_only_while_their_run_is_open() -> None:
    waiting = (call("c1", "a", CallState.AWAITING), call("c2", "a", CallState.DONE))
    messages = path(message("q", Role.USER), message("a", Role.ASSISTANT, "r1"))
    open_one = Shown(messages, (run("r1", "q", RunState.AWAITING_APPROVAL),), (), {"a": waiting})
    over = Shown(messages, (run("r1", "q", RunState.CANCELLED),), (), {"a": waiting})
    assert turns_of(open_one)[0].awaiting == waiting[:1]
    assert turns_of(over)[0].awaiting == ()


@pytest.mark.parametrize(
    "state, partial, cut",
    [
        (RunState.COMPLETED, False, False),
        (RunState.CANCELLED, True, True),
        (RunState.INTERRUPTED, False, True),
        (RunState.FAILED, True, True),
        (RunState.FAILED, False, False),
        (RunState.CALLING_MODEL, True, False),
    ],
)
def test_a_turn_is_cut_when_it_can_go_on_from_where_it_stands(state: RunState, partial: bool, cut: bool) -> None:
    how = MessageState.PARTIAL if partial else MessageState.COMPLETE
    loaded = Shown(path(message("q", Role.USER), message("a", Role.ASSISTANT, "r1", how)), (run("r1", "q", state),))
    assert turns_of(loaded)[0].cut is cut


@pytest.mark.parametrize(
    "library, pages, state",
    [
        (Injected("b", (item("e", "K1"),)), NotUsed("no_kb"), "found"),
        (NothingFound(), NotUsed("no_kb"), "nothing"),
        (LookupFailed("boom"), NotUsed("no_kb"), "failed"),
        (NotUsed("off"), NotUsed("no_kb"), "off"),
        (NotUsed("conversation"), NotUsed("no_kb"), "off_here"),
        (NothingFound(), Injected("b", (item("wiki/a.md", "1", "page"),)), "found"),
    ],
)
def test_the_newest_lookup_says_what_was_found(library: Lookup, pages: Lookup, state: str) -> None:
    turn = TurnView(message("q", Role.USER), receipts=(receipt("x", "r", library, pages),))
    assert lookup_words(turn).state == state


def test_before_the_first_receipt_a_working_turn_is_searching() -> None:
    asked = TurnView(message("q", Role.USER), run=run("r1", "q", RunState.QUEUED))
    over = TurnView(message("q", Role.USER), run=run("r1", "q", RunState.FAILED))
    assert (lookup_words(asked).state, lookup_words(over).state) == ("searching", "hidden")


def test_sources_are_listed_once_with_the_newest_lookups_word_and_entries_first() -> None:
    first = receipt("x", "r", Injected("b", (item("e", "K1"),)), Injected("b", (item("wiki/a.md", "1", "page"),)))
    second = receipt("y", "r", Injected("b", (item("e", "K1"), item("f", "K2"))), e=1)
    sources = TurnView(message("q", Role.USER), receipts=(first, second)).sources()
    said = [(each.label, each.receipt_id, each.verdict) for each in sources]
    assert said == [("K1", "y", 1), ("K2", "y", 0), ("P1", "x", 0)]


def test_every_number_the_conversation_was_given_leads_somewhere() -> None:
    turn = TurnView(message("q", Role.USER), receipts=(receipt("x", "r", Injected("b", (item("e", "K1"),))),))
    assert references({1: "e", 2: "old"}, [turn]) == {
        "K1": ("devflow:entry/e", "Title of e"),
        "K2": ("devflow:entry/old", ""),
    }


def test_a_patch_has_both_line_numbers_word_marks_and_a_fold_between_hunks() -> None:
    rows = patch_rows("--- a/x\n+++ b/x\n@@ -3,2 +3,2 @@\n keep\n-call(one)\n+call(two)\n@@ -9 +9,2 @@\n last\n+more")
    said = [(row.side, row.old, row.new, row.text) for row in rows]
    assert said == [
        (Side.SAME, 3, 3, "keep"),
        (Side.REMOVED, 4, 0, "call(one)"),
        (Side.ADDED, 0, 4, "call(two)"),
        (Side.FOLD, 0, 0, "4"),
        (Side.SAME, 9, 9, "last"),
        (Side.ADDED, 0, 10, "more"),
    ]
    assert rows[1].marks == ((5, 8),)


def test_a_patch_that_was_cut_says_so() -> None:
    cut = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n[the diff goes on; only its beginning is shown]"
    assert patch_note(cut) == "the diff goes on; only its beginning is shown"
    assert [row.text for row in patch_rows(cut)] == ["a", "b"]
    assert patch_note("@@ -1 +1 @@\n-a\n+b") == ""


def test_typed_lines_stay_lines_but_code_and_lists_keep_their_form() -> None:
    assert as_typed("one\ntwo") == "one\\\ntwo"
    assert as_typed("one\n\ntwo") == "one\n\ntwo"
    assert as_typed("- a\n- b") == "- a\n- b"
    assert as_typed("```\na\nb\n```") == "```\na\nb\n```"


def test_an_excerpt_is_shown_without_marks() -> None:
    assert plain_excerpt("## Title\n\n- use `BEGIN`\n- **not** this") == "Title use BEGIN not this"
    assert plain_excerpt("# Title\n\nuse `BEGIN`", "Title") == "use BEGIN"
    assert plain_excerpt("# Title", "Title") == "Title"
