"""What runs leave to be learnt: from what was said, never from what the library had put into the prompt."""

import json
from typing import Any

import pytest

from devflow.domain.conversation import Conversation
from devflow.domain.events import ExtractionChanged
from devflow.domain.knowledge import INBOX, Entry, EventKind
from devflow.domain.provider import ProviderDraft
from tests.fakes.openai_server import OpenAIServer, Turn
from tests.integration.agent.conftest import Bench, Processes

QUESTION = "How should a sqlite transaction take the write lock?"
TITLE = "Sqlite write lock"
SECRET_OF_THE_LIBRARY = "The harbour office closes at noon on the first Tuesday."
CONTENT = (
    "A sqlite transaction takes the write lock first. " + "It never has to upgrade then. " * 8 + SECRET_OF_THE_LIBRARY
)


@pytest.fixture
async def window(processes: Processes, server: OpenAIServer) -> Bench:
    made = await processes.start(background=True)
    await made.core.models.add(ProviderDraft("Scripted", server.base_url, models=("scripted",)))
    return made


def found(**fields: Any) -> dict[str, Any]:
    item = {
        "kind": "pitfall",
        "title": "Upgrade late",
        "content": "An upgrade can fail.",
        "tags": [],
        "confidence": 0.7,
    }
    return {"items": [{**item, **fields}]}


async def two_turns(window: Bench, *answers: str) -> Conversation:
    conversation = await window.conversation()
    for question in (QUESTION, "And when two sqlite transactions want the write lock?"):
        await window.ask(conversation, question)
    await window.event(ExtractionChanged, state="done")
    return conversation


async def candidates(window: Bench) -> tuple[Entry, ...]:
    return (await window.core.knowledge.knowledge_list(statuses=INBOX)).entries


async def test_what_was_injected_stands_in_no_conversation_that_is_distilled(
    window: Bench, server: OpenAIServer
) -> None:
    await window.publish(TITLE, CONTENT)
    server.script("Take it first [K1].", "One of them waits [K1].")
    server.script_extraction(found(evidence=SECRET_OF_THE_LIBRARY))
    await two_turns(window)
    assert SECRET_OF_THE_LIBRARY in server.requests[0].system
    assert SECRET_OF_THE_LIBRARY in server.requests[1].system
    asked = json.dumps(server.extractions[0].body, ensure_ascii=False)
    assert "One of them waits" in asked
    assert SECRET_OF_THE_LIBRARY not in asked
    assert await candidates(window) == (), "its evidence was never said, only injected"


async def test_an_injected_entry_that_the_answer_repeats_word_for_word_is_seen_again_and_not_added(
    window: Bench, server: OpenAIServer
) -> None:
    entry = await window.publish(TITLE, CONTENT)
    server.script("Take it first [K1].", CONTENT)
    server.script_extraction(found(title=TITLE, content=CONTENT, evidence=SECRET_OF_THE_LIBRARY))
    await two_turns(window)
    assert await candidates(window) == ()
    timeline = await window.core.knowledge.knowledge_timeline(entry.id)
    assert EventKind.SEEN_AGAIN in [event.event for event in timeline]


async def test_a_server_that_refuses_structured_output_is_asked_with_less_of_it_until_it_answers(
    window: Bench, server: OpenAIServer
) -> None:
    refused = "'response_format' of type 'json_schema' is not supported"
    server.script_extraction(Turn(status=400, error=refused), Turn(status=400, error="response_format is unknown"))
    answer = json.dumps(found(evidence="One of them waits"))
    server.script("Take it first.", "One of them waits.", f"Here it is:\n```json\n{answer}\n```")
    await two_turns(window)
    assert [each.body["response_format"]["type"] for each in server.extractions] == ["json_schema", "json_object"]
    assert "response_format" not in server.requests[-1].body
    (candidate,) = await candidates(window)
    assert candidate.title == "Upgrade late"
    assert candidate.evidence is not None
    assert candidate.evidence.quote == "One of them waits"
