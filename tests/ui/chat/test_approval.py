"""The approval card: it shows exactly what would happen, takes no focus, and decides once."""

import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QCheckBox, QDialog, QLineEdit, QPlainTextEdit, QRadioButton

from devflow.domain.run import CallState
from devflow.tools.policy import Effect, Rule
from devflow.tools.rules import GROUP, add_rule, read_rules
from devflow.ui.pages.chat.approval_card import ApprovalCard
from devflow.ui.pages.chat.tool_line import ToolLine
from devflow.ui.widgets import CodeDiff, NoticeStrip
from tests.fakes.openai_server import Call, OpenAIServer, Turn
from tests.ui.chat.conftest import Chat, OpenChat, eventually

WRITE = Call("write_file", {"path": "src/engine.py", "content": "one\nthree\n"})
BEFORE = "one\ntwo\n"


@dataclass(slots=True)
class Asking:
    """A conversation in a project whose newest call waits on its card."""

    chat: Chat
    server: OpenAIServer
    folder: Path

    @property
    def card(self) -> ApprovalCard:
        card = self.chat.page.transcript.card()
        assert card is not None
        return card

    @property
    def line(self) -> ToolLine:
        """The newest call that waits no more."""
        return self.chat.last.findChildren(ToolLine)[-1]

    @property
    def engine(self) -> str:
        """What stands in the file that the call would change."""
        return (self.folder / "src" / "engine.py").read_text(encoding="utf-8")

    def change_the_file(self, text: str) -> None:
        (self.folder / "src" / "engine.py").write_text(text, encoding="utf-8")

    def notices(self) -> list[str]:
        strips = self.card.findChildren(NoticeStrip)
        return [strip.words.text() for strip in strips if strip.isVisibleTo(self.card)]

    async def again(self, *turns: Turn | str) -> None:
        """Another question in the same conversation, answered by these turns, until it stands still."""
        self.server.script(*turns)
        turns_before = len(self.chat.page.session.turns)
        self.chat.say("again")
        await self.chat.shown(lambda: len(self.chat.page.session.turns) > turns_before and self._stands())

    def _stands(self) -> bool:
        return not self.chat.page.session.turns[-1].working


def project(folder: Path) -> Path:
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "engine.py").write_text(BEFORE, encoding="utf-8")
    return folder


async def ask_to_write(chat: Chat, folder: Path) -> None:
    chat.page.acts.set_project(await chat.core.projects.ensure(folder))
    chat.say("change the engine")
    await chat.waits_for_decision()


AsksToWrite = Callable[[], contextlib.AbstractAsyncContextManager[Asking]]


@pytest.fixture
def asks_to_write(open_chat: OpenChat, server: OpenAIServer, tmp_path: Path) -> AsksToWrite:
    """`async with asks_to_write() as asking:` the model wants to write `src/engine.py`; then it answers “Done.”"""

    @contextlib.asynccontextmanager
    async def opened() -> AsyncIterator[Asking]:
        server.script(Turn("I will.", calls=[WRITE]), "Done.")
        folder = project(tmp_path / "p")
        async with open_chat(server) as chat:
            await ask_to_write(chat, folder)
            yield Asking(chat, server, folder)

    return opened


async def test_the_card_shows_risk_target_and_the_very_diff(asks_to_write: AsksToWrite) -> None:
    async with asks_to_write() as asking:
        assert asking.card.accessibleName() == "Wants to edit a file: src/engine.py"
        diff = asking.card.findChild(CodeDiff)
        assert (diff.added, diff.removed) == (1, 1)
        assert "three" in diff.toPlainText()
        assert asking.notices() == []
        assert asking.engine == BEFORE


async def test_allowing_runs_it_once_even_on_a_double_click(asks_to_write: AsksToWrite) -> None:
    async with asks_to_write() as asking:
        card = asking.card
        QTest.mouseClick(card.foot.approve, Qt.MouseButton.LeftButton)
        foot = card.foot
        for control in (foot.approve, foot.allow.menu_button, foot.always, foot.edit, foot.reason, foot.deny):
            assert not control.isEnabled()
        QTest.mouseClick(card.foot.approve, Qt.MouseButton.LeftButton)
        await asking.chat.answered()

        assert asking.engine == "one\nthree\n"
        assert asking.line.call.state is CallState.DONE
        assert asking.chat.page.transcript.card() is None
        assert len(asking.server.requests) == 2


