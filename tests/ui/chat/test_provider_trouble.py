"""A model server that cannot be had is not shown as well."""

from dataclasses import replace

from devflow.domain.provider import ProviderDraft
from devflow.domain.run import RunState
from devflow.ui.dialogs.settings.provider_words import Standing
from devflow.ui.dialogs.settings.providers import Providers
from devflow.ui.statusline import StatusItem
from tests.fakes.openai_server import OpenAIServer
from tests.ui.chat.conftest import Chat, OpenChat, eventually

DEAD = "http://127.0.0.1:9"


async def test_the_dot_of_an_unreachable_server_is_in_trouble_until_it_answers_again(
    open_chat: OpenChat, server: OpenAIServer
) -> None:
    server.script("Here again.")
    async with open_chat(server) as chat:
        (config,) = await chat.core.models.list()
        alive = ProviderDraft(config.name, config.base_url, config.preset, models=config.models)
        await eventually(lambda: _tone(chat) == "good")

        await chat.core.models.update(config.id, replace(alive, base_url=DEAD))
        await chat.asked("anyone?")
        run = chat.last.turn.run
        assert run is not None
        assert run.state is RunState.FAILED
        await eventually(lambda: _tone(chat) == "trouble")
        assert (await _standing(chat)).color == "warning"

        await chat.core.models.update(config.id, alive)
        await chat.asked("and now?")
        assert chat.answer == "Here again."
        await eventually(lambda: _tone(chat) == "good")
        assert (await _standing(chat)).color != "warning"


def _tone(chat: Chat) -> str:
    item = chat.desktop.window.findChild(StatusItem, "statusProvider")
    assert item is not None
    return item._tone


async def _standing(chat: Chat) -> Standing:
    """What the settings' list says of the one server."""
    providers = Providers(chat.page._ctx, chat.page)
    await providers.load()
    return providers.standing(providers.edits[0])
