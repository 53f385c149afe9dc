"""What the window itself says in the status line and on the inbox badge: counts and providers, always read anew."""

from __future__ import annotations

from PySide6.QtCore import QObject

from devflow.domain.conversation import OFFLINE
from devflow.domain.errors import InvalidInput
from devflow.domain.events import ExtractionChanged, IndexFilled, RunChanged
from devflow.domain.knowledge import Status
from devflow.domain.run import RunState
from devflow.providers import urls
from devflow.tools.mcp_state import Phase
from devflow.ui.context import UiContext
from devflow.ui.models.embedding_words import embedding_status
from devflow.ui.models.troubled import Troubled
from devflow.ui.widgets.rail import RailButton

_OUT_OF_REACH = ("unreachable", "silent", "server_error")


class StatusFeed(QObject):
    """Reads once at the start and after every change that may move a number."""

    def __init__(self, ctx: UiContext, inbox: RailButton | None, parent: QObject) -> None:
        super().__init__(parent)
        self._ctx = ctx
        self._inbox = inbox
        self._troubled = Troubled.of(ctx)
        ctx.events.entries_changed.connect(self.refresh_library)
        ctx.events.providers_changed.connect(self.refresh_provider)
        ctx.events.settings_changed.connect(self.refresh_provider)
        ctx.events.extraction_changed.connect(self._extraction)
        ctx.events.run_changed.connect(self._run_changed)
        ctx.events.tool_servers_changed.connect(self.refresh_tools)
        ctx.events.embedding_changed.connect(self.refresh_embedding)
        ctx.events.settings_changed.connect(self.refresh_embedding)
        ctx.events.index_filled.connect(self._index)
        self._troubled.changed.connect(self.refresh_provider)

    def refresh(self) -> None:
        self.refresh_library()
        self.refresh_provider()
        self.refresh_embedding()
        self._ctx.tasks.launch(self._read_index(), what="read how far the search index is", owner=self)

    def refresh_library(self, _ids: object = None) -> None:
        self._ctx.tasks.launch(self._count(), what="count the library", owner=self)

    def refresh_provider(self, _ids: object = None) -> None:
        self._ctx.tasks.launch(self._provider(), what="read the provider", owner=self)

    def refresh_tools(self, _event: object = None) -> None:
        self._ctx.tasks.launch(self._tools(), what="look at the MCP servers", owner=self)

    def refresh_embedding(self, _event: object = None) -> None:
        self._ctx.tasks.launch(self._embedding(), what="read the state of the vectors", owner=self)

    async def _read_index(self) -> None:
        """The filling may have begun before the window was there."""
        at = await self._ctx.services.knowledge.knowledge_index()
        if not at.is_full:
            self._index(IndexFilled(at.done, at.total))

    def _index(self, event: IndexFilled) -> None:
        """Only while the search index is being made anew."""
        words = self._ctx.t("Search index: {done} / {total}", done=event.done, total=event.total)
        is_full = event.done >= event.total
        self._ctx.shell.set_status("index", *(("", "", "") if is_full else ("half-disc", words, "busy")), "")

    async def _embedding(self) -> None:
        """Nothing while search by meaning is off, or all is well."""
        icon, words, tone = embedding_status(self._ctx.t, await self._ctx.services.embeddings.state())
        self._ctx.shell.set_status("embedding", icon, words, tone, "settings:knowledge")

    async def _count(self) -> None:
        t, say = self._ctx.t, self._ctx.shell.set_status
        stats = await self._ctx.services.knowledge.knowledge_stats()
        waiting = await self._ctx.services.knowledge.inbox_count()
        published = stats.statuses.get(Status.PUBLISHED, 0)
        if published:
            text = t.n("{count} entry in the library", "{count} entries in the library", published)
            say("library", "check", text, "good", "knowledge")
        else:
            say("library", "circle", t("Library empty"), "", "knowledge")
        if self._inbox is not None:
            spoken = t.n("Inbox, {count} to review", "Inbox, {count} to review", waiting)
            self._inbox.set_badge(waiting, spoken)

    async def _provider(self) -> None:
        t, say = self._ctx.t, self._ctx.shell.set_status
        choice = await self._ctx.services.models.main_choice()
        if choice.provider_id == OFFLINE.provider_id:
            say("provider", "dot", t("Offline assistant"), "good", "settings:providers")
            say("extraction", "download", t("Extraction: paused, no model"), "", "settings:knowledge")
            return
        config = await self._ctx.services.models.get(choice.provider_id)
        place = t("{provider} · this machine", provider=config.name) if _is_local(config.base_url) else config.name
        tone = "trouble" if choice.provider_id in self._troubled else "good"
        say("provider", "dot", place, tone, "settings:providers")
        say("extraction", "download", await self._extraction_at_rest(), "", "settings:knowledge")

    async def _tools(self) -> None:
        """An MCP server that a conversation has to do without, or waits for; nothing while all is well."""
        t, say, mcp = self._ctx.t, self._ctx.shell.set_status, self._ctx.services.mcp
        states = [(server.name, mcp.state(server).phase) for server in await mcp.servers.list() if server.enabled]
        failed = [name for name, phase in states if phase is Phase.FAILED]
        starting = [name for name, phase in states if phase is Phase.STARTING]
        if failed:
            say("tools", "warning", t("No tools of {names}", names=", ".join(failed)), "trouble", "settings:tools")
        elif starting:
            say("tools", "half-disc", t("Starting {names}", names=", ".join(starting)), "busy", "settings:tools")
        else:
            say("tools", "", "", "", "")

    def _run_changed(self, event: RunChanged) -> None:
        if event.state in (RunState.FAILED, RunState.COMPLETED):
            self._ctx.tasks.launch(self._judge(event.run_id), what="judge the provider", owner=self)

    async def _judge(self, run_id: str) -> None:
        """Whether the server could be had: a failure for other reasons says nothing about it."""
        run = await self._ctx.services.conversations.run(run_id)
        if run.state is RunState.COMPLETED:
            self._troubled.answered(run.choice.provider_id)
        elif run.problem is not None and run.problem.code in _OUT_OF_REACH:
            self._troubled.failed(run.choice.provider_id)

    async def _extraction_at_rest(self) -> str:
        t = self._ctx.t
        config = await self._ctx.services.knowledge.knowledge_get_config()
        if not config.auto_extract:
            return t("Extraction: off")
        return {
            "on_complete": t("Extraction: when the run ends"),
            "on_idle": t("Extraction: when the chat is quiet"),
            "manual_only": t("Extraction: by hand"),
        }[config.trigger_mode.value]

    def _extraction(self, event: ExtractionChanged) -> None:
        t, say = self._ctx.t, self._ctx.shell.set_status
        page = "inbox"
        match event.state:
            case "running":
                say("extraction", "half-disc", t("Extraction: reading the conversation"), "busy", page)
            case "done":
                say("extraction", "check", t("Extraction: done, {count} new", count=event.created), "good", page)
            case "nothing_new":
                say("extraction", "check", t("Extraction: done, nothing new"), "good", page)
            case "failed" | "dropped":
                say("extraction", "warning", t("Extraction failed"), "trouble", page)
            case _:
                self.refresh_provider()


def _is_local(base_url: str) -> bool:
    try:
        return urls.parse(base_url).is_loopback
    except InvalidInput:
        return False