async def test_a_denial_carries_the_users_reason_to_the_model(asks_to_write: AsksToWrite) -> None:
    async with asks_to_write() as asking:
        QTest.keyClicks(asking.chat.find("denyReason", QLineEdit), "use the settings file")
        asking.chat.press("denyButton")
        await asking.chat.answered()

        assert "use the settings file" in asking.server.requests[1].tool_results[0]
        assert asking.engine == BEFORE
        assert "use the settings file" in asking.line.head.accessibleName()


async def test_edited_arguments_are_shown_again_before_they_count(asks_to_write: AsksToWrite) -> None:
    async with asks_to_write() as asking:
        chat, card = asking.chat, asking.card
        chat.press("editArgumentsButton")
        field = chat.find("argument_content", QPlainTextEdit)
        assert isinstance(field, QPlainTextEdit)
        field.setPlainText("one\nfour\n")
        chat.press("approveButton")
        await chat.shown(lambda: card.call.edited)
        assert asking.engine == BEFORE
        assert "four" in card.findChild(CodeDiff).toPlainText()
        assert asking.notices() == ["These are your edited arguments; the model is told."]

        chat.press("approveButton")
        await chat.answered()
        assert asking.engine == "one\nfour\n"
        assert "four" in asking.server.requests[1].tool_results[0]


async def test_while_arguments_are_edited_nothing_wider_can_be_allowed(asks_to_write: AsksToWrite) -> None:
    async with asks_to_write() as asking:
        foot = asking.card.foot
        asking.chat.press("editArgumentsButton")
        assert not foot.always.isVisible()
        assert not foot.allow.menu_button.isVisible()
        asking.chat.press("editArgumentsButton")
        assert foot.always.isVisible()


async def test_arguments_that_cannot_work_are_refused_on_the_card(asks_to_write: AsksToWrite) -> None:
    async with asks_to_write() as asking:
        chat, card = asking.chat, asking.card
        chat.press("editArgumentsButton")
        path = chat.find("argument_path", QPlainTextEdit)
        assert isinstance(path, QPlainTextEdit)
        path.setPlainText("../outside.py")
        chat.press("approveButton")
        await eventually(card.foot.problem.isVisible)

        assert card.foot.approve.isEnabled()
        assert path.toPlainText() == "../outside.py"
        assert not (asking.folder.parent / "outside.py").exists()


async def test_text_that_is_no_json_stays_in_the_editor_with_a_word_about_it(asks_to_write: AsksToWrite) -> None:
    async with asks_to_write() as asking:
        asking.chat.press("editArgumentsButton")
        editor = asking.card._editor
        assert editor is not None
        editor._view.part(1).click()
        field = asking.chat.find("argumentsJson", QPlainTextEdit)
        assert isinstance(field, QPlainTextEdit)
        field.setPlainText("{ not json")
        asking.chat.press("approveButton")
        assert field.toPlainText() == "{ not json"
        assert editor._problem.text() == "This is not a JSON object."
        assert asking.card.foot.approve.isEnabled()


async def test_a_card_never_takes_the_focus_and_enter_in_the_composer_never_allows(asks_to_write: AsksToWrite) -> None:
    async with asks_to_write() as asking:
        chat = asking.chat
        assert QApplication.focusWidget() is chat.page.composer.field
        chat.enter()
        chat.say("and then the tests")
        await chat.shown(lambda: chat.page.composer.queue.isVisible())

        assert chat.page.transcript.card() is not None
        assert asking.engine == BEFORE
        assert await read_rules(chat.core.settings) == ()


async def test_f6_jumps_to_the_card_and_not_to_its_buttons(asks_to_write: AsksToWrite) -> None:
    async with asks_to_write() as asking:
        QTest.keyClick(asking.chat.page, Qt.Key.Key_F6)
        assert QApplication.focusWidget() is asking.card
        for key in (Qt.Key.Key_Return, Qt.Key.Key_Space):
            QTest.keyClick(asking.card, key)
        assert asking.card.foot.approve.isEnabled()


async def test_every_control_of_the_card_is_reached_by_tab(asks_to_write: AsksToWrite) -> None:
    async with asks_to_write() as asking:
        asking.card.setFocus()
        reached = []
        for _ in range(8):
            QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
            focused = QApplication.focusWidget()
            if focused is None or not asking.card.isAncestorOf(focused):
                break
            reached.append(focused.objectName())
        wanted = ["approveButton", "approveMenuButton", "alwaysAllowButton", "editArgumentsButton", "denyReason"]
        assert [name for name in reached if name in (*wanted, "denyButton")] == [*wanted, "denyButton"]


