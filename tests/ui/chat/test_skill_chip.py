"""A message that was sent with a skill says so."""

from pathlib import Path

from PySide6.QtWidgets import QLabel

from tests.fakes.openai_server import OpenAIServer
from tests.support import hands
from tests.ui.chat.conftest import Chat, OpenChat


def write_skill(chat: Chat, place: Path | None = None) -> None:
    folder = (place or chat.core.paths.home / "skills") / "review"
    folder.mkdir(parents=True)
    text = "---\nname: review\ndescription: Reviews code.\n---\n\nLook for bugs first.\n"
    (folder / "SKILL.md").write_text(text, encoding="utf-8")


async def test_a_chip_names_the_skill_and_whose_it_is(open_chat: OpenChat, server: OpenAIServer) -> None:
    server.script("Done.", "Done.")
    async with open_chat(server) as chat:
        write_skill(chat)
        chat.page.acts.send("Look at this.", skill="review")
        await chat.answered()
        chip = chat.find("skillChip", QLabel)
        assert chip.text() == "review"  # type: ignore[attr-defined]
        assert chip.toolTip() == "A skill of yours"
        assert chat.last.user.accessibleName() == "You, with the skill review: Look at this."
        await chat.asked("And now without.")
        assert chat.last.user.skill is None


async def test_an_edited_question_keeps_its_chip(open_chat: OpenChat, server: OpenAIServer) -> None:
    server.script("One.", "Two.")
    async with open_chat(server) as chat:
        write_skill(chat)
        chat.page.acts.send("Look at this.", skill="review")
        await chat.answered()
        chat.last.user.edit()
        hands.type_into(chat.find("editMessageField"), " Again.")
        chat.press("resendButton")
        await chat.shown(lambda: chat.page.session.turns[-1].user.content.endswith("Again."))
        await chat.answered()
        assert chat.last.user.skill is not None
        assert chat.last.user.skill.isVisible()
