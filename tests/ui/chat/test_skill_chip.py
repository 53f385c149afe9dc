"""A message that was sent with a skill says so."""

from pathlib import Path

from PySide6.QtWidgets import QDialog, QLabel

from tests.fakes.openai_server import Gate, OpenAIServer, Turn
from tests.support import hands
from tests.ui.chat.conftest import Chat, OpenChat, eventually


def write_skill(chat: Chat, place: Path | None = None, does: str = "Reviews code.") -> None:
    folder = (place or chat.core.paths.home / "skills") / "review"
    folder.mkdir(parents=True)
    text = f"---\nname: review\ndescription: {does}\n---\n\nLook for bugs first.\n"
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


async def test_a_waiting_message_shows_the_skill_that_it_waits_with(open_chat: OpenChat, server: OpenAIServer) -> None:
    gate = Gate()
    server.script(Turn(["One", gate, "."]), "Two.")
    async with open_chat(server) as chat:
        write_skill(chat)
        chat.page.acts.send("First.")
        await eventually(lambda: gate.reached)
        chat.page.acts.send("Look at this.", skill="review")
        await chat.shown(lambda: chat.page.composer.queue.isVisible())
        assert chat.page.composer.queue.accessibleName() == "/review Look at this."
        gate.open()
        await chat.answered(2)
        assert chat.last.user.skill is not None


async def test_the_popup_says_whose_a_skill_is_and_that_it_hides_another(open_chat: OpenChat, tmp_path: Path) -> None:
    async with open_chat() as chat:
        write_skill(chat)
        project = await chat.core.projects.ensure(tmp_path)
        write_skill(chat, tmp_path / ".agents/skills", "Reviews this project.")
        made = await chat.core.conversations.create(project_id=project.id)
        chat.page.open_link(f"devflow:conversation/{made.id}")
        line = "Project, hides 1 other · Reviews this project."
        await eventually(lambda: line in [command.does for command in chat.page.commands.commands()])


async def test_a_skill_that_cannot_be_used_says_why_where_it_is_called_and_in_the_help(open_chat: OpenChat) -> None:
    async with open_chat() as chat:
        folder = chat.core.paths.home / "skills/broken"
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text("no front matter", encoding="utf-8")
        chat.say("/broken look at this")
        note = chat.page.commands.note
        said = "does not begin with name and description"
        await eventually(lambda: note.isVisible() and said in note.accessibleName())
        assert chat.page.composer.text == "/broken look at this"
        seen: list[str] = []

        def look(dialog: QDialog) -> int:
            seen.extend(label.text() for label in dialog.findChildren(QLabel, "brokenSkill"))
            return 1

        chat.dialogs.will(look)
        chat.page.composer.set_text("")
        chat.say("/help")
        await eventually(lambda: bool(seen))
        assert "The SKILL.md of the skill broken" in seen[0]


async def test_a_skill_without_words_is_sent_by_its_command_alone(open_chat: OpenChat, server: OpenAIServer) -> None:
    server.script("Done.")
    async with open_chat(server) as chat:
        write_skill(chat)
        chat.say("/review")
        await chat.answered()
        assert chat.page.session.turns[-1].user.content == "/review"
        assert "Look for bugs first." in server.requests[0].system
