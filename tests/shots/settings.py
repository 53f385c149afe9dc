"""The settings dialog at work: three servers, one of them just tested."""

import tempfile
from datetime import timedelta
from pathlib import Path

from devflow.domain.ids import now
from devflow.domain.provider import ProviderDraft
from devflow.tools.policy import Effect, Rule
from devflow.tools.rules import GROUP, add_rule
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


async def tools(stage: Stage) -> None:
    """Rules of every kind: a folder, a command's first words, one conversation, a folder that is gone."""
    folder = Path(stage.on_close.enter_context(tempfile.TemporaryDirectory())) / "inkwell-server"
    folder.mkdir()
    since = now() - timedelta(days=3)
    title = stage.say("SQLite write lock", "SQLite 写锁与并发")
    conversation = await stage.core.conversations.create()
    await stage.core.conversations.rename(conversation.id, title)
    here, gone = str(folder), str(folder.parent / "inkwell-old")
    for rule in (
        Rule(Effect.ALLOW, "edit_file", here, "store/*", since=since),
        Rule(Effect.ALLOW, "run_command", here, "git status *", after_untrusted=True, since=since),
        Rule(Effect.ALLOW, "write_file", here, "docs/verify.md", conversation.id, since=since),
        Rule(Effect.ASK, "run_command", here, "git push *", since=since),
        Rule(Effect.DENY, "write_file", here, "migrations", since=since),
        Rule(Effect.ALLOW, "write_file", gone, "notes/*", since=since),
    ):
        await add_rule(stage.core.settings, rule)
    await stage.open_settings("tools")
    await stage.settled(dialog=True)


async def put_rules_away(stage: Stage) -> None:
    """The scenes that follow ask as if there had been none."""
    await stage.core.settings.save(GROUP, {"rules": []})
    for conversation in await stage.core.conversations.list():
        if conversation.leaf_id is None:
            await stage.core.conversations.delete(conversation.id)
    await stage.settled()


async def put_servers_away(stage: Stage) -> None:
    """The scenes that follow bring a server of their own."""
    for config in await stage.core.models.list():
        await stage.core.models.remove(config.id)
    await stage.settled()
