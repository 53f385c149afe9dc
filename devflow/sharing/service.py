"""`Sharing`: conversations as files, for the window and the command line alike."""

from __future__ import annotations

import asyncio
from functools import cached_property
from pathlib import Path
from typing import Literal

from devflow.domain.errors import Refused
from devflow.domain.messages import N_, Translator
from devflow.sharing.conversation import SharedConversation, read_rows, shared_of
from devflow.sharing.html import to_html
from devflow.sharing.markdown import to_markdown
from devflow.sharing.style import Sheet, read_sheet
from devflow.sharing.writing import write_text
from devflow.store.database import Database

TextFormat = Literal["markdown", "html"]


class Sharing:
    """Reads on the store's thread; renders and writes on others. Asks no model and looks nothing up."""

    def __init__(self, db: Database, resources: Path) -> None:
        self._db = db
        self._resources = resources

    async def read(self, conversation_id: str) -> SharedConversation:
        """What an export tells. Raises NotFound, and Refused where nothing was said yet."""
        rows = await self._db.read(lambda session: read_rows(session, conversation_id))
        shared = await asyncio.to_thread(shared_of, rows)
        if not shared.messages:
            raise Refused(N_("The conversation is empty."), N_("Ask something first."))
        return shared

    async def text(self, conversation_id: str, format: TextFormat, t: Translator) -> str:
        shared = await self.read(conversation_id)
        return await asyncio.to_thread(self._render, shared, format, t)

    async def write(self, conversation_id: str, format: TextFormat, target: Path, t: Translator) -> None:
        """Write the file; one that is there is replaced at once, when the new one is whole. Raises NotExported."""
        text = await self.text(conversation_id, format, t)
        await asyncio.to_thread(write_text, target, text)

    @cached_property
    def sheet(self) -> Sheet:
        return read_sheet(self._resources)

    def _render(self, shared: SharedConversation, format: TextFormat, t: Translator) -> str:
        return to_markdown(shared, t) if format == "markdown" else to_html(shared, t, self.sheet)
