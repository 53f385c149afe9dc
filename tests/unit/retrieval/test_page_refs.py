"""What `@` offers: pages whose names contain what was typed, the title before the file's name before the path."""

import time

from devflow.retrieval.page_refs import list_page_refs
from devflow.store.page_file import PageRow


def page(path: str, title: str = "", problem: str = "") -> PageRow:
    name = path.rpartition("/")[2].removesuffix(".md")
    return PageRow(path, 1, 1, title or name, name, problem=problem)


MANY = [page(f"wiki/entities/page-{number:03}.md") for number in range(150)]


def test_an_empty_query_offers_every_page_in_the_order_of_their_paths() -> None:
    offered = list_page_refs(reversed(MANY), "", 150)
    assert len(offered) == 150
    assert offered[0].path == "wiki/entities/page-000.md"
    assert offered[-1].path == "wiki/entities/page-149.md"


def test_no_more_than_the_limit_are_offered() -> None:
    assert [each.name for each in list_page_refs(MANY, "page", 3)] == ["page-000", "page-001", "page-002"]
    assert list_page_refs(MANY, "", 0) == ()


def test_the_title_counts_more_than_the_name_and_the_name_more_than_the_path() -> None:
    in_path = page("wiki/locks/a.md", "Alpha")
    in_name = page("wiki/b/locks.md", "Beta")
    in_title = page("wiki/topics/c.md", "About Locks")
    assert list_page_refs([in_path, in_name, in_title], "locks", 9) == (in_title, in_name, in_path)


def test_a_page_that_does_not_contain_the_query_is_not_offered() -> None:
    assert list_page_refs([page("wiki/a.md", "Alpha"), page("wiki/b.md", "Beta")], "gamma", 9) == ()


def test_case_and_the_space_around_the_query_do_not_matter_and_chinese_matches_in_the_middle() -> None:
    pages = [page("wiki/topics/wal.md", "SQLite 的 WAL 与检查点"), page("wiki/topics/qt.md", "Qt")]
    assert list_page_refs(pages, " WaL ", 9) == (pages[0],)
    assert list_page_refs(pages, "检查点", 9) == (pages[0],)


def test_pages_that_no_reference_can_name_are_not_offered() -> None:
    pages = [page("purpose.md"), page("index.md"), page("wiki/huge.md", problem="too_large"), page("wiki/overview.md")]
    assert [each.path for each in list_page_refs(pages, "", 9)] == ["wiki/overview.md"]


def test_ten_thousand_pages_are_ranked_well_within_the_popups_time() -> None:
    pages = [page(f"wiki/topics/note-{number:05}.md", f"A note about subject {number}") for number in range(10_000)]
    list_page_refs(pages, "subject", 50)
    began = time.perf_counter()
    offered = list_page_refs(pages, "subject 99", 50)
    took = time.perf_counter() - began
    assert len(offered) == 50
    assert took < 0.25, f"{took * 1000:.0f} ms"  # a bound for a busy machine; alone it takes about a tenth of it
