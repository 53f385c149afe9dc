"""llama.cpp's own server with a small real model: the form's Test passes by clicks, a tool runs, something is learnt.

The model is far too small to choose tools or to keep what is worth keeping. A relay narrows the schemas of what DevFlow
asks, so that the server's own grammars leave it no other way; every byte of the answers is the server's.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from devflow.domain.conversation import ModelChoice
from devflow.domain.provider import ProviderDraft, Roles
from devflow.ui.pages.chat import ChatPage
from tests.e2e.conftest import Start
from tests.fakes.llama import MODEL, LlamaServer
from tests.fakes.relay import Relay
from tests.support import hands
from tests.support.person import Person
from tests.support.settings import settings

pytestmark = pytest.mark.model

WINDOW = 8_192
"""Tokens; room for the descriptions of every tool."""
PATIENCE = 60.0
"""Seconds; a real model on a busy machine."""

NOTE = "The build needs the flag --offline since Tuesday."
DONE = "The file is written."


@pytest.fixture(scope="module")
def llama() -> Iterator[LlamaServer]:
    with LlamaServer(context=WINDOW, embeddings=True) as server:
        yield server


@pytest.fixture
def relay(llama: LlamaServer) -> Iterator[Relay]:
    with Relay(llama.port, narrowed) as running:
        yield running


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "harbour"
    folder.mkdir()
    return folder


def narrowed(path: str, body: dict[str, Any]) -> dict[str, Any]:
    """A first step must write notes.txt; what follows a tool's result is one short sentence; one thing is learnt."""
    asked = copy.deepcopy(body)
    if not path.endswith("/chat/completions"):
        return asked
    asked["max_tokens"] = 200
    for message in asked["messages"]:  # reading is most of what such a model takes time for
        if message["role"] == "system":
            message["content"] = message["content"][:200]
    if "response_format" in asked:
        items = asked["response_format"]["json_schema"]["schema"]["properties"]["items"]
        items |= {"minItems": 1, "maxItems": 1}
        fields = items["items"]["properties"]
        fields["evidence"] = {"type": "string", "enum": [NOTE]}
        fields["title"] = {"type": "string", "enum": ["The build needs --offline"]}
        fields["content"] |= {"minLength": 1, "maxLength": 80}
        fields["tags"] |= {"maxItems": 2, "items": {"type": "string", "maxLength": 12}}
        fields["confidence"] = {"type": "number", "enum": [0.8]}
    elif any(message["role"] == "tool" for message in asked["messages"]):
        asked.pop("tools")
        asked["grammar"] = f'root ::= "{DONE}"'
    elif "tools" in asked:
        (tool,) = [each for each in asked["tools"] if each["function"]["name"] == "write_file"]
        fields = tool["function"]["parameters"]["properties"]
        fields["path"] = {"type": "string", "enum": ["notes.txt"]}
        fields["content"] |= {"minLength": 1, "maxLength": 60}
        asked |= {"tools": [tool], "tool_choice": "required"}
    else:
        asked["grammar"] = 'root ::= "Notes"'
    return asked


async def test_the_forms_test_passes_on_every_line_by_clicks(start: Start, llama: LlamaServer) -> None:
    async with start() as person:
        async with settings(person) as dialog:
            await dialog.adds("llama.cpp")
            await dialog.types("providerAddress", llama.origin)
            await person.clicks("testProviderButton")
            await person.until(lambda: not hands.visible("cancelTestButton"), "the end of the test", within=PATIENCE)
            assert dialog.result("reachable").endswith(" ms")
            assert dialog.result("key") == "Key: Not needed"
            assert dialog.result("models") == f"Models: {MODEL}"
            assert dialog.result("streaming").startswith("Streaming: First token")
            assert dialog.result("tools") == "Tool calls: Arguments came back whole"
            assert dialog.result("embeddings") == f"Embeddings: {MODEL} · 576 dimensions"
            await dialog.saves()
        (config,) = await person.core.models.list()
        assert config.last_test is not None
        assert config.last_test.usable
        embedder = await person.core.models.embedder(ModelChoice(config.id, MODEL))
        assert embedder is not None
        near, same = await embedder.embed(["a lighthouse", "a lighthouse"])
        assert near == pytest.approx(same, abs=1e-4)


async def test_a_conversation_runs_a_tool_after_a_yes_and_is_learnt_from(
    start: Start, relay: Relay, workspace: Path
) -> None:
    async with start() as person:
        await connect(person, relay)
        page = person.desktop.window.page("chat")
        assert isinstance(page, ChatPage)
        page.acts.set_project(await person.core.projects.ensure(workspace))

        await person.asks(f"{NOTE} Write that into notes.txt.")
        await person.finds("approvalCard", within=PATIENCE)
        assert "notes.txt" in person.words("approvalCard")
        assert not (workspace / "notes.txt").exists()
        await person.clicks("approveButton")
        await person.until(lambda: DONE in person.answer, "the answer after the tool", within=PATIENCE)
        await person.misses("stopButton", within=PATIENCE)
        assert person.words("turnEnd") == ""
        written = (workspace / "notes.txt").read_text()
        assert 0 < len(written) <= 60

        # the second request told the model what the tool did
        chats = [body for body in relay.asked if "tools" in body]
        (result,) = [message for message in chats[1]["messages"] if message["role"] == "tool"]
        assert "notes.txt" in result["content"]

        # the server counted what was sent, and the meter and the calibration know
        (conversation,) = await person.core.conversations.list()
        runs = await person.core.conversations.runs(conversation.id)
        assert runs[-1].measure is not None
        assert runs[-1].measure.window == WINDOW

        # and the conversation is distilled by the JSON schema of the extraction
        outcome = await person.core.extraction.extract_now(conversation.id)
        assert (outcome.created, outcome.problem) == (1, None)
        (entry,) = (await person.core.knowledge.knowledge_list_candidates()).entries
        assert entry.title == "The build needs --offline"
        assert entry.evidence is not None
        assert entry.evidence.quote == NOTE
        await person.until(lambda: person.badge == "1", "the candidate in the inbox")


async def connect(person: Person, relay: Relay) -> None:
    models = person.core.models
    config = await models.add(ProviderDraft("llama.cpp", relay.base_url, "llama_cpp", models=(MODEL,)))
    await models.save_roles(Roles(main=ModelChoice(config.id, MODEL)))
    await person.sees(MODEL, on="modelPicker")
