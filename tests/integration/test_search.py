"""The library's search (spec 01, Search): both tiers on a real database."""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from devflow.domain.knowledge import Kind, Status
from devflow.domain.messages import english
from devflow.domain.text import fold
from devflow.retrieval.entries import matching_ids
from devflow.retrieval.reasons import why
from devflow.store.entry_lists import ANY, Filters
from tests.support.search_library import SearchLibrary


@pytest.fixture
def library(home: Path) -> Iterator[SearchLibrary]:
    opened = SearchLibrary(home)
    yield opened
    opened.close()


# LIKE tier ----------------------------------------------------------------------------------------------------------

TEXTS = (
    "Pythonic code crosses the river; 100% of x_y in C:\\temp",
    "分布式锁必须设置过期时间 (Redis SET NX PX)",
    "OpenClaw相关的锁定问题",
    "锁",
    "Café au lait, NFC",
    "Cafe\u0301 au lait, NFD",
    "STRASSE und Straße",
    "İstanbul ısı",
    "emoji 👩‍👩‍👧 family and 🔥",
    "한국어 검색 테스트",
    "ガイドライン カタカナ ﾊﾝｶｸ",
    "use C++ or c# on .NET 8.0.1",
    "a->b :: KnowledgeRepo::search_all snake_case E0502",
    "ＦＵＬＬ width ½ ﬁne Ⅷ",
    "क़लम हिन्दी שׁלום ≠ ≮",
    "token " + "abcdef0123456789" * 12,
    "的的的 了了",
    "tab\tand  double spaces",
    "豈 compatibility 樂",
)


def plain_scan(texts: list[tuple[str, str]], query: str) -> set[str]:
    needle = fold(query.strip())
    return {title for title, content in texts if needle in fold(title) or needle in fold(content)}


@pytest.fixture(scope="module")
def scanned(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[SearchLibrary, list[tuple[str, str]]]]:
    opened = SearchLibrary(tmp_path_factory.mktemp("scanned"))
    rows = [(f"{number} {text[:40].replace(chr(9), ' ')}", text) for number, text in enumerate(TEXTS)]
    rows += [(text[:60].replace("\t", " ") + f" {number}", f"content {number}") for number, text in enumerate(TEXTS)]
    for title, content in rows:
        opened.add(title, content)
    yield opened, rows
    opened.close()


def like_titles(library: SearchLibrary, query: str) -> list[str]:
    return [hit.entry.title for hit in library.search(query, limit=200) if hit.match.tier == "like"]


PIECES = st.one_of(
    st.builds(
        lambda text, start, size: text[start : start + size],
        st.sampled_from(TEXTS),
        st.integers(0, 120),
        st.integers(1, 40),
    ),
    st.text(st.sampled_from("锁定分布的aeC+#.%_\\ é\u0301ß→👩\u200d한ガ゙nft0"), min_size=1, max_size=4),
    st.sampled_from(
        [
            "锁",
            "的",
            "分布",
            "式锁",
            "ross",
            "C++",
            "c#",
            ".net",
            "%",
            "_",
            "\\",
            "100%",
            "x_y",
            "👩",
            "🔥",
            "->",
            "::",
            "ss",
            "ﬁ",
        ]
    ),
)


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=PIECES, upper=st.booleans())
def test_the_like_tier_is_exactly_what_a_plain_scan_gives(
    scanned: tuple[SearchLibrary, list[tuple[str, str]]], query: str, upper: bool
) -> None:
    library, rows = scanned
    asked = query.upper() if upper else query
    if not asked.strip():
        assert library.find(asked) == []
        return
    found = like_titles(library, asked)
    assert len(found) == len(set(found))
    assert set(found) == plain_scan(rows, asked)


