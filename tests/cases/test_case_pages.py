"""TITLE and PAGES: what a page is called, where it is, and how `@` offers it."""

from pathlib import Path

import pytest

from devflow.retrieval.page_refs import list_page_refs
from devflow.wiki.page_index import PageIndex
from devflow.wiki.paths import OutsideWiki, resolve_wiki_page_path
from tests.support.pages import write

PAGE = "wiki/topics/agent.md"


def title_of(folder: Path, raw: bytes) -> str:
    file = folder / PAGE
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(raw)
    index = PageIndex(folder, None)
    index.refresh()
    page = index.page(PAGE)
    assert page is not None
    return page.title


@pytest.mark.case("TITLE-01")
def test_the_first_heading_is_the_title(tmp_path: Path) -> None:
    assert title_of(tmp_path, "#   智能体笔记  \n\n正文".encode()) == "智能体笔记"


@pytest.mark.case("TITLE-02")
@pytest.mark.parametrize(
    "text, title",
    [
        ("没有标题", "agent"),
        ("#无空格", "agent"),
        ("## 二级\n\n### 三级", "agent"),
        ("", "agent"),
        ("字" * 1_100 + "\n\n# 后来的标题\n", "后来的标题"),
    ],
)
def test_without_a_heading_the_file_gives_the_title(tmp_path: Path, text: str, title: str) -> None:
    assert title_of(tmp_path, text.encode()) == title


@pytest.mark.case("TITLE-03")
def test_a_title_has_no_carriage_return(tmp_path: Path) -> None:
    assert title_of(tmp_path, "# 智能体\r\n\r\n正文\r\n".encode()) == "智能体"


@pytest.mark.case("TITLE-05")
@pytest.mark.parametrize(
    "text, title",
    [
        ("---\n# 注释\nkind: note\n---\n\n# 真正的标题\n", "真正的标题"),
        ("---\ntitle: 前言里的标题\n---\n\n# 真正的标题\n", "前言里的标题"),
        ("```sh\n# 注释\n```\n\n# 真正的标题\n", "真正的标题"),
    ],
)
def test_a_comment_in_front_matter_or_code_is_no_title(tmp_path: Path, text: str, title: str) -> None:
    assert title_of(tmp_path, text.encode()) == title


@pytest.mark.case("TITLE-06")
def test_a_mark_without_words_is_no_title(tmp_path: Path) -> None:
    assert title_of(tmp_path, "#\n\n正文".encode()) == "agent"


@pytest.mark.case("TITLE-07")
@pytest.mark.parametrize("encoding", ["gbk", "utf-16", "utf-8-sig"])
def test_a_title_is_read_in_the_files_encoding(tmp_path: Path, encoding: str) -> None:
    assert title_of(tmp_path, "# 检索增强\n\n正文".encode(encoding)) == "检索增强"


@pytest.mark.case("PAGES-01")
def test_a_path_below_wiki_is_resolved(tmp_path: Path) -> None:
    assert resolve_wiki_page_path(tmp_path, PAGE) == tmp_path.resolve() / PAGE


@pytest.mark.case("PAGES-02")
def test_a_path_that_climbs_out_is_not_inside_wiki(tmp_path: Path) -> None:
    with pytest.raises(OutsideWiki, match="inside wiki"):
        resolve_wiki_page_path(tmp_path, "wiki/../purpose.md")


@pytest.mark.case("PAGES-03")
def test_an_original_is_not_inside_wiki(tmp_path: Path) -> None:
    with pytest.raises(OutsideWiki, match="inside wiki"):
        resolve_wiki_page_path(tmp_path, "raw/source.md")


@pytest.mark.case("PAGES-04")
def test_an_absolute_path_is_refused_even_of_a_page(tmp_path: Path) -> None:
    with pytest.raises(OutsideWiki, match="must be relative"):
        resolve_wiki_page_path(tmp_path, str(tmp_path / PAGE))


@pytest.mark.case("PAGES-05")
def test_all_of_many_pages_are_offered_in_order(tmp_path: Path) -> None:
    index = PageIndex(write(tmp_path, {f"wiki/entities/page-{n:03}.md": f"# {n}" for n in range(150)}), None)
    index.refresh()
    offered = list_page_refs(index.pages(), "", 150)
    assert len(offered) == 150
    assert offered[-1].path == "wiki/entities/page-149.md"


@pytest.mark.case("PAGES-07")
@pytest.mark.parametrize("path", ["wiki/../wiki/a.md", "./wiki/a.md", "x/../wiki/a.md"])
def test_a_detour_that_ends_below_wiki_is_taken(tmp_path: Path, path: str) -> None:
    assert resolve_wiki_page_path(tmp_path, path) == tmp_path.resolve() / "wiki/a.md"


@pytest.mark.case("PAGES-10")
def test_pages_are_ranked_by_where_the_query_stands_and_ties_by_the_chinese_order_of_paths(tmp_path: Path) -> None:
    pages = {
        "wiki/all/x.md": "# About X",  # title, name and path
        "wiki/title/only.md": "# eXtra",
        "wiki/xfolder/p.md": "# Nothing",
        "wiki/none.md": "# Nothing",
        "wiki/name/上海x.md": "# 三",
        "wiki/name/北京x.md": "# 一",
        "wiki/name/广州x.md": "# 二",
    }
    index = PageIndex(write(tmp_path, pages), None)
    index.refresh()
    assert [page.path for page in list_page_refs(index.pages(), "X", 20)] == [
        "wiki/all/x.md",
        "wiki/title/only.md",
        "wiki/name/北京x.md",
        "wiki/name/广州x.md",
        "wiki/name/上海x.md",
        "wiki/xfolder/p.md",
    ]


@pytest.mark.case("PAGES-11")
def test_a_page_in_a_new_folder_is_there_at_the_next_look(tmp_path: Path) -> None:
    index = PageIndex(write(tmp_path, {"wiki/a.md": "# A"}), None)
    index.refresh()
    assert [page.path for page in list_page_refs(index.pages(), "", 10)] == ["wiki/a.md"]
    write(tmp_path, {"wiki/topics/deep/er/b.md": "# B"})
    index.refresh()
    assert [page.path for page in list_page_refs(index.pages(), "", 10)] == ["wiki/a.md", "wiki/topics/deep/er/b.md"]
