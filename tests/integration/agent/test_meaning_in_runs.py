"""A question in another language gets the entry it means, where search by meaning is on; and without, as before."""

from __future__ import annotations

from devflow.domain.provider import ProviderDraft
from devflow.domain.request import Injected
from devflow.knowledge.service import Actor
from tests.fakes.embedding_server import EmbeddingServer
from tests.fakes.openai_server import Turn
from tests.integration.agent.conftest import Bench


async def test_an_entry_is_injected_by_its_meaning_and_only_while_that_is_on(bench: Bench) -> None:
    await bench.publish("Take the write lock", "BEGIN IMMEDIATE takes it at once.")
    await bench.publish("Bake a loaf", "Twenty minutes in the oven.")
    core = bench.core
    async with EmbeddingServer() as vectors:
        provider = await core.models.add(ProviderDraft("Vectors", vectors.base_url, models=("embed-small",)))
        fields = {"vector_enabled": True, "embedding_provider_id": provider.id, "embedding_model": "embed-small"}
        await core.knowledge.knowledge_change_config(fields, actor=Actor.user())
        await core.embeddings.start()
        await core.embeddings.settled()
        for on, found in ((True, ["Take the write lock"]), (False, [])):
            await core.knowledge.knowledge_change_config({"vector_enabled": on}, actor=Actor.user())
            bench.server.script(Turn("好的。"))
            conversation = await bench.conversation()
            await bench.ask(conversation, "写入时锁怎么用")
            (receipt,) = await bench.receipts(conversation)
            items = receipt.library.items if isinstance(receipt.library, Injected) else ()
            assert [item.title for item in items] == found
            assert [item.reason for item in items] == ["meaning"] * len(found)