async def test_a_card_is_there_again_after_a_restart_and_its_decision_counts(
    open_chat: OpenChat, server: OpenAIServer, tmp_path: Path
) -> None:
    server.script(Turn("", calls=[WRITE]), "Done.")
    folder = project(tmp_path / "p")
    async with open_chat(server) as chat:
        await ask_to_write(chat, folder)
        open_one = chat.page.session.id
        assert open_one is not None
    async with open_chat(server) as chat:
        await chat.page.session.open(open_one)
        assert chat.page.transcript.card() is not None
        chat.press("approveButton")
        await chat.answered()
        assert Asking(chat, server, folder).engine == "one\nthree\n"


async def test_a_file_that_changed_meanwhile_is_shown_anew_instead_of_written(asks_to_write: AsksToWrite) -> None:
    async with asks_to_write() as asking:
        chat, card = asking.chat, asking.card
        asking.change_the_file("one\nother\n")
        chat.press("approveButton")
        await chat.shown(lambda: chat.page.transcript.card() not in (None, card) or bool(card.call.error))
        await chat.waits_for_decision()

        assert "other" in asking.card.findChild(CodeDiff).toPlainText()
        assert asking.notices() == ["The file changed after you looked. This is what would happen now."]
        assert asking.engine == "one\nother\n"


async def test_a_tool_call_is_one_line_that_unfolds(open_chat: OpenChat, server: OpenAIServer, tmp_path: Path) -> None:
    server.script(Turn("Reading.", calls=[Call("read_file", {"path": "src/engine.py"})]), "Read.")
    async with open_chat(server) as chat:
        chat.page.acts.set_project(await chat.core.projects.ensure(project(tmp_path / "p")))
        await chat.asked("read it")
        line = chat.last.findChild(ToolLine)
        assert line.head.text() == "Read src/engine.py"
        assert line.height() == 28
        QTest.mouseClick(line.head, Qt.MouseButton.LeftButton)
        shown = [each.toPlainText() for each in line.findChildren(QPlainTextEdit)]
        assert '"path": "src/engine.py"' in shown[0]
        assert "two" in shown[1]


# wider than once


def chooses(place: int, *, after: bool = False, act: str = "accept") -> Callable[[QDialog], None]:
    """What the human does in the dialog of Always allow."""

    def acts(dialog: QDialog) -> None:
        choice, box = dialog.findChild(QRadioButton, f"rulePattern-{place}"), dialog.findChild(QCheckBox)
        assert choice is not None
        assert box is not None
        assert not box.isChecked()
        choice.setChecked(True)
        box.setChecked(after)
        getattr(dialog, act)()

    return acts


async def test_the_dialog_shows_tool_folder_and_each_pattern_in_full(asks_to_write: AsksToWrite) -> None:
    async with asks_to_write() as asking:
        seen: list[str] = []

        def look(dialog: QDialog) -> None:
            seen.extend(field.toPlainText() for field in dialog.findChildren(QPlainTextEdit))
            dialog.reject()

        asking.chat.dialogs.will(look)
        asking.chat.press("alwaysAllowButton")
        await eventually(lambda: bool(seen))
        assert seen == ["write_file", str(asking.folder), "src/engine.py", "src/*"]
        assert asking.engine == BEFORE
        assert asking.card.foot.approve.isEnabled()


@pytest.mark.parametrize("place, pattern", [(0, "src/engine.py"), (1, "src/*")])
async def test_always_allow_makes_exactly_the_chosen_rule_and_runs_the_call(
    asks_to_write: AsksToWrite, place: int, pattern: str
) -> None:
    async with asks_to_write() as asking:
        asking.chat.dialogs.will(chooses(place))
        asking.chat.press("alwaysAllowButton")
        await asking.chat.answered()
        assert asking.engine == "one\nthree\n"
        (rule,) = await read_rules(asking.chat.core.settings)
        assert rule == Rule(Effect.ALLOW, "write_file", str(asking.folder), pattern)

        other = Call("write_file", {"path": "src/new.py", "content": "x\n"})
        await asking.again(Turn("", calls=[other]), "Done.")
        assert (asking.folder / "src" / "new.py").exists() is (place == 1)


async def test_a_dialog_that_is_cancelled_decides_nothing(asks_to_write: AsksToWrite) -> None:
    async with asks_to_write() as asking:
        asking.chat.dialogs.will(chooses(1, act="reject"))
        asking.chat.press("alwaysAllowButton")
        await eventually(lambda: bool(asking.chat.dialogs.asked) and not asking.chat.dialogs.answers)
        assert asking.card.call.state is CallState.AWAITING
        assert await read_rules(asking.chat.core.settings) == ()


