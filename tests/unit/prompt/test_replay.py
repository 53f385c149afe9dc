"""What a model wants back verbatim: it goes back with its own message, and nothing is merged into it."""

from pathlib import Path

from devflow.domain.conversation import Message, MessageState, Role
from devflow.domain.ids import new_id, now
from devflow.domain.request import AssistantTurn, UserText
from devflow.prompt.history import history
from devflow.prompt.templates import Templates

TEMPLATES = Templates(Path(__file__).parents[3] / "resources")
SIGNED = {"adapter": "anthropic", "blocks": [{"type": "thinking", "thinking": "hm", "signature": "s"}]}


def message(role: Role, text: str, state: MessageState = MessageState.COMPLETE) -> Message:
    return Message(new_id(), "c", None, None, role, text, 1, now(), state)


def test_what_a_model_wants_back_goes_back_with_its_own_message() -> None:
    question, answer, next_one = message(Role.USER, "q"), message(Role.ASSISTANT, "a"), message(Role.USER, "and?")
    sent = history([question, answer, next_one], {}, templates=TEMPLATES, language="en", replays={answer.id: SIGNED})
    assert sent == (UserText("q"), AssistantTurn("a", replay=SIGNED), UserText("and?"))


def test_a_continuation_with_something_to_replay_is_not_merged_into_the_cut_answer() -> None:
    cut = message(Role.ASSISTANT, "first half, ", MessageState.PARTIAL)
    rest = message(Role.ASSISTANT, "second half")
    path = [message(Role.USER, "q"), cut, rest]
    apart = history(path, {}, templates=TEMPLATES, language="en", replays={rest.id: SIGNED})
    assert apart[1:] == (AssistantTurn("first half, "), AssistantTurn("second half", replay=SIGNED))
    merged = history(path, {}, templates=TEMPLATES, language="en")
    assert merged[1:] == (AssistantTurn("first half, second half"),)
