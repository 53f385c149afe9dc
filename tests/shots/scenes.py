"""Every scene of the screenshots, in the order of the contact sheet. A page's helper adds its own lines here."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from devflow.ui.pages.chat import ChatPage
from devflow.ui.samples import load_samples
from tests.shots import digest, mcp, slash
from tests.shots.chat import always_allow, chat_approval, chat_stopped, chat_streaming
from tests.shots.commands import chat_command, chat_command_running, chat_shell
from tests.shots.library import (
    editor,
    inbox,
    inbox_compare,
    inbox_merge,
    inbox_rejected,
    library,
    library_search,
    put_away,
)
from tests.shots.settings import providers, put_servers_away, tools
from tests.shots.stage import Stage
from tests.shots.transfer import importing
from tests.shots.wiki import chat_completion, chat_pages, wiki, wiki_search


@dataclass(frozen=True, slots=True)
class Scene:
    """`play` brings the window into the state of the picture; scenes build on each other, in this order."""

    name: str
    play: Callable[[Stage], Awaitable[None]]


async def welcome(stage: Stage) -> None:
    await stage.show("chat")


async def welcome_with_samples(stage: Stage) -> None:
    await load_samples(stage.window.ctx)
    await stage.settled()


async def chat_answered(stage: Stage) -> None:
    question = stage.core.samples.questions(stage.language)[0]
    conversation = await stage.core.conversations.create()
    stage.conversation_id = conversation.id
    run = await stage.core.turns.send(conversation.id, question)
    await stage.core.turns.wait(run.id)
    await stage.show("chat")
    stage.window.open_link(f"devflow:conversation/{conversation.id}")
    await stage.settled()


async def chat_why(stage: Stage) -> None:
    """Why the first source was given."""
    page = stage.window.page("chat")
    assert isinstance(page, ChatPage)
    page.sources.blocks[0].reason.setChecked(True)
    await stage.settled()


async def inbox_empty(stage: Stage) -> None:
    await stage.show("inbox")


def settings(
    page: str, *, first: Callable[[Stage], Awaitable[None]] | None = None
) -> Callable[[Stage], Awaitable[None]]:
    async def play(stage: Stage) -> None:
        if first is not None:
            await first(stage)
        await stage.open_settings(page)

    return play


SCENES: tuple[Scene, ...] = (
    Scene("welcome", welcome),
    Scene("welcome-samples", welcome_with_samples),
    Scene("inbox-empty", inbox_empty),
    Scene("chat", chat_answered),
    Scene("chat-why", chat_why),
    Scene("library", library),
    Scene("library-search", library_search),
    Scene("inbox", inbox),
    Scene("inbox-compare", inbox_compare),
    Scene("inbox-merge", inbox_merge),
    Scene("inbox-rejected", inbox_rejected),
    Scene("editor", editor),
    Scene("settings-empty", settings("providers", first=put_away)),
    Scene("settings-providers", providers),
    Scene("settings-knowledge", settings("knowledge")),
    Scene("settings-tools", tools),
    Scene("settings-external", settings("external")),
    Scene("settings-mcp", mcp.servers),
    Scene("settings-mcp-form", mcp.form),
    Scene("settings-mcp-import", mcp.importing),
    Scene("settings-appearance", settings("appearance", first=mcp.put_away)),
    Scene("settings-data", settings("data")),
    Scene("import", importing),
    Scene("settings-network", settings("network", first=put_servers_away)),
    Scene("chat-approval", chat_approval),
    Scene("always-allow", always_allow),
    Scene("chat-streaming", chat_streaming),
    Scene("chat-stopped", chat_stopped),
    Scene("chat-command", chat_command),
    Scene("chat-command-running", chat_command_running),
    Scene("chat-shell", chat_shell),
    Scene("chat-mcp", mcp.card),
    Scene("wiki", wiki),
    Scene("wiki-search", wiki_search),
    Scene("digest-dialog", digest.dialog),
    Scene("digest-running", digest.running),
    Scene("digest-done", digest.done),
    Scene("chat-completion", chat_completion),
    Scene("chat-pages", chat_pages),
    Scene("slash", slash.offered),
    Scene("slash-unknown", slash.unknown),
    Scene("slash-export", slash.export),
    Scene("slash-help", slash.help_sheet),
)
