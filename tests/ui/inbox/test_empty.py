"""An empty inbox says why it is empty, and offers what helps."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton, QWidget

from devflow.domain.conversation import ModelChoice
from devflow.domain.knowledge import Status
from devflow.domain.provider import ProviderDraft, Roles
from devflow.knowledge.acts import Actor
from tests.support.desk import Desk, at_the_desk
from tests.support.eventually import eventually


@at_the_desk
async def test_without_a_model_the_inbox_says_so_and_leads_to_one(desk: Desk) -> None:
    await desk.arrive()
    await eventually(lambda: "Extraction needs a model, and none is set up." in _hint(desk))
    assert "Connect a model" in _buttons(desk)


@at_the_desk
async def test_too_few_messages_are_counted(desk: Desk) -> None:
    await _talk(desk)
    await _connect(desk)
    await desk.arrive()
    await eventually(lambda: "Extraction starts after 4 messages; this chat has 2." in _hint(desk))
    assert {"Extract now", "Save as candidate"} <= set(_buttons(desk))


@at_the_desk
async def test_an_extraction_that_is_off_is_named(desk: Desk) -> None:
    await _connect(desk)
    await desk.core.knowledge.knowledge_change_config({"auto_extract": False}, actor=Actor.user())
    await desk.arrive()
    await eventually(lambda: "Extraction is off in Settings." in _hint(desk))


@at_the_desk
async def test_the_hint_follows_the_settings_while_it_is_read(desk: Desk) -> None:
    await _connect(desk)
    await desk.arrive()
    await eventually(lambda: "There is no conversation yet." in _hint(desk))
    await desk.core.knowledge.knowledge_change_config({"trigger_mode": "manual_only"}, actor=Actor.user())
    await eventually(lambda: "Extraction runs only when you ask for it." in _hint(desk))


@at_the_desk
async def test_save_as_candidate_saves_the_newest_answer_of_the_latest_conversation(desk: Desk) -> None:
    entry = await desk.add("Locks, part 0", Status.PUBLISHED, content="About locks: take the write lock first.")
    conversation = await _talk(desk)
    await desk.arrive()
    await eventually(lambda: "Save as candidate" in _buttons(desk))
    desk.click("saveAsCandidateHint")
    await eventually(lambda: len(desk.inbox_titles()) == 1)
    await eventually(lambda: desk.inbox.detail.entry is not None)
    saved = desk.inbox.detail.entry
    assert saved is not None
    assert (saved.status, saved.source_ref) == (Status.CANDIDATE, f"conv:{conversation}")
    assert "take the write lock first" in saved.content
    assert "offline assistant" not in saved.content
    assert saved.id != entry.id


@at_the_desk
async def test_save_as_candidate_says_it_when_the_same_was_put_away(desk: Desk) -> None:
    await _talk(desk)  # the offline assistant finds nothing: the question is what can be saved
    await desk.arrive()
    await eventually(lambda: "Save as candidate" in _buttons(desk))
    desk.click("saveAsCandidateHint")
    await desk.until_listed("What about locks, part 0?")
    desk.press(Qt.Key.Key_R)
    await desk.until_listed()
    await eventually(lambda: "Save as candidate" in _buttons(desk))
    desk.click("saveAsCandidateHint")
    bar = desk.desktop.window._message_bar
    await eventually(lambda: bar.words.text() == "This is there already; noted as seen again")


@at_the_desk
async def test_extract_now_without_a_model_says_what_is_missing(desk: Desk) -> None:
    await desk.arrive()
    desk.click("extractNowButton")
    bar = desk.desktop.window._message_bar
    await eventually(lambda: bar.words.text() == "Extraction needs a model, and none is set up.")


@at_the_desk
async def test_conversations_from_before_the_model_are_offered_and_read_only_on_a_click(desk: Desk) -> None:
    await _talk(desk, turns=2)
    await desk.arrive()
    offer = desk.find(QWidget, "unreadConversations")
    await eventually(lambda: desk.inbox.hint.verdict is not None)
    assert not offer.isVisible()

    await _connect(desk)

    await eventually(offer.isVisible)
    assert "1 earlier chat was never read" in desk.texts(offer)
    assert (await desk.core.extraction.status()).conversation_id == ""


def _hint(desk: Desk) -> list[str]:
    return desk.texts(desk.find(QWidget, "inboxEmptyHint"))


def _buttons(desk: Desk) -> list[str]:
    hint = desk.find(QWidget, "inboxEmptyHint")
    return [button.text() for button in hint.findChildren(QPushButton) if button.isVisible()]


async def _talk(desk: Desk, turns: int = 1) -> str:
    """With the offline assistant: two messages a turn."""
    conversation = await desk.core.conversations.create()
    for turn in range(turns):
        run = await desk.core.turns.send(conversation.id, f"What about locks, part {turn}?")
        await desk.core.turns.wait(run.id)
    return conversation.id


async def _connect(desk: Desk) -> None:
    """A model on a port where nothing listens: enough to be set up."""
    draft = ProviderDraft(name="Local", base_url="http://127.0.0.1:9/v1", preset="custom", models=("small",))
    provider = await desk.core.models.add(draft)
    choice = ModelChoice(provider.id, "small")
    await desk.core.models.save_roles(Roles(main=choice, digest=None, extraction=choice))
