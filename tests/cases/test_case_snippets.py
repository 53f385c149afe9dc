"""BUDGET, SNIP and WINDOW: how much of each page is shown, and which part of it."""

from pathlib import Path

import pytest

from devflow.domain.text import is_boundary
from devflow.retrieval.pages import HitReason, context_budget_from_window
from tests.cases.asking import ask_in, paths
from tests.support.pages import write

FILLER = "这一句与问题无关，只占地方。"


@pytest.mark.case("BUDGET-01")
def test_twenty_named_pages_share_a_budget_of_five_hundred(tmp_path: Path) -> None:
    root = write(tmp_path, {f"wiki/{n}.md": f"# 第 {n} 页\n\n" + "字" * 1_000 for n in range(20)})
    references = [f"wiki/{n}.md" for n in range(20)]
    found = ask_in(root)(" ".join(f"[[{path}]]" for path in references), total_budget_chars=500)
    assert paths(found) == references
    assert all(0 < len(hit.snippet) <= 500 // 20 and hit.cut for hit in found.hits)
    assert found.missing == ()


@pytest.mark.case("BUDGET-03")
@pytest.mark.parametrize("limit", [80, 300, 600])
def test_a_snippet_keeps_to_its_limit_with_its_ellipses(tmp_path: Path, limit: int) -> None:
    text = "# 长文\n\n" + FILLER * 100 + "斑马在这里。" + FILLER * 100
    (hit,) = ask_in(write(tmp_path, {"wiki/long.md": text}))("斑马", snippet_max_chars=limit).hits
    assert "斑马" in hit.snippet
    assert len(hit.snippet) <= limit


@pytest.mark.case("SNIP-01")
def test_a_snippet_shows_as_much_before_the_match_as_after_it(tmp_path: Path) -> None:
    text = "# 长文\n\n" + FILLER * 200 + "斑马在这里。" + FILLER * 200
    (hit,) = ask_in(write(tmp_path, {"wiki/long.md": text}))("斑马").hits
    assert hit.hit_reason is HitReason.BODY
    assert hit.snippet.startswith("…")
    assert hit.snippet.endswith("…")
    assert 200 <= hit.snippet.index("斑马") <= 400


@pytest.mark.case("SNIP-03")
def test_a_page_that_fits_comes_whole_with_its_lines(tmp_path: Path) -> None:
    text = "# 斑马\n\n- 一\n- 二\n\n| 甲 | 乙 |\n|---|---|\n| 1 | 2 |"
    (hit,) = ask_in(write(tmp_path, {"wiki/short.md": text}))("斑马 甲").hits
    assert (hit.snippet, hit.cut) == (text, False)


@pytest.mark.case("SNIP-04")
@pytest.mark.parametrize("path, title", [("wiki/x.md", "斑马"), ("wiki/斑马.md", "某页")])
def test_a_page_found_by_its_name_is_shown_from_its_start(tmp_path: Path, path: str, title: str) -> None:
    (hit,) = ask_in(write(tmp_path, {path: f"# {title}\n\n开头的话。" + FILLER * 200}))("斑马").hits
    assert hit.hit_reason in (HitReason.TITLE, HitReason.FILENAME)
    assert hit.snippet.startswith(f"# {title}\n\n开头的话。")


@pytest.mark.case("SNIP-05")
@pytest.mark.parametrize("seen", ["😀", "👩‍👩‍👧", "🇩🇪", "é", "𠮷"])
@pytest.mark.parametrize("limit", [50, 51, 52, 53])
def test_a_cut_parts_nothing_that_is_seen_as_one(tmp_path: Path, seen: str, limit: int) -> None:
    text = "# 长文\n\n" + seen * 300 + "斑马" + seen * 300
    (hit,) = ask_in(write(tmp_path, {"wiki/long.md": text}))("斑马", snippet_max_chars=limit).hits
    shown = hit.snippet.strip("…")
    at = text.index(shown)
    assert is_boundary(text, at)
    assert is_boundary(text, at + len(shown))
    assert "斑马" in shown
    shown.encode()  # a lone surrogate could not be


@pytest.mark.case("SNIP-06")
def test_the_part_with_the_most_different_words_of_the_question_is_shown(tmp_path: Path) -> None:
    front = "---\nkind: zebra\n---\n"
    repeated = "giraffe giraffe giraffe giraffe giraffe giraffe. "
    text = f"{front}# Long\n\n{repeated}" + "Nothing of that here. " * 100 + "A giraffe met an elephant and a rhino. "
    (hit,) = ask_in(write(tmp_path, {"wiki/long.md": text + "Nothing of that here. " * 100}))(
        "zebra giraffe elephant rhino"
    ).hits
    assert "A giraffe met an elephant and a rhino." in hit.snippet
    assert "zebra" not in hit.snippet


@pytest.mark.case("WINDOW-01")
def test_a_fifth_of_a_known_window() -> None:
    assert context_budget_from_window(10_000) == 2_000


@pytest.mark.case("WINDOW-02")
def test_no_window_is_an_unknown_one() -> None:
    assert context_budget_from_window(None) == 4_000


@pytest.mark.case("WINDOW-03")
def test_a_word_is_no_window() -> None:
    assert context_budget_from_window("bad") == 4_000


@pytest.mark.case("WINDOW-08")
@pytest.mark.parametrize("window", [0, -1, float("nan"), float("inf"), "8000"])
def test_what_cannot_be_a_window_counts_as_unknown(window: object) -> None:
    assert context_budget_from_window(window) == 4_000
