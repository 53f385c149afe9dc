"""How entries come in: always as candidates, never twice by a program (spec 01, Extraction)."""

import pytest

from devflow.domain.knowledge import EntryDraft, EventKind, Evidence, Status, draft
from devflow.knowledge.service import Actor
from devflow.knowledge.submit import submit
from tests.support.library import AI, USER, Library


def proposal(
    title: str = "Take the lock first", content: str = "A deferred one fails.", **fields: object
) -> EntryDraft:
    values = {"kind": "pitfall", "title": title, "content": content, "source_ref": "conv:1", **fields}
    return draft(**values)  # type: ignore[arg-type]


async def test_whoever_brings_it_an_entry_comes_in_as_a_candidate(library: Library) -> None:
    for actor in (AI, Actor.mcp("editor"), Actor.system(), USER):
        done = await library.knowledge.knowledge_submit([proposal(f"By {actor.name}")], actor=actor)
        assert done.entries[0].status is Status.CANDIDATE
        event = (await library.events(done.entries[0].id))[0]
        assert (event.event, event.actor, event.operation) == (EventKind.CREATED, actor.name, done.operation)


async def test_an_extracted_entry_keeps_its_confidence_source_and_evidence(library: Library) -> None:
    evidence = Evidence(("m1", "m2"), "it failed at once", "user")
    done = await library.knowledge.knowledge_submit([proposal(confidence=0.7, evidence=evidence)], actor=AI)
    entry = await library.knowledge.knowledge_get(done.entries[0].id)
    assert (entry.confidence, entry.source_ref, entry.evidence) == (0.7, "conv:1", evidence)


@pytest.mark.parametrize("status", list(Status))
async def test_what_repeats_an_entry_of_any_status_is_not_added_again(library: Library, status: Status) -> None:
    known = await library.add("Ｔａｋｅ the  LOCK first", content="A deferred\none FAILS.", status=status)
    done = await library.knowledge.knowledge_submit([proposal()], actor=AI, detail={"conversation": "1"})
    assert (done.entries, done.repeated) == ((), (known.id,))
    event = (await library.events(known.id))[-1]
    assert (event.event, event.actor, event.operation) == (EventKind.SEEN_AGAIN, "ai", done.operation)
    assert event.detail == {"conversation": "1", "source_ref": "conv:1"}
    assert await library.knowledge.knowledge_get(known.id) == known


async def test_a_batch_that_repeats_itself_adds_one(library: Library) -> None:
    done = await library.knowledge.knowledge_submit([proposal(), proposal(), proposal("Other")], actor=AI)
    assert [entry.title for entry in done.entries] == ["Take the lock first", "Other"]
    assert done.repeated == (done.entries[0].id,)


async def test_the_same_title_with_another_text_is_another_entry(library: Library) -> None:
    await library.add("Take the lock first", content="Something else.")
    done = await library.knowledge.knowledge_submit([proposal()], actor=AI)
    assert len(done.entries) == 1


async def test_typing_the_same_entry_by_hand_only_warns(library: Library) -> None:
    first = await library.add("Same", content="Text")
    assert await library.knowledge.knowledge_repeats("same ", "TEXT") == first.id
    second = await library.add("Same", content="Text")
    assert second.id != first.id
    assert await library.knowledge.knowledge_repeats("same", "other") is None


async def test_secrets_of_programs_are_taken_out_before_they_are_stored(library: Library) -> None:
    key = "sk-proj-" + "Ab1" * 16
    done = await library.knowledge.knowledge_submit([proposal(content=f"Use OPENAI_API_KEY={key} there")], actor=AI)
    assert key not in done.entries[0].content
    assert key.encode() not in library.paths.database.read_bytes()


async def test_a_near_duplicate_is_linked_to_what_it_resembles(library: Library) -> None:
    known = await library.add("Take the lock first", content="A deferred transaction fails at once.")
    await library.add("Name the harbour", content="It is called Tangerine Bay.")
    near = proposal("Take the lock early", content="A deferred transaction fails at once, whatever the timeout.")
    done = await library.knowledge.knowledge_submit([near], actor=AI)
    ((other, score),) = await library.knowledge.linked(done.entries[0].id)
    assert other == known.id
    assert 0.5 <= score < 1
    by_hand = await library.knowledge.knowledge_create(near, actor=USER)
    assert await library.knowledge.linked(by_hand.entries[0].id) == ()


async def test_candidates_join_the_callers_transaction_or_none_of_it(library: Library) -> None:
    class Stop(Exception):
        pass

    def work(unit: object) -> None:
        submit(unit, [proposal()], actor=AI)  # type: ignore[arg-type]
        raise Stop

    with pytest.raises(Stop):
        await library.db.write(work)
    assert (await library.knowledge.knowledge_stats()).total == 0
    assert library.published == []
