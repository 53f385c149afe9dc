"""What the tests of digests in the window share: a base, a model, files, and the dialog driven by hand."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from PySide6.QtWidgets import QAbstractButton, QDialog

from devflow.domain.digest import DigestBatch
from devflow.domain.knowledge_base import KnowledgeBase
from devflow.domain.provider import ProviderDraft
from devflow.ui.dialogs.digest_dialog import DigestDialog
from devflow.ui.models.digests import DigestWatch
from devflow.ui.pages.knowledge.digest_card import DigestCard
from devflow.ui.statusline import StatusItem
from tests.fakes.openai_server import OpenAIServer
from tests.support import hands
from tests.support.desk import Desk
from tests.support.eventually import eventually
from tests.support.pages import write

PURPOSE = "Notes on how databases are run."
PATIENCE = 20.0


async def connect(desk: Desk, server: OpenAIServer) -> None:
    """A model that digests."""
    if not await desk.core.models.list():
        await desk.core.models.add(ProviderDraft("Model", server.base_url, models=tuple(server.models)))


async def base_in(desk: Desk, folder: Path) -> KnowledgeBase:
    """A fresh knowledge base, current and looked at."""
    base = await desk.core.bases.initialise(write(folder, {"raw/.keep": ""}), PURPOSE)
    await look_at(desk, base)
    return base


async def look_at(desk: Desk, base: KnowledgeBase) -> None:
    await desk.core.bases.use(base.id)
    desk.desktop.window.show_page("knowledge")
    await desk.knowledge.ready
    hands.click("sideWiki")
    await eventually(lambda: desk.wiki._base is not None and desk.wiki._base.id == base.id and desk.wiki._listing)


def articles(folder: Path, count: int, name: str = "{:03}.md") -> list[Path]:
    """Files to digest: `000.md` with the title `Article 0`."""
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / name.format(number) for number in range(count)]
    for number, file in enumerate(files):
        file.write_text(f"# Article {number}\n\nWhat article {number} says.", encoding="utf-8")
    return files


async def begin(desk: Desk, base: KnowledgeBase, files: Sequence[Path], concurrency: int = 3) -> DigestBatch:
    """As the dialog begins it."""
    batch = await desk.core.digests.start(base.id, files, concurrency=concurrency)
    watch(desk).follow(batch)
    return batch


def watch(desk: Desk) -> DigestWatch:
    return DigestWatch.of(desk.desktop.window.ctx)


def card(desk: Desk) -> DigestCard:
    return desk.wiki.detail.card


def row(desk: Desk, name: str) -> str:
    """What the card says of a file; empty where it has no such row."""
    model = card(desk).model
    files = (model.file(number) for number in range(model.rowCount()))
    return next((model.words(file) for file in files if file is not None and Path(file.path).name == name), "")


def status(desk: Desk) -> str:
    item = desk.find(StatusItem, "statusDigest")
    return item.text() if item.isVisible() else ""


def by_hand(drive: Callable[[DigestDialog], Awaitable[None]]) -> Callable[[QDialog], Awaitable[int]]:
    """For `dialogs.will`: the dialog is shown, driven, and stays until it ends by itself or `drive` returns."""

    async def driven(dialog: QDialog) -> int:
        assert isinstance(dialog, DigestDialog)
        dialog.show()
        await eventually(lambda: dialog._looked)
        await drive(dialog)
        return dialog.result()

    return driven


async def press(dialog: DigestDialog, name: str) -> None:
    """Click a button of the dialog as soon as it can be pressed."""
    button = dialog.findChild(QAbstractButton, name)
    assert button is not None, name
    await eventually(button.isEnabled, within=PATIENCE)
    hands.click(button)


async def start(dialog: DigestDialog) -> None:
    await press(dialog, "startDigestButton")
    await eventually(lambda: dialog.started is not None)
