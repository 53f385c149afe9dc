"""The LIKE tier's contract on random libraries: first what a plain scan gives, in the contract's order."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from devflow.domain.knowledge import Entry
from devflow.domain.text import fold
from devflow.store import search_lookup
from tests.support.search_library import SearchLibrary

WORDS = (
    *("锁", "死锁", "分布式锁", "过期时间", "的", "连接池", "超时", "重试"),
    *("lock", "Deadlock", "unlocked", "time_out", "TIMEOUT", "retry", "ret", "C++", "c#", ".NET", "node.js"),
    *("E0502", "ERR-42", "0x80070005", "KnowledgeRepo::search_all", "snake_case", "camelCase", "a/b\\c"),
    *("100%", "x_y", "%_\\", "->", "-->", "--", "::", "(", "…", "。", "，"),
    *("🔥", "👩‍👩‍👧", "👩", "🇨🇳", "café", "cafe\u0301", "Ångström", "STRASSE", "straße", "ﬁne", "Ⅷ", "ＦＵＬＬ"),
)
TEXT = st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(("", " ", " ", "\n", ", "))), min_size=1, max_size=9)


@dataclass(frozen=True, slots=True)
class Row:
    title: str
    content: str
    reuse: int


def joined(pieces: list[tuple[str, str]]) -> str:
    return "".join(word + after for word, after in pieces).strip() or "·"


ROWS = st.lists(
    st.builds(
        Row,
        TEXT.map(joined).map(lambda text: " ".join(text.split())[:60].strip() or "·"),
        TEXT.map(joined),
        st.sampled_from((0, 0, 0, 1, 2)),
    ),
    min_size=1,
    max_size=12,
)


@st.composite
def asked(draw: st.DrawFn) -> tuple[list[Row], list[str]]:
    """A library, and queries most of which are parts of its texts."""
    rows = draw(ROWS)
    queries = []
    for _ in range(8):
        source = draw(st.sampled_from([*(row.content for row in rows), *(row.title for row in rows), *WORDS]))
        start = draw(st.integers(0, max(len(source) - 1, 0)))
        part = source[start : start + draw(st.sampled_from((1, 1, 2, 2, 3, 5, 12)))]
        queries.append(draw(st.sampled_from((part, part.upper(), part.swapcase()))))
    return rows, queries


def plain_scan(entries: list[Entry], query: str) -> list[str]:
    """What the contract says, with nothing but a loop: no index, no terms, no wildcards."""
    needle = fold(query.strip())
    found = [each for each in entries if needle in fold(each.title) or needle in fold(each.content)]
    found.sort(key=lambda each: each.id)
    found.sort(key=lambda each: each.updated_at, reverse=True)
    found.sort(key=lambda each: (-each.reuse_count, fold(each.title) != needle, needle not in fold(each.title)))
    return [each.id for each in found]


@pytest.mark.parametrize("many", [search_lookup.MANY, 1], ids=["few may contain it", "many may contain it"])
@pytest.mark.parametrize("limit", [2, 50])
def test_the_first_results_are_those_of_a_plain_scan_in_the_contracts_order(
    monkeypatch: pytest.MonkeyPatch, many: int, limit: int
) -> None:
    monkeypatch.setattr(search_lookup, "MANY", many)

    @settings(max_examples=15, deadline=None)
    @given(asked())
    def check(case: tuple[list[Row], list[str]]) -> None:
        rows, queries = case
        with tempfile.TemporaryDirectory() as home:
            library = SearchLibrary(Path(home))
            try:
                added = [library.add(row.title, row.content, reuse=row.reuse) for row in rows]
                entries = [library.entry(each.id) for each in added]
                for query in queries:
                    if not query.strip():
                        continue
                    expected = plain_scan(entries, query)[:limit]
                    hits = library.search(query, limit=limit).hits
                    assert [hit.entry.id for hit in hits[: len(expected)]] == expected, ascii(query)
                    assert [hit.entry.id for hit in hits if hit.match.tier == "like"] == expected, ascii(query)
            finally:
                library.close()

    check()
