"""What every page is given: the services, the words, the look, owned tasks, dialogs and events."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from devflow.domain.messages import Translator
from devflow.ui.bridge import Events
from devflow.ui.icons import IconProvider
from devflow.ui.tasks import TaskOwner
from devflow.ui.theme import ThemeController
from devflow.ui.widgets.dialogs import Dialogs

if TYPE_CHECKING:
    from devflow.agent.conversations import Conversations
    from devflow.agent.turns import Turns
    from devflow.digest.sediment import Sediments
    from devflow.digest.service import Digests
    from devflow.extraction.service import Extraction
    from devflow.knowledge.embedding import Embeddings
    from devflow.knowledge.projects import Projects
    from devflow.knowledge.samples import Samples
    from devflow.knowledge.service import Knowledge
    from devflow.knowledge.settings import Settings
    from devflow.models.keys import Keys
    from devflow.models.registry import Models
    from devflow.sharing.service import Sharing
    from devflow.tools.mcp_clients import Invitation
    from devflow.tools.mcp_source import McpSource
    from devflow.transfer.service import Transfer
    from devflow.wiki.registry import KnowledgeBases
    from devflow.wiki.skills import Skills


@dataclass(frozen=True, slots=True)
class Services:
    """The Qt-free objects of `app/core`, the very ones that the command line and MCP use."""

    settings: Settings
    knowledge: Knowledge
    embeddings: Embeddings
    samples: Samples
    projects: Projects
    bases: KnowledgeBases
    skills: Skills
    models: Models
    keys: Keys
    conversations: Conversations
    turns: Turns
    extraction: Extraction
    digests: Digests
    sharing: Sharing
    transfer: Transfer
    sediments: Sediments
    mcp: McpSource
    invitation: Invitation
    data_folder: Path
    database: Path
    backups: Path
    log: Path


class SetStatus(Protocol):
    """`key`: retrieval, search, run, embedding, extraction, digest or provider. `tone`: "", busy, trouble or good.

    A click on the item opens `page`: chat, knowledge, inbox, a settings page as `settings:<page>`, or an address
    inside the window.
    """

    def __call__(self, key: str, icon: str, text: str, tone: str = "", page: str = "") -> None: ...


@dataclass(frozen=True, slots=True)
class Shell:
    """What a page may ask of the window around it."""

    show_page: Callable[[str], None]
    """Bring a page to the front: chat, knowledge or inbox."""
    open_link: Callable[[str], None]
    """Follow an address inside the window (`devflow:entry/<id>`, `devflow:message/<conversation>/<id>`, …) or, for
    http, https and mailto, outside it."""
    open_settings: Callable[[str], None]
    """Open the settings dialog at a page: providers, knowledge, tools, appearance, external, network,
    data."""
    notify: Callable[[str], None]
    """Say one line in the window's message bar."""
    set_status: SetStatus
    """Show an item of the status line, or hide it with an empty text."""


@dataclass(frozen=True, slots=True)
class UiContext:
    """First argument of every page and widget; it is a `Look` too."""

    services: Services
    t: Translator
    theme: ThemeController
    icons: IconProvider
    tasks: TaskOwner
    dialogs: Dialogs
    events: Events
    shell: Shell