async def test_allow_in_this_conversation_covers_the_same_call_here_alone(asks_to_write: AsksToWrite) -> None:
    async with asks_to_write() as asking:
        asking.card.foot.here.trigger()
        await asking.chat.answered()
        await asking.again(
            Turn("", calls=[Call("write_file", {"path": "src/engine.py", "content": "five\n"})]), "Done."
        )
        assert asking.engine == "five\n"
        asking.chat.page.start_new()
        asking.server.script(Turn("", calls=[WRITE]))
        await ask_to_write(asking.chat, asking.folder)
        assert asking.engine == "five\n"


READ = Call("read_file", {"path": "src/engine.py"})


async def test_after_text_from_outside_a_rule_asks_again_and_the_card_says_why(asks_to_write: AsksToWrite) -> None:
    async with asks_to_write() as asking:
        asking.chat.dialogs.will(chooses(0))
        asking.chat.press("alwaysAllowButton")
        await asking.chat.answered()
        await asking.again(Turn("", calls=[READ]), Turn("", calls=[WRITE]), "Done.")
        assert asking.notices() == ["A rule allows this, but this conversation has read text from outside."]
        assert asking.card.foot.here.text() == "Allow in this conversation, though it has read text from outside"

        asking.chat.dialogs.will(chooses(0, after=True))
        asking.chat.press("alwaysAllowButton")
        await asking.chat.answered(2)
        (rule,) = await read_rules(asking.chat.core.settings)
        assert rule.after_untrusted
        await asking.again(Turn("", calls=[WRITE]), "Done.")
        assert asking.chat.page.transcript.card() is None


@pytest.mark.parametrize(
    "stored, notice, why",
    [
        (
            {"effect": "ask", "tool": "write_file", "pattern": "src"},
            "A rule of yours asks before this.",
            "A rule of yours asks before this each time; no other rule can allow it.",
        ),
        (
            {"effect": "allow", "tool": "write_file", "pattern": "*"},
            "A stored rule cannot be read, so this asks. Settings → Tools shows it.",
            "No rule can allow this while a stored rule cannot be read.",
        ),
    ],
)
async def test_where_no_rule_can_allow_the_button_is_off_and_says_why(
    open_chat: OpenChat, server: OpenAIServer, tmp_path: Path, stored: dict[str, str], notice: str, why: str
) -> None:
    server.script(Turn("", calls=[WRITE]))
    folder = project(tmp_path / "p")
    async with open_chat(server) as chat:
        await chat.core.settings.save(GROUP, {"rules": [{**stored, "workspace": str(folder)}]})
        await ask_to_write(chat, folder)
        asking = Asking(chat, server, folder)
        assert asking.notices() == [notice]
        assert not asking.card.foot.always.isEnabled()
        assert asking.card.foot.always.toolTip() == why
        assert not asking.card.foot.here.isEnabled()


@pytest.mark.parametrize("arguments", [{"command": ["python3", "-c", "print(1)"]}, {"shell": "git status; ls"}])
async def test_for_an_interpreter_and_a_shell_line_no_rule_is_offered(
    open_chat: OpenChat, server: OpenAIServer, tmp_path: Path, arguments: dict[str, object]
) -> None:
    server.script(Turn("", calls=[Call("run_command", arguments)]))
    async with open_chat(server) as chat:
        await ask_to_write(chat, project(tmp_path / "p"))
        card = chat.page.transcript.card()
        assert card is not None
        assert not card.foot.always.isEnabled()
        assert not card.foot.here.isEnabled()
        assert card.foot.always.toolTip().startswith("No rule may allow an interpreter, a shell line")
        assert card.foot.approve.isEnabled()


async def test_a_rule_revoked_meanwhile_allows_no_more(asks_to_write: AsksToWrite) -> None:
    async with asks_to_write() as asking:
        rule = Rule(Effect.ALLOW, "write_file", str(asking.folder), "src/*")
        await add_rule(asking.chat.core.settings, rule)
        asking.chat.press("denyButton")
        await asking.chat.answered()
        await asking.again(Turn("", calls=[WRITE]), "Done.")
        assert asking.engine == "one\nthree\n"
        await asking.chat.core.settings.save(GROUP, {"rules": []})
        await asking.again(Turn("", calls=[WRITE]))
        assert asking.chat.page.transcript.card() is not None
