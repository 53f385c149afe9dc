"""`/` in the composer: the commands, one that there is not, the dialog of an export, and the sheet of keys."""

from PySide6.QtWidgets import QDialog

from devflow.ui.pages.chat import ChatPage
from tests.shots.stage import Stage


async def offered(stage: Stage) -> None:
    """A slash at the beginning of a message."""
    page = await _page(stage)
    page.composer.field.insertPlainText("/")
    await stage.settled()


async def unknown(stage: Stage) -> None:
    """What somebody typed is no command here; it is not sent."""
    page = await _page(stage)
    page.composer.field.insertPlainText("/pdf")
    page.command_completion.close()
    page.commands.submit("/pdf")
    await stage.settled()


async def export(stage: Stage) -> None:
    """`/export`: which format."""
    page = await _page(stage)
    page.commands.note.dismiss()
    page.commands.submit("/export")
    await stage.settled(dialog=True)
    stage.target = stage.find(QDialog, "exportDialog")


async def help_sheet(stage: Stage) -> None:
    page = await _page(stage)
    page.commands.submit("/help")
    await stage.settled(dialog=True)
    stage.target = stage.find(QDialog, "commandSheet")


async def _page(stage: Stage) -> ChatPage:
    await stage.show("chat")
    page = stage.window.page("chat")
    assert isinstance(page, ChatPage)
    page.composer.set_text("")
    page.completion.close()
    await stage.focus("composer")
    return page
