"""The first page: what can be done is offered, what is done is shown, and each step can be taken back."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QAbstractButton, QWidget

from devflow.app.desktop import Desktop
from devflow.domain.conversation import OFFLINE
from devflow.domain.knowledge import Project
from devflow.domain.knowledge_base import KnowledgeBase
from devflow.ui.pages.welcome import WelcomeView
from devflow.ui.window import Pages
from tests.support.eventually import eventually
from tests.support.waiting import emission
from tests.ui.conftest import OpenWindow, ScriptedDialogs


@pytest.fixture
async def desktop(open_window: OpenWindow) -> AsyncIterator[Desktop]:
    async with open_window(Pages(chat=WelcomeView)) as opened:
        yield opened


async def test_loading_the_samples_fills_the_library_and_suggests_questions(desktop: Desktop) -> None:
    view = _view(desktop)
    await _click(desktop, view, "loadSamplesButton", until_there="removeSamplesButton")
    assert (await desktop.core.knowledge.knowledge_list()).total == 12
    asked = await emission(view.ask, _button(view, "suggestionButton").click)
    samples = desktop.core.samples
    assert asked[0] in (samples.wiki_question("en"), *samples.questions("en"))


async def test_no_question_is_suggested_before_the_chat_is_in_the_sample_wiki(desktop: Desktop) -> None:
    view = _view(desktop)
    suggested: list[int] = []
    desktop.window.events.base_chosen.connect(lambda _: suggested.append(len(_suggestions(view))))
    await _click(desktop, view, "loadSamplesButton", until_there="removeSamplesButton")
    assert suggested == [0]
    assert _suggestions(view)


async def test_the_samples_go_in_one_click(desktop: Desktop) -> None:
    view = _view(desktop)
    await _click(desktop, view, "loadSamplesButton", until_there="removeSamplesButton")
    await _click(desktop, view, "removeSamplesButton", until_there="loadSamplesButton")
    assert (await desktop.core.knowledge.knowledge_list()).total == 0
    assert not _suggestions(view)


async def test_a_folder_is_chosen_and_given_on(desktop: Desktop, dialogs: ScriptedDialogs, tmp_path: Path) -> None:
    view = _view(desktop)
    folder = tmp_path / "inkwell-server"
    folder.mkdir()
    dialogs.will(str(folder))
    (project,) = await emission(view.project_chosen, _button(view, "chooseFolderButton").click)
    assert isinstance(project, Project)
    assert project.name == "inkwell-server"


async def test_nobody_is_asked_twice_when_no_folder_is_chosen(desktop: Desktop, dialogs: ScriptedDialogs) -> None:
    view = _view(desktop)
    dialogs.will(None)
    view.project_chosen.connect(lambda project: pytest.fail("nothing was chosen"))
    _button(view, "chooseFolderButton").click()
    await _until_idle(desktop)
    assert await desktop.core.projects.list() == ()


async def test_without_a_model_the_page_says_that_it_works_and_offers_to_connect_one(desktop: Desktop) -> None:
    view = _view(desktop)
    await _until_idle(desktop)
    assert await desktop.core.models.main_choice() == OFFLINE
    assert view._sentence.text().startswith("It works right now")
    assert "by quoting entries and pages" in view._sentence.text()
    assert _button(view, "otherModelButton").isEnabled()


def _view(desktop: Desktop) -> WelcomeView:
    view = desktop.window.page("chat")
    assert isinstance(view, WelcomeView)
    return view


def _button(view: QWidget, name: str) -> QAbstractButton:
    found = [button for button in view.findChildren(QAbstractButton, name) if not button.isHidden()]
    assert found, name
    return found[-1]


async def _click(desktop: Desktop, view: QWidget, name: str, *, until_there: str) -> None:
    await _until_idle(desktop)
    _button(view, name).click()

    await _until_idle(desktop)
    assert _button(view, until_there).isEnabled()


async def _until_idle(desktop: Desktop) -> None:
    """Until what was launched has ended, and what that launched."""
    async with asyncio.timeout(10):
        await desktop.tasks.settled()


async def test_a_folder_of_pages_is_opened_and_given_on(
    desktop: Desktop, dialogs: ScriptedDialogs, tmp_path: Path
) -> None:
    view = _view(desktop)
    (tmp_path / "notes" / "wiki").mkdir(parents=True)
    dialogs.will(str(tmp_path / "notes"))
    (base,) = await emission(view.base_chosen, _button(view, "openBaseButton").click)
    assert isinstance(base, KnowledgeBase)
    assert base.name == "notes"
    await desktop.core.bases.use(base.id)
    await eventually(lambda: view._base.title.text() == "notes")


async def test_a_folder_is_set_up_on_the_users_word(desktop: Desktop, dialogs: ScriptedDialogs, tmp_path: Path) -> None:
    view = _view(desktop)
    dialogs.will(str(tmp_path), "to try it out")
    (base,) = await emission(view.base_chosen, _button(view, "setUpBaseButton").click)
    assert isinstance(base, KnowledgeBase)
    assert (tmp_path / "wiki").is_dir()


def _suggestions(view: WelcomeView) -> list[QAbstractButton]:
    return [button for button in view.findChildren(QAbstractButton, "suggestionButton") if not button.isHidden()]
