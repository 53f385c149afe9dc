"""Saving a message as a candidate: the title and the kind that it suggests itself."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devflow.domain.conversation import OFFLINE, Message, Role
from devflow.domain.ids import now
from devflow.domain.knowledge import TITLE_MAX, Kind, check_title
from devflow.domain.request import Injected, InjectedItem, ModelRequest, NotUsed, UserText
from devflow.extraction.candidate import candidate_from, guess_kind, title_of
from devflow.providers.offline import compose_answer

RESOURCES = Path(__file__).parents[3] / "resources"


def said(content: str) -> Message:
    return Message("m1", "c1", None, None, Role.ASSISTANT, content, 1, now())


@pytest.mark.parametrize(
    "text, title",
    [
        ("## Root cause\n\nThe lock.", "Root cause"),
        ("Sure. First:\n\n# Take the lock first #\n", "Take the lock first"),
        ("Take the write lock first. Then go on.", "Take the write lock first"),
        ("写事务一开始就取写锁。之后再读。", "写事务一开始就取写锁"),
        ("- **Never** use `DROP` there", "Never use DROP there"),
        ("1. Install v1.2.3 of the tool. Done.", "Install v1.2.3 of the tool"),
        ("> [The manual](https://example.test) says so [K1]", "The manual says so"),
        ("```python\nx = 1\n```\nThe variable is set.", "The variable is set"),
        ("```sh\nmake install\n```", "make install"),
        ("***\n\n---\n", "Untitled"),
        ("Is it locked? Yes.", "Is it locked?"),
    ],
)
def test_the_first_heading_or_sentence_is_the_title(text: str, title: str) -> None:
    assert title_of(text) == title


def test_a_long_first_sentence_is_cut_at_a_word() -> None:
    title = title_of("The quick brown fox jumps over the lazy dog again and again " * 5)
    assert title.endswith("…")
    assert len(title) <= 81
    assert title[:-1] in "The quick brown fox jumps over the lazy dog again and again " * 5


@given(st.text(max_size=400))
def test_any_text_has_a_title_that_an_entry_may_bear(text: str) -> None:
    title = title_of(text)
    assert len(title) <= TITLE_MAX
    if "\x00" not in title:
        check_title(title)


@pytest.mark.parametrize(
    "text, kind",
    [
        ("The root cause was a stale lock, see the traceback.", Kind.DIAGNOSIS),
        ("踩坑：不要在循环里打开连接", Kind.PITFALL),
        ("Deploy with docker compose, rollback with the tag before.", Kind.DEPLOYMENT_NOTE),
        ("这个提示词模板可以复用", Kind.PROMPT_TEMPLATE),
        ("Layers depend downwards; this architecture pattern keeps modules apart.", Kind.ARCHITECTURE_PATTERN),
        ("代码评审清单：规范命名", Kind.REVIEW_RULE),
        ("Automate the workflow with one script.", Kind.WORKFLOW_OPTIMIZATION),
        ("Plain words.", Kind.PITFALL),
    ],
)
def test_the_kind_is_guessed_from_the_words(text: str, kind: Kind) -> None:
    assert guess_kind(text) is kind


def test_the_evidence_is_the_message() -> None:
    made = candidate_from(said("Take the write lock first. " * 40), project_id="p1")
    assert made.project_id == "p1"
    assert made.source_ref == "conv:c1"
    assert made.evidence is not None
    assert made.evidence.message_ids == ("m1",)
    assert made.content.startswith(made.evidence.quote)


def test_a_given_title_and_kind_are_taken_and_an_empty_title_is_not() -> None:
    made = candidate_from(said("Take the lock."), kind="diagnosis", title="  Mine ")
    assert (made.title, made.kind) == ("Mine", Kind.DIAGNOSIS)
    assert candidate_from(said("Take the lock."), title="  ").title == "Take the lock"


@pytest.mark.parametrize(
    "question", ["How long does the cache take to warm?", "缓存 cache 多久才热？"], ids=["english", "chinese"]
)
def test_of_the_offline_assistant_only_what_it_quotes_is_kept(question: str) -> None:
    found = tuple(
        InjectedItem("entry", "id", f"K{n}", f"Cache {n}", f"The cache takes {n}0 s to warm.", "term", 1.0, 30)
        for n in (1, 2)
    )
    request = ModelRequest(Injected("BLOCK", found), NotUsed("no_kb"), "offline", "", (UserText(question),))
    answer = replace(said(compose_answer(request, RESOURCES)), provider_id=OFFLINE.provider_id)

    content = candidate_from(answer).content

    assert content.startswith("The cache takes 10 s to warm.")
    assert content.endswith("The cache takes 20 s to warm.")
    assert candidate_from(replace(answer, provider_id="other")).content.endswith("*")
