"""Always allow, from the card to Settings and back, by clicks alone."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt

from devflow.ui.pages.chat import ChatPage
from tests.e2e.conftest import Start
from tests.fakes.openai_server import Call, OpenAIServer, Turn
from tests.support import hands
from tests.support.person import Person
from tests.support.settings import settings


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "inkwell"
    (folder / "src").mkdir(parents=True)
    return folder


def writes(name: str, text: str = "x\n") -> Turn:
    return Turn("", calls=[Call("write_file", {"path": f"src/{name}", "content": text})])


async def works_in(person: Person, workspace: Path) -> None:
    page = person.desktop.window.page("chat")
    assert isinstance(page, ChatPage)
    page.acts.set_project(await person.core.projects.ensure(workspace))


async def test_a_rule_made_on_the_card_allows_until_it_is_revoked_in_the_settings(
    start: Start, server: OpenAIServer, workspace: Path
) -> None:
    async with start() as person:
        await person.connect_by_service(server)
        await works_in(person, workspace)
        server.script(writes("one.py"), "First.", writes("two.py"), "Second.", writes("three.py"))
        await person.asks("Write the first.")
        await person.clicks("alwaysAllowButton")
        await person.finds("alwaysAllowDialog")
        assert "src/one.py" in person.words("alwaysAllowDialog")
        assert str(workspace) in person.words("alwaysAllowDialog")
        await person.clicks("rulePattern-1")
        hands.press(Qt.Key.Key_Return)  # an Enter too many makes no rule
        assert hands.visible("alwaysAllowDialog")
        assert not (workspace / "src" / "one.py").exists()
        await person.clicks("acceptButton")
        await person.is_answered("First.")
        assert (workspace / "src" / "one.py").exists()

        await person.asks("Write the second.")
        await person.is_answered("Second.")
        assert (workspace / "src" / "two.py").exists()

        async with settings(person, "Tools"):
            await person.sees("src/*", on="settingsTools")
            await person.clicks("revokeRuleButton")
            await person.finds("rulesEmpty")
        await person.asks("Write the third.")
        await person.finds("approvalCard")
        assert not (workspace / "src" / "three.py").exists()


async def test_allow_in_this_conversation_is_in_the_menu_of_the_button(
    start: Start, server: OpenAIServer, workspace: Path
) -> None:
    async with start() as person:
        await person.connect_by_service(server)
        await works_in(person, workspace)
        server.script(writes("one.py", "a\n"), "First.", writes("one.py", "b\n"), "Second.", writes("one.py", "c\n"))
        await person.asks("Write it.")
        await person.clicks("approveMenuButton")
        hands.choose("Allow in this conversation")
        await person.is_answered("First.")
        await person.asks("Write it again.")
        await person.is_answered("Second.")
        await person.begins_a_conversation()
        await works_in(person, workspace)
        await person.asks("Write it here.")
        await person.finds("approvalCard")
        assert (workspace / "src" / "one.py").read_text() == "b\n"
