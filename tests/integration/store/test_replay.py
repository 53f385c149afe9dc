"""What a model wants back verbatim is kept with its message, over a restart, and for that model alone."""

from pathlib import Path

from devflow.app.paths import app_paths
from devflow.domain.conversation import MessageState, ModelChoice, Origin, Role
from devflow.domain.events import Hub
from devflow.store import conversations
from devflow.store.database import Unit
from devflow.store.migrate import open_database

OPUS, SONNET = ModelChoice("anthropic", "opus"), ModelChoice("anthropic", "sonnet")
SIGNED = {"adapter": "anthropic", "blocks": [{"type": "thinking", "thinking": "嗯", "signature": "c2ln"}]}


def answer(unit: Unit, choice: ModelChoice) -> tuple[str, str]:
    """The conversation's id and the answer's."""
    made = conversations.create(unit, origin=Origin.WINDOW)
    row = conversations.insert_message(
        unit, conversation_id=made.id, parent_id=None, role=Role.ASSISTANT, content="", choice=choice
    )
    conversations.write_message(unit, row.id, content="done", reasoning="", state=MessageState.COMPLETE, replay=SIGNED)
    return made.id, row.id


def test_it_is_there_after_a_restart_word_for_word(home: Path) -> None:
    first = open_database(app_paths(home), Hub())
    conversation, message = first.run_write(lambda unit: answer(unit, OPUS))
    first.close()
    second = open_database(app_paths(home), Hub())
    assert second.run_read(lambda session: conversations.replays(session, conversation, OPUS)) == {message: SIGNED}
    second.close()


def test_another_model_or_provider_never_gets_it(home: Path) -> None:
    database = open_database(app_paths(home), Hub())
    conversation, _ = database.run_write(lambda unit: answer(unit, OPUS))
    for other in (SONNET, ModelChoice("elsewhere", "opus")):
        assert database.run_read(lambda session, o=other: conversations.replays(session, conversation, o)) == {}  # type: ignore[misc]
    database.close()


def test_a_message_without_one_has_none(home: Path) -> None:
    database = open_database(app_paths(home), Hub())

    def plain(unit: Unit) -> str:
        made = conversations.create(unit, origin=Origin.WINDOW)
        row = conversations.insert_message(
            unit, conversation_id=made.id, parent_id=None, role=Role.ASSISTANT, content="", choice=OPUS
        )
        conversations.write_message(unit, row.id, content="a", reasoning="", state=MessageState.COMPLETE)
        return made.id

    conversation = database.run_write(plain)
    assert database.run_read(lambda session: conversations.replays(session, conversation, OPUS)) == {}
    database.close()
