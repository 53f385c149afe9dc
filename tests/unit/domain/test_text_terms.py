"""Terms: words, pairs, and the parts of identifiers."""

from __future__ import annotations

import pytest

from devflow.domain.text import needle, terms, whole_words


@pytest.mark.parametrize(
    "text, expected",
    [
        ("Retry later", ["retry", "later"]),
        ("分布式锁", ["分布", "布式", "式锁", "锁"]),
        ("锁", ["锁"]),
        ("OpenClaw相关", ["openclaw", "open", "claw", "相关", "关"]),
        ("カタカナ", ["カタ", "タカ", "カナ", "ナ"]),
        ("snake_case", ["snake_case", "snake", "case"]),
        ("camelCase", ["camelcase", "camel", "case"]),
        ("HTTPServer", ["httpserver", "http", "server"]),
        ("KnowledgeRepo::search_all", ["knowledgerepo", "knowledge", "repo", "search_all", "search", "all"]),
        ("E0502 SQLITE_BUSY", ["e0502", "sqlite_busy", "sqlite", "busy"]),
        ("用C++写", ["用", "c++", "c", "写"]),
        ("C# on .NET 8.0", ["c#", "c", "on", ".net", "net", "8.0", "8", "0"]),
        ("src/devflow/text.py", ["src", "devflow", "text", "py"]),
        ("__init__", ["__init__", "init"]),
        ("cafe\u0301 Ｆull", ["cafe", "full"]),
        ("… -- ()", []),
    ],
)
def test_a_text_has_these_terms(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


def test_composed_and_decomposed_text_have_the_same_terms() -> None:
    assert terms("café 가나 ガ") == terms("cafe\u0301 \u1100\u1161\u1102\u1161 カ\u3099")


def test_a_long_run_of_letters_is_indexed_in_windows_that_overlap() -> None:
    blob = "".join(chr(97 + n % 26) for n in range(300))
    windows = list(whole_words(blob))
    assert all(len(window) <= 64 for window in windows)
    assert all(any(blob[start : start + 32] in window for window in windows) for start in range(300 - 32))


def test_a_needle_asks_for_whole_terms_only_where_the_query_shows_both_ends() -> None:
    asked = needle(" use lock now ")
    assert (asked.folded, asked.terms, asked.parts) == ("use lock now", ("lock",), ("use", "now"))
    assert needle("x lock+ y").terms == ()


def test_a_needle_of_one_chinese_character_asks_for_terms_that_begin_with_it() -> None:
    assert needle("锁").openers == ("锁",)
    assert needle("式锁").terms == ("式锁",)
