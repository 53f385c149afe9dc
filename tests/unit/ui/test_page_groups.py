"""How a base's pages are grouped and ordered in the list."""

import os
from pathlib import Path

from devflow.store.page_file import PageRow
from devflow.ui.models.page_groups import ABOUT, CHANGED, IN_TEXT, NAMED, SKIPPED, TITLE, folder_groups, list_pages
from devflow.wiki.page_index import PageIndex
from tests.support.pages import write


def page(path: str, title: str = "", changed: int = 1, problem: str = "") -> PageRow:
    name = path.rpartition("/")[2].removesuffix(".md")
    return PageRow(path, changed, 1, title or name, name, problem=problem)


def test_what_the_base_is_about_comes_first_then_the_folders_every_base_has_then_the_others() -> None:
    pages = [
        page("index.md"),
        page("wiki/alone.md"),
        page("wiki/entities/e.md"),
        page("wiki/overview.md"),
        page("wiki/own/deep/o.md"),
        page("wiki/synthesis/sessions/s.md"),
        page("wiki/topics/t.md"),
    ]
    groups = folder_groups(pages, CHANGED)
    assert [group.key for group in groups] == [
        *(ABOUT, "topics", "synthesis/sessions", "entities", "own/deep"),
        "wiki",
    ]
    assert [each.path for each in groups[0].pages] == ["index.md", "wiki/overview.md"]


def test_pages_are_ordered_by_when_they_were_changed_or_by_title() -> None:
    pages = [page("wiki/a.md", "Zeta", 1), page("wiki/b.md", "alpha", 3), page("wiki/c.md", "Beta", 3)]
    (by_time,) = folder_groups(pages, CHANGED)
    (by_title,) = folder_groups(pages, TITLE)
    assert [each.title for each in by_time.pages] == ["alpha", "Beta", "Zeta"]
    assert [each.title for each in by_title.pages] == ["alpha", "Beta", "Zeta"]


def test_skipped_pages_and_closed_folders_stand_at_the_end() -> None:
    groups = folder_groups([page("wiki/a.md"), page("wiki/b.md", problem="too_large")], CHANGED, ["wiki/locked"])
    assert groups[-1].key == SKIPPED
    assert [(each.path, each.problem) for each in groups[-1].pages] == [
        ("wiki/b.md", "too_large"),
        ("wiki/locked", "closed"),
    ]


def test_a_search_takes_names_first_and_texts_that_have_every_word(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "wiki/locks.md": "# Locks\n\nA write takes the lock first.",
            "wiki/other.md": "# Other\n\nThe lock is taken by a write.",
            "wiki/half.md": "# Half\n\nOnly a lock here.",
        },
    )
    index = PageIndex(tmp_path, None)
    index.refresh()
    found = {group.key: [each.title for each in group.pages] for group in list_pages(index, "lock", CHANGED).groups}
    assert found == {NAMED: ["Locks"], IN_TEXT: ["Other", "Half"]} or found == {
        NAMED: ["Locks"],
        IN_TEXT: ["Half", "Other"],
    }
    both = {
        group.key: [each.title for each in group.pages] for group in list_pages(index, "write lock", CHANGED).groups
    }
    assert {title for titles in both.values() for title in titles} == {"Locks", "Other"}
    index.close()


def test_what_a_listing_has_in_common_with_the_one_before_is_the_same_object(tmp_path: Path) -> None:
    """So that nobody has to compare ten thousand pages on the window's thread."""
    write(tmp_path, {"wiki/topics/a.md": "# A", "wiki/topics/b.md": "# B", "wiki/sources/c.md": "# C"})
    index = PageIndex(tmp_path, None)
    index.refresh()
    first = list_pages(index, "", CHANGED)
    again = list_pages(index, "", CHANGED, first)
    assert again.groups is first.groups
    assert again.all_pages is first.all_pages
    assert again.where is first.where

    changed = tmp_path / "wiki/topics/a.md"
    before = changed.stat().st_mtime_ns
    changed.write_text("# A, longer than it was", encoding="utf-8")
    os.utime(changed, ns=(before, before))
    index.refresh()
    text = list_pages(index, "", CHANGED, again)
    assert text.all_pages is not first.all_pages
    assert text.groups is not first.groups
    assert text.where is first.where
    assert text.groups[0].pages[text.where["wiki/topics/a.md"][1]].title == "A, longer than it was"

    write(tmp_path, {"wiki/topics/d.md": "# D"})
    index.refresh()
    more = list_pages(index, "", CHANGED, text)
    assert more.where is not first.where
    assert all(more.groups[group].pages[place].path == path for path, (group, place) in more.where.items())
    index.close()
