"""A digest: files are picked, read three at a time, and one that holds no text has failed."""

import asyncio
import tempfile
from pathlib import Path

from PySide6.QtWidgets import QDialog

from devflow.domain.digest import FileState
from devflow.domain.provider import ProviderDraft
from devflow.ui.dialogs.digest import DigestDialog
from devflow.ui.models.digests import DigestWatch
from devflow.ui.pages.knowledge import KnowledgePage
from tests.fakes.digest_server import DigestServer, page_for
from tests.fakes.openai_server import Gate, Request, Turn
from tests.shots.stage import Stage
from tests.support.documents import docx, pdf

_SCAN = b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[]/Count 0>>endobj\n"


class _Stalling(DigestServer):
    """Digests some files at once, stops in the middle of one, and does not begin another."""

    def __init__(self, stage: Stage, begun: str, waiting: str) -> None:
        super().__init__(self._answer, models=("qwen3:8b",))
        self.gate = Gate()
        self.folder: Path | None = None
        self._stage, self._begun, self._waiting = stage, begun, waiting

    def _answer(self, request: Request, name: str, before: int) -> Turn | None:
        whole = page_for(f"# {name}\n{name}", chinese=self._stage.zh)
        if name == self._begun:
            cut = whole.index("关键细节" if self._stage.zh else "Key details") + 12
            return Turn([whole[:cut], self.gate, whole[cut:]], usage=(3_000, 500))
        if name == self._waiting or before:
            return Turn([self.gate, whole], usage=(3_000, 500))
        return Turn(whole, usage=(8_000 + 97 * len(name), 700))


async def dialog(stage: Stage) -> None:
    """Files of a folder are picked; one was digested before, one holds nothing."""
    folder, (begun, waiting) = _files(stage)
    server = stage.on_close.enter_context(_Stalling(stage, begun, waiting))
    stage.model_server = server
    await stage.core.models.add(ProviderDraft("Ollama", server.base_url, models=tuple(server.models)))
    server.folder = folder
    opened = await _opened(stage, folder)
    opened.files.list.setCurrentIndex(opened.model.index(1, 0))
    stage.target = opened


async def running(stage: Stage) -> None:
    """Seven of twelve are through; a page is being written, another file is being read."""
    server = stage.model_server
    assert isinstance(server, _Stalling)
    assert server.folder is not None
    (await _opened(stage, server.folder)).start.click()
    watch = DigestWatch.of(stage.window.ctx)
    for _ in range(800):
        await asyncio.sleep(0.02)
        digest = next(iter(watch.all), None)
        if digest is not None and digest.count(FileState.DONE, FileState.FAILED) >= 7:
            break
    await asyncio.sleep(0.5)
    await stage.focus("pageList")
    await stage.settled()


async def _opened(stage: Stage, folder: Path) -> DigestDialog:
    _page(stage).wiki.detail.digest.click()
    for _ in range(100):
        await asyncio.sleep(0.02)
        if stage.window.findChild(QDialog, "digestDialog") is not None:
            break
    opened = stage.find(DigestDialog, "digestDialog")
    opened.add([folder])
    await stage.settled(dialog=True)
    return opened


def _files(stage: Stage) -> tuple[Path, tuple[str, str]]:
    folder = Path(stage.on_close.enter_context(tempfile.TemporaryDirectory())) / stage.say("material", "资料")
    folder.mkdir()
    say = stage.say
    begun, waiting = "wal-internals.html", say("incident-03.md", "事故回顾-03.md")
    (folder / say("a-lock-wait-experiment.pdf", "a-锁等待实验.pdf")).write_bytes(pdf(["lock wait experiment"] * 12))
    (folder / say("b-pool-comparison.docx", "b-连接池对照.docx")).write_bytes(docx(["# pool", "settings compared"]))
    (folder / begun).write_text("<title>WAL</title><p>how it is laid out on the disk")
    (folder / waiting).write_text(say("# Incident\n\nWhat happened", "# 事故\n\n经过"))
    (folder / say("scanned-old-spec.pdf", "扫描件-旧规范.pdf")).write_bytes(pdf([""]))
    for number in range(7):
        (folder / f"note-{number}.md").write_text(f"# {number}\n\nnote {number}")
    (folder / say("empty.txt", "空白.txt")).touch()
    for name in ("a.png", "b.png", "table.xlsx"):
        (folder / name).write_text("x")
    return folder, (begun, waiting)


def _page(stage: Stage) -> KnowledgePage:
    page = stage.window.page("knowledge")
    assert isinstance(page, KnowledgePage)
    return page