SCRIPTS = (
    *[(0x20, 0x7E)] * 6,
    *[(0x4E00, 0x4E40)] * 5,
    *((0xA0, 0x24F), (0x300, 0x36F), (0x370, 0x3FF), (0x400, 0x4FF), (0x5B0, 0x5FF), (0x620, 0x6FF), (0x900, 0x97F)),
    *((0xE00, 0xE5F), (0x1100, 0x11FF), (0x1E00, 0x1FFF), (0x2000, 0x206F), (0x2070, 0x218F), (0x2460, 0x24FF)),
    *((0x2E80, 0x2FDF), (0x3000, 0x30FF), (0x3130, 0x318F), (0x3200, 0x33FF), (0xAC00, 0xAC80), (0xF900, 0xFAFF)),
    *((0xFB00, 0xFDFF), (0xFE30, 0xFFEF), (0x1F600, 0x1F640), (0x1D400, 0x1D7FF), (0x20000, 0x20020)),
    *((0x2F800, 0x2FA1D),),
)


def test_the_like_tier_is_exact_in_every_script_and_normal_form(library: SearchLibrary) -> None:
    chance = random.Random(11)

    def character() -> str:
        while True:
            char = chr(chance.randint(*chance.choice(SCRIPTS)))
            if unicodedata.category(char) not in ("Cs", "Cn", "Cc", "Zl", "Zp"):
                return char

    pool = [character() for _ in range(100)] + list("abcABC_#+. .net ") * 3
    rows = [
        (f"{number} " + "".join(chance.choices(pool, k=12)).strip(), "x" + "".join(chance.choices(pool, k=200)))
        for number in range(25)
    ]
    for title, content in rows:
        library.add(title, content)
    forms = (
        str,
        str.upper,
        fold,
        lambda text: unicodedata.normalize("NFD", text),
        lambda text: unicodedata.normalize("NFC", text),
        lambda text: text[: len(text) // 2] + chance.choice(pool) + text[len(text) // 2 :],
    )
    for _ in range(400):
        source = chance.choice(chance.choice(rows))
        start = chance.randrange(len(source))
        query = chance.choice(forms)(source[start : start + chance.choice((1, 2, 3, 5, 9, 20, 60))])
        if query.strip():
            assert set(like_titles(library, query)) == plain_scan(rows, query), ascii(query)


def test_wildcards_of_like_are_taken_literally(library: SearchLibrary) -> None:
    library.add("Discount", "a 100% reduction")
    library.add("Hundred", "100 percent; 1000 things")
    library.add("snake_case", "with an underscore")
    library.add("snakeXcase", "without one")
    assert like_titles(library, "100%") == ["Discount"]
    assert like_titles(library, "snake_case") == ["snake_case"]
    assert like_titles(library, "%") == ["Discount"]


def test_case_is_ignored_beyond_ascii(library: SearchLibrary) -> None:
    library.add("Größe ÄNDERN", "ПРИВЕТ мир")
    assert like_titles(library, "grösse ändern") == ["Größe ÄNDERN"]
    assert like_titles(library, "привет") == ["Größe ÄNDERN"]


def test_entries_with_the_whole_query_come_by_reuse_then_title_then_newest(library: SearchLibrary) -> None:
    library.add("Older in content", "about redis lock")
    library.add("Newer in content", "about redis lock")
    library.add("A redis lock in the title", "…")
    library.add("Redis Lock", "…")
    library.add("Reused once", "redis lock", reuse=1)
    library.add("Reused often", "redis lock", reuse=3)
    library.add("Only terms: a lock", "for redis")
    assert library.find("redis lock") == [
        "Reused often",
        "Reused once",
        "Redis Lock",
        "A redis lock in the title",
        "Newer in content",
        "Older in content",
        "Only terms: a lock",
    ]


def test_one_and_two_character_chinese_queries_find_every_entry_that_has_them(library: SearchLibrary) -> None:
    library.add("分布式锁", "过期")
    library.add("锁定", "行")
    library.add("死锁排查", "看等待图")
    assert set(library.find("锁")) == {"分布式锁", "锁定", "死锁排查"}
    assert set(like_titles(library, "式锁")) == {"分布式锁"}
    assert like_titles(library, "过期") == ["分布式锁"]


def test_a_query_of_white_space_finds_nothing(library: SearchLibrary) -> None:
    library.add("Something", "here")
    assert library.find("  \n ") == []


# term tier ----------------------------------------------------------------------------------------------------------


def test_a_whole_chinese_question_finds_its_entry_first(library: SearchLibrary) -> None:
    library.add("分布式锁要设置过期时间", "否则持有者崩溃后锁永远不会释放。", tags=["redis"])
    library.add("数据库连接池", "连接用完要归还。")
    library.add("缓存穿透", "布隆过滤器可以挡住不存在的键。")
    assert library.find("为什么要给分布式锁设置一个过期时间？")[0] == "分布式锁要设置过期时间"


def test_a_mixed_question_is_split_where_scripts_meet(library: SearchLibrary) -> None:
    library.add("OpenClaw 网关", "重启后要重新登录。")
    library.add("Other gateway", "nothing here")
    assert library.find("openclaw相关的问题怎么处理")[0] == "OpenClaw 网关"


@pytest.mark.parametrize(
    "query, title",
    [
        ("search all of the repo", "Call KnowledgeRepo::search_all once"),
        ("knowledge repo", "Call KnowledgeRepo::search_all once"),
        ("what is E0502", "Borrowing twice: E0502"),
        ("busy error of sqlite", "SQLITE_BUSY under WAL"),
        ("how do I use C++ here", "Build with C++"),
        ("dependency injection in .NET", ".NET needs a host"),
        ("parse xml file", "parseXmlFile leaks"),
    ],
)
def test_identifiers_are_found_whole_and_by_their_parts(library: SearchLibrary, query: str, title: str) -> None:
    for each in (
        "Call KnowledgeRepo::search_all once",
        "Borrowing twice: E0502",
        "SQLITE_BUSY under WAL",
        "Build with C++",
        ".NET needs a host",
        "parseXmlFile leaks",
        "Build with C",
    ):
        library.add(each, "Words that none of them share.")
    assert library.find(query)[0] == title


def test_question_words_find_nothing_unless_they_are_all_there_is(library: SearchLibrary) -> None:
    library.add("What is this", "how do I")
    library.add("Retries", "back off exponentially")
    assert library.find("how do I set retries?") == ["Retries"]
    assert library.find("what is") == ["What is this"]


def test_a_title_weighs_more_than_a_tag_and_a_tag_more_than_content(library: SearchLibrary) -> None:
    library.add("In content", "words before webhook and after")
    library.add("In tags", "words that are others here", tags=["webhook"])
    library.add("Webhook", "words that are others here")
    assert library.find("webhook signature") == ["Webhook", "In tags", "In content"]


def test_reuse_breaks_a_tie_of_terms(library: SearchLibrary) -> None:
    library.add("First", "idempotent consumers", reuse=0)
    library.add("Second", "idempotent consumers", reuse=5)
    library.add("Third", "idempotent consumers", reuse=0)
    assert library.find("consumers idempotent")[0] == "Second"


def test_every_hit_says_why_it_matched(library: SearchLibrary) -> None:
    library.add("Docker cache", "Order the layers.", tags=["build"])
    library.add("Layers", "docker keeps each; the build is slow")
    first, *_ = library.search("docker cache")
    assert (first.match.tier, first.match.terms, first.match.fields, first.score) == (
        "like",
        ("docker cache",),
        ("title",),
        1,
    )
    term = library.search("build docker")
    assert {hit.match.tier for hit in term} == {"term"}
    assert {hit.entry.title: (set(hit.match.terms), hit.match.fields) for hit in term} == {
        "Docker cache": ({"build", "docker"}, ("title", "tags")),
        "Layers": ({"build", "docker"}, ("content",)),
    }
    assert term.hits[0].score == 1.0
    assert {hit.entry.title: dict(hit.match.places) for hit in term} == {
        "Docker cache": {"title": ("docker",), "tags": ("build",)},
        "Layers": {"content": ("build", "docker")},
    }


def test_the_reason_of_a_hit_is_said_in_words(library: SearchLibrary) -> None:
    library.add("Docker cache", "Order the layers.", tags=["build"])
    t = english()
    assert [why(t, hit.match) for hit in library.search("docker cache")] == ["contains “docker cache” in: title"]
    assert [why(t, hit.match) for hit in library.search("layers of a docker build")] == [
        "title: docker; tags: build; content: layers"
    ]


# filters and pages --------------------------------------------------------------------------------------------------


def test_only_published_entries_are_found_unless_statuses_widen_it(library: SearchLibrary) -> None:
    for status in Status:
        library.add(f"Needle {status.value}", "same words", status=status)
    assert library.find("needle") == ["Needle published"]
    everything = Filters(statuses=frozenset(Status))
    assert len(library.find("needle", everything)) == len(Status)
    assert len(library.find("words same", everything)) == len(Status)


def test_a_change_of_status_is_seen_by_the_next_search(library: SearchLibrary) -> None:
    from devflow.domain.ids import new_id
    from devflow.store import entries
    from devflow.store.timeline import Act

    entry = library.add("Archived soon", "words")
    act = Act("user", new_id())
    library.database.run_write(
        lambda unit: entries.compare_and_set_status(unit, entry.id, Status.PUBLISHED, Status.ARCHIVED, act)
    )
    assert library.find("archived soon") == []


def test_kind_tag_and_project_filter_both_tiers(library: SearchLibrary) -> None:
    library.add("Needle one", "words", kind=Kind.DIAGNOSIS, tags=["Größe"])
    library.add("Needle two", "words", tags=["size"])
    assert library.find("needle", Filters(kind=Kind.DIAGNOSIS)) == ["Needle one"]
    assert library.find("words needle", Filters(tag="GRÖSSE")) == ["Needle one"]
    assert library.find("needle", Filters(project="00000000-0000-0000-0000-000000000000")) == []
    assert len(library.find("needle", Filters(project=None))) == len(library.find("needle", Filters(project=ANY))) == 2


def test_pages_follow_each_other_without_gap_or_overlap(library: SearchLibrary) -> None:
    for number in range(60):
        library.add(f"Entry {number}", "alpha beta" if number % 3 == 0 else "beta gamma alpha")
    whole = library.find("alpha beta", limit=60)
    paged = [
        hit.entry.title for start in range(0, 60, 7) for hit in library.search("alpha beta", limit=7, offset=start)
    ]
    assert len(whole) == 60
    assert paged == whole
    assert library.search("alpha beta", limit=7, count=True).total == 60
    ids = library.database.run_read(lambda session: matching_ids(session, "alpha beta"))
    assert ids == tuple(hit.entry.id for hit in library.search("alpha beta", limit=60))


def test_a_limit_above_three_is_honoured(library: SearchLibrary) -> None:
    """KP-9."""
    for number in range(55):
        library.add(f"Same {number}", "needle")
    assert len(library.find("needle", limit=50)) == 50


def test_a_cap_on_work_makes_the_result_partial_and_more_work_completes_it(library: SearchLibrary) -> None:
    for number in range(30):
        library.add(f"Entry {number}", "dashes -- and an arrow ->" if number else "a long arrow --> here")
    capped = library.search("-->", scan_cap=10)
    assert capped.partial
    assert [hit.entry.title for hit in library.search("-->", scan_cap=100)] == ["Entry 0"]
    assert not library.search("-->", scan_cap=100).partial


def test_an_edit_moves_the_entry_to_its_new_words(library: SearchLibrary) -> None:
    from devflow.domain.ids import new_id
    from devflow.store import entries
    from devflow.store.timeline import Act

    entry = library.add("Before", "antelope")
    library.database.run_write(
        lambda unit: entries.update_fields(unit, entry.id, entry.version, {"content": "buffalo"}, Act("user", new_id()))
    )
    assert library.find("antelope") == []
    assert library.find("buffalo grass") == ["Before"]
