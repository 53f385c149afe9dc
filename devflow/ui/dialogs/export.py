"""Export of a conversation: which format, where to, and whether a file that is there is to be replaced."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QStandardPaths
from PySide6.QtWidgets import QDialog, QHBoxLayout, QVBoxLayout, QWidget

from devflow.sharing.conversation import SharedConversation
from devflow.sharing.file_names import file_name
from devflow.sharing.service import TextFormat
from devflow.ui.context import UiContext
from devflow.ui.widgets import Button, Label, Segmented
from devflow.ui.widgets.chips import Paragraph

GROUP = "export"
"""Settings group: `folder`, where the last one went, and `format`."""
_WIDTH = 420


@dataclass(frozen=True, slots=True)
class Format:
    name: str
    title: str
    suffix: str
    does: str


def formats(ctx: UiContext) -> tuple[Format, ...]:
    t = ctx.t
    return (
        Format("markdown", "Markdown", ".md", t("Plain text that every editor opens")),
        Format("html", "HTML", ".html", t("One page for any browser, readable offline")),
        Format("pdf", "PDF", ".pdf", t("Pages to print or to send")),
    )


@dataclass(frozen=True, slots=True)
class Export:
    """What to write, and where."""

    shared: SharedConversation
    conversation_id: str
    format: Format
    target: Path


async def ask_export(ctx: UiContext, conversation_id: str, named: str | None = None) -> Export | None:
    """Ask what `/export pdf` left open; None where the user would rather not. Raises Refused where nothing was said."""
    shared = await ctx.services.sharing.read(conversation_id)
    kept = await ctx.services.settings.get(GROUP)
    known = {each.name: each for each in formats(ctx)}
    if named is None:
        named = await _choose_format(ctx, str(kept.get("format", "")))
        if named is None:
            return None
    format = known[named]
    t = ctx.t
    start = Path(await asyncio.to_thread(_folder, str(kept.get("folder", ""))))
    name = file_name(shared.title, format.suffix, t("Conversation"))
    chosen = await ctx.dialogs.choose_save(
        t("Export conversation"), str(start / name), [f"{format.title} (*{format.suffix})"]
    )
    if not chosen:
        return None
    target = Path(chosen)
    if await asyncio.to_thread(target.exists) and not await ctx.dialogs.confirm(
        t("Replace the file?"), t("{name} is there already.", name=target.name), act=t("Replace"), danger=True
    ):
        return None
    await ctx.services.settings.update(GROUP, folder=str(target.parent), format=format.name)
    return Export(shared, conversation_id, format, target)


async def write_export(ctx: UiContext, export: Export) -> None:
    """Write the file, off the window's thread; raises NotExported. Cancelled, it leaves what was there."""
    name = export.format.name
    if name != "pdf":
        kind: TextFormat = "html" if name == "html" else "markdown"
        await ctx.services.sharing.write(export.conversation_id, kind, export.target, ctx.t)
        return
    from devflow.ui.export_pdf import Pages, Stopped, write_pdf

    sharing, theme = ctx.services.sharing, ctx.theme
    pages = Pages(await asyncio.to_thread(lambda: sharing.sheet), theme.font("body"), theme.font("code"))
    stop = threading.Event()
    try:
        await asyncio.to_thread(write_pdf, export.shared, ctx.t, pages, export.target, stop.is_set)
    except Stopped:
        raise asyncio.CancelledError from None
    finally:
        stop.set()


async def _choose_format(ctx: UiContext, last: str) -> str | None:
    window = ctx.events.parent()
    dialog = ExportDialog(ctx, last, window if isinstance(window, QWidget) else None)
    done = await ctx.dialogs.run(dialog)
    return dialog.format.name if done == QDialog.DialogCode.Accepted else None


def _folder(last: str) -> str:
    if last and Path(last).is_dir():
        return last
    place = QStandardPaths.StandardLocation.DocumentsLocation
    documents = QStandardPaths.writableLocation(place)
    return documents if documents and Path(documents).is_dir() else str(Path.home())


class ExportDialog(QDialog):
    """Three formats, and what each is good for."""

    def __init__(self, ctx: UiContext, last: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        t = ctx.t
        self._formats = formats(ctx)
        self._at = next((place for place, each in enumerate(self._formats) if each.name == last), 0)
        self.setObjectName("exportDialog")
        self.setWindowTitle(t("Export conversation"))
        self.setFixedWidth(_WIDTH)
        self.choice = Segmented(ctx, [each.title for each in self._formats])
        self.choice.setObjectName("exportFormat")
        self.choice.select(self._at)
        self.choice.chosen.connect(self._chosen)
        self.does = Label("", "ui", "muted")
        told = Paragraph(
            ctx,
            t(
                "Questions, answers, tool calls in a line each, and the sources. Keys and passwords that are recognised"
                " are taken out."
            ),
            "small",
            "text-faint",
        )
        cancel = Button(ctx, t("Cancel"))
        cancel.setObjectName("cancelButton")
        cancel.clicked.connect(self.reject)
        accept = Button(ctx, t("Choose where…"), variant="primary")
        accept.setObjectName("acceptButton")
        accept.setDefault(True)
        accept.clicked.connect(self.accept)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addStretch(1)
        row.addWidget(cancel)
        row.addWidget(accept)
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 20, 24, 16)
        column.setSpacing(10)
        column.addWidget(Label(t("Export conversation"), "heading"))
        column.addWidget(self.choice)
        column.addWidget(self.does)
        column.addWidget(told)
        column.addSpacing(6)
        column.addLayout(row)
        self._chosen(self._at)

    @property
    def format(self) -> Format:
        return self._formats[self._at]

    def _chosen(self, place: int) -> None:
        self._at = place
        self.does.setText(self.format.does)
