"""The settings dialog at work: three servers, one of them just tested."""

from devflow.domain.provider import ProviderDraft
from tests.fakes.ollama_server import OllamaServer
from tests.fakes.openai_server import Call, Turn
from tests.shots.stage import Stage

MODELS = ("qwen3-coder:30b", "qwen3:8b", "qwen3:4b", "bge-m3")
_WORDS = tuple(f"{word} " for word in ("one two three four five six seven eight nine ten " * 2).split())


async def providers(stage: Stage) -> None:
    """A local server that was just tested, a service with its key in the keychain, and a server that does not run."""
    models = stage.core.models
    with OllamaServer(models=MODELS) as server:
        server.embedding_models = ("bge-m3",)
        await models.add(ProviderDraft("Ollama", server.base_url, "ollama", "ollama", MODELS))
        service = ProviderDraft("DeepSeek", "https://api.deepseek.com/v1", "deepseek", models=("deepseek-chat",))
        await models.add(service, "sk-only-for-the-picture")
        await models.add(ProviderDraft("LM Studio", "http://127.0.0.1:9/v1", "lm_studio", models=("qwen3:4b",)))
        await stage.open_settings("providers")
        answers = Turn(_WORDS, pause=0.025, usage=(12, 24)), Turn(calls=[Call("note", {"word": "ready"})], pause=0.05)
        server.script(*answers)
        await stage.click("testProviderButton")
        await stage.settled(dialog=True)


async def put_servers_away(stage: Stage) -> None:
    """The scenes that follow bring a server of their own."""
    for config in await stage.core.models.list():
        await stage.core.models.remove(config.id)
    await stage.settled()
