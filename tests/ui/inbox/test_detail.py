"""What stands beside a candidate: where it comes from, what was found in it, what is like it."""

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QWidget

from devflow.domain.knowledge import Evidence, Status
from devflow.store import entries
from tests.support.desk import Desk, at_the_desk
from tests.support.eventually import eventually


@at_the_desk
async def test_the_evidence_opens_the_very_message_it_came_from(desk: Desk) -> None:
    chat = await desk.core.conversations.create()
    run = await desk.core.turns.send(chat.id, "It kept writing files after I pressed stop.")
    await desk.core.turns.wait(run.id)
    await desk.core.conversations.rename(chat.id, "after cancel")
    message = (await desk.core.conversations.path(chat.id)).messages[0]
    said = Evidence((message.id,), "It kept writing files", "user")
    await desk.add("A full queue drops events", source_ref=f"conv:{chat.id}", evidence=said)
    await desk.arrive("A full queue drops events")

    await eventually(lambda: "User · message 1" in desk.texts(desk.inbox.detail))
    assert "“It kept writing files”" in desk.texts(desk.inbox.detail)
    address = f"devflow:message/{chat.id}/{message.id}"
    await eventually(lambda: desk.find(QAbstractButton, "openEvidence").isVisible())
    desk.click("openEvidence")

    assert desk.elsewhere.opened == [address]
    assert desk.desktop.window.current == "chat"


@at_the_desk
async def test_a_deleted_conversation_leaves_the_quote(desk: Desk) -> None:
    chat = await desk.core.conversations.create()
    await desk.core.conversations.delete(chat.id)
    said = Evidence(("gone",), "The words that stay", "assistant")
    await desk.add("Kept", source_ref=f"conv:{chat.id}", evidence=said)
    await desk.arrive("Kept")

    await eventually(lambda: "Chat, deleted since" in _links(desk.inbox.detail))
    assert {"“The words that stay”", "Assistant"} <= set(desk.texts(desk.inbox.detail))


@at_the_desk
async def test_secrets_and_hidden_characters_are_found(desk: Desk) -> None:
    await desk.add("Clean", confidence=0.9)
    await desk.add("Hidden", confidence=0.8, content="Run this\u202e and \u200bthat.")
    await desk.arrive("Clean", "Hidden")
    await eventually(lambda: "No secrets or hidden characters" in desk.texts(desk.inbox.detail))

    desk.inbox.list.step(1)

    await eventually(lambda: "2 hidden characters" in desk.texts(desk.inbox.detail))
    assert "No secrets or hidden characters" not in desk.texts(desk.inbox.detail)


@at_the_desk
async def test_a_secret_that_a_human_typed_is_named(desk: Desk) -> None:
    await desk.add("Any")
    entry = (await desk.core.knowledge.knowledge_list_candidates()).entries[0]
    await desk.core.db.write(lambda unit: _put_secret(unit, entry.id))
    await desk.arrive("Any")

    await eventually(lambda: any("possible secret" in text for text in desk.texts(desk.inbox.detail)))


@at_the_desk
async def test_a_similar_entry_is_shown_as_a_diff(desk: Desk) -> None:
    text = "When a bounded queue is full, block the producer or raise; do not drop {what}."
    await desk.add("Back-pressure must reach the caller", Status.PUBLISHED, content=text.format(what="data"))
    await desk.add("Cooking rice takes ten minutes", Status.PUBLISHED)
    await desk.add("Back-pressure of bounded queues", content=text.format(what="control events"))
    await desk.arrive("Back-pressure of bounded queues")

    panel = desk.find(QWidget, "similarPanel")
    await eventually(panel.isVisible)

    assert "Back-pressure must reach the caller" in _links(panel)
    assert "Cooking rice takes ten minutes" not in _links(panel)
    assert (desk.inbox.detail.similar._diff.added, desk.inbox.detail.similar._diff.removed) == (1, 1)


@at_the_desk
async def test_a_contradiction_with_a_published_entry_is_named(desk: Desk) -> None:
    published = await desk.add("The first plan", Status.PUBLISHED)
    candidate = await desk.add("Another thought")
    await desk.core.db.write(lambda unit: entries.link(unit, candidate.id, published.id, "conflict", 1.0))
    await desk.arrive("Another thought")

    await eventually(lambda: "May contradict “The first plan”" in desk.texts(desk.inbox.detail))


def _links(widget: QWidget) -> list[str]:
    return [button.text() for button in widget.findChildren(QAbstractButton) if button.isVisible()]


def _put_secret(unit, id: str) -> None:  # type: ignore[no-untyped-def]
    """A token as somebody pasted it (made here from its format, so that no scanner stumbles over this file)."""
    from sqlalchemy import text

    token = "ghp" + "_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    unit.session.execute(text("UPDATE entries SET content = :text WHERE id = :id"), {"text": f"Use {token}", "id": id})


@at_the_desk
async def test_a_candidate_that_the_filter_finds_says_why(desk: Desk) -> None:
    await desk.add("Docker cache", content="Order the layers.")
    await desk.add("Fonts")
    await desk.open_inbox()
    await eventually(lambda: desk.inbox.model.rowCount() == 2)
    bar = desk.inbox.detail.why
    assert not bar.isVisible()
    desk.type("inboxFilter", "docker layers")
    await eventually(bar.isVisible)
    desk.inbox.list.setFocus()
    desk.press(Qt.Key.Key_Y)
    assert bar.facts.isVisible()
    assert dict(bar.facts.facts) == {"Found by": "words", "In the title": "docker", "In the text": "layers"}
    QTest.keyClick(desk.inbox.candidates.filter, Qt.Key.Key_Escape)
    await eventually(lambda: not bar.isVisible())
