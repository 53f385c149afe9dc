"""What two entries share, and why something was found, in words that a human reads."""

from datetime import UTC, datetime

from devflow.domain.knowledge import Embedding, Entry, Kind, Status
from devflow.domain.messages import english
from devflow.domain.request import InjectedItem
from devflow.knowledge.similar import Likeness
from devflow.retrieval.hits import Match
from devflow.retrieval.reasons import readable
from devflow.ui.models.likeness import shared
from devflow.ui.models.why import why_entry, why_item

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


def entry(title: str, content: str) -> Entry:
    return Entry(
        id="one",
        kind=Kind.PITFALL,
        title=title,
        content=content,
        tags=(),
        status=Status.PUBLISHED,
        confidence=1.0,
        reuse_count=0,
        project=None,
        source_ref="manual",
        created_at=NOON,
        updated_at=NOON,
        published_at=NOON,
        archived_at=None,
        version=1,
        evidence=None,
        embedding=Embedding(),
    )


def test_shared_stems_are_shown_as_the_words_they_come_from() -> None:
    alike = Likeness(entry("Bounded queues", "Consumers throttled first."), 0.5, ("throttl", "consum", "bound"))
    assert shared(english(), alike) == "Both say: bounded, consumers, throttled"


def test_shared_pairs_of_characters_are_joined_and_said_once() -> None:
    alike = Likeness(entry("有界队列", "有界队列满时不要丢弃。"), 0.5, ("界队", "队列", "列满", "不要", "丢弃"))
    assert shared(english(), alike) == "Both say: 界队列满, 不要丢弃"


def test_pairs_that_overlap_are_one_word_and_others_are_not() -> None:
    assert readable(("写事", "事务", "lock", "升级")) == ("写事务", "lock", "升级")


def test_a_similarity_is_told_with_the_floor_from_which_it_counts() -> None:
    found = why_entry(english(), Match("term", ("lock",), ("title",), 0.62, (("title", ("lock",)),)))
    assert dict(found.facts) == {
        "Found by": "words, and meaning",
        "In the title": "lock",
        "Similarity": "0.62, near from 0.30",
    }
    assert found.line == "title: lock; similarity 0.62"
    alone = why_entry(english(), Match("meaning", (), (), 0.41))
    assert dict(alone.facts)["Found by"] == "meaning alone"
    far = why_entry(english(), Match("like", ("lock",), ("title",), 0.1, (("title", ("lock",)),)))
    assert dict(far.facts)["Found by"] == "the whole query"


def test_a_source_of_a_former_version_which_knows_no_fields_is_explained_by_what_it_has() -> None:
    old = InjectedItem("entry", "one", "K1", "Locks", "text", "term", 0.5, 4, "pitfall", matched=("lock",))
    found = why_item(english(), old)
    assert dict(found.facts) == {"Found by": "words", "Score": "0.50, the best has 1.00"}
    assert found.line == "matches words of the query"
