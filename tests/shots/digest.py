"""A digest: files are picked, read three at a time, and one that holds no text has failed."""

import asyncio
import tempfile
from dataclasses import replace
from pathlib import Path

from PySide6.QtWidgets import QDialog

from devflow.domain.conversation import ModelChoice
from devflow.domain.digest import FileState
from devflow.domain.provider import ProviderDraft
from devflow.ui.dialogs.digest_dialog import DigestDialog
from devflow.ui.models.digests import DigestWatch
from devflow.ui.pages.knowledge import KnowledgePage
from tests.fakes.digest_server import DigestServer, page_for
from tests.fakes.openai_server import Gate, Request, Turn
from tests.shots.stage import Stage
from tests.support.documents import docx, pdf


class _Stalling(DigestServer):
    """Digests most files at once, stops in the middle of one, and does not begin two others."""

    def __init__(self, stage: Stage, files: list[Path]) -> None:
        super().__init__(self._answer, models=("qwen3:8b",))
        self.gate = Gate()
        self.files = files
        self._stage = stage

    def _answer(self, request: Request, name: str, before: int) -> Turn | None:
        whole = page_for(f"# {name}\n{name}", chinese=self._stage.zh)
        if name == self.files[2].name:
            cut = whole.index("关键细节" if self._stage.zh else "Key details") + 12
            return Turn([whole[:cut], self.gate, whole[cut:]], usage=(3_000, 500))
        if name in (self.files[3].name, "note-4.md"):
            return Turn([self.gate, whole], usage=(3_000, 500))
        return Turn(whole, usage=(8_000 + 97 * len(name), 700))


async def dialog(stage: Stage) -> None:
    """Files and a folder are picked; one file holds nothing, and some are of other kinds."""
    server = stage.on_close.enter_context(_Stalling(stage, _files(stage)))
    stage.digest_server = server
    models = stage.core.models
    config = await models.add(ProviderDraft("Ollama", server.base_url, models=tuple(server.models)))
    await models.save_roles(replace(await models.roles(), digest=ModelChoice(config.id, server.models[0])))
    opened = await _opened(stage)
    opened.files.list.setCurrentIndex(opened.model.index(1, 0))
    stage.target = opened


async def running(stage: Stage) -> None:
    """Seven of twelve are through; a page is being written, two files are being read."""
    (await _opened(stage)).start.click()
    watch = DigestWatch.of(stage.window.ctx)
    for _ in range(800):
        await asyncio.sleep(0.02)
        digest = next(iter(watch.all), None)
        if digest is not None and digest.ended >= 7:
            break
    await stage.focus("pageList")
    await stage.settled()


async def done(stage: Stage) -> None:
    """Over: what failed says why, and can be tried again."""
    server = stage.digest_server
    assert isinstance(server, _Stalling)
    server.gate.open()
    watch = DigestWatch.of(stage.window.ctx)
    for _ in range(400):
        await asyncio.sleep(0.02)
        if not watch.all[0].running:
            break
    card = _page(stage).wiki.detail.card
    card.list.setCurrentIndex(card.model.index(card.model.first(FileState.FAILED), 0))
    await stage.focus("digestFiles")


async def _opened(stage: Stage) -> DigestDialog:
    server = stage.digest_server
    assert isinstance(server, _Stalling)
    _page(stage).wiki.detail.digest.click()
    for _ in range(100):
        await asyncio.sleep(0.02)
        if stage.window.findChild(QDialog, "digestDialog") is not None:
            break
    opened = stage.find(DigestDialog, "digestDialog")
    opened.add([*server.files, server.files[0].parent])
    await stage.settled(dialog=True)
    return opened


def _files(stage: Stage) -> list[Path]:
    """Those of the picture, in its order; their folder holds more."""
    say = stage.say
    folder = Path(stage.on_close.enter_context(tempfile.TemporaryDirectory())) / say("material", "资料")
    named = {
        say("lock-wait-experiment.pdf", "锁等待实验.pdf"): pdf(["lock wait experiment"] * 12),
        say("pool-comparison.docx", "连接池对照.docx"): docx(["# pool", "settings compared"]),
        "wal-internals.html": b"<title>WAL</title><p>how it is laid out on the disk",
        say("incident-03.md", "事故回顾-03.md"): say("# Incident\n\nWhat happened", "# 事故\n\n经过").encode(),
        say("scanned-old-spec.pdf", "扫描件-旧规范.pdf"): pdf([""]),
    }
    others = {f"note-{number}.md": f"# {number}\n\nnote {number}".encode() for number in range(7)}
    rest = {say("empty.txt", "空白.txt"): b"", "a.png": b"x", "b.png": b"x", "table.xlsx": b"x"}
    folder.mkdir()
    for name, data in {**named, **others, **rest}.items():
        (folder / name).write_bytes(data)
    return [folder / name for name in named]


def _page(stage: Stage) -> KnowledgePage:
    page = stage.window.page("knowledge")
    assert isinstance(page, KnowledgePage)
    return page
