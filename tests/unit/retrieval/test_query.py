"""Taking a query apart."""

from __future__ import annotations

import pytest

from devflow.retrieval.greetings import is_greeting
from devflow.retrieval.query import parse, stem


def texts(query: str) -> list[str]:
    return [term.text for term in parse(query).terms]


def test_stop_words_and_question_phrases_weigh_nothing() -> None:
    assert texts("How do I set the expiry of a lock?") == ["set", "expiry", "lock"]
    assert texts("什么是分布式锁？") == ["分布", "布式", "式锁"]
    assert texts("請問怎麼設定鎖") == ["設定", "定鎖"]


def test_a_query_of_common_words_alone_is_taken_at_its_word() -> None:
    assert parse("what is it").only_common
    assert texts("what is it") == ["what", "is", "it"]
    assert not parse("what is a lock").only_common


def test_a_request_is_no_polite_please() -> None:
    assert texts("请求超时") == ["请求", "求超", "超时"]


def test_pairs_that_tie_words_together_weigh_less() -> None:
    weights = {term.text: term.weight for term in parse("锁的过期").terms}
    assert weights["过期"] == 1.0
    assert weights["锁的"] < 1.0


def test_words_that_stand_side_by_side_are_pairs() -> None:
    assert parse("the retry budget of a client").pairs == (("retry", "budget"), ("budget", "client"))


def test_a_pasted_log_is_looked_at_only_so_far() -> None:
    assert len(parse(" ".join(f"word{n}" for n in range(5000))).terms) == 200


@pytest.mark.parametrize(
    "word, expected",
    [
        ("retries", "retr"),
        ("retrying", "retry"),
        ("locks", "lock"),
        ("go", "go"),
        ("e0502", "e0502"),
        ("class", "clas"),
    ],
)
def test_forms_of_a_word_share_a_beginning(word: str, expected: str) -> None:
    assert stem(word) == expected


@pytest.mark.parametrize(
    "message", ["Hello!", "hi there :)", "你好呀～", "谢谢！！", "OK.", "好的，继续", "👍", "  ", "LGTM", "請繼續"]
)
def test_greetings_are_greetings(message: str) -> None:
    assert is_greeting(message)


@pytest.mark.parametrize(
    "message", ["hello world in Rust", "继续部署到生产环境", "redis", "thanks, now set the lock expiry"]
)
def test_messages_that_say_something_are_no_greetings(message: str) -> None:
    assert not is_greeting(message)
