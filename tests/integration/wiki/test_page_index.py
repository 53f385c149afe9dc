"""The index follows the folder: nothing that is gone is found, nothing that is there is missed."""

import os
import random
from pathlib import Path

import pytest

from devflow.store.page_file import PageRow
from devflow.wiki import page_reading
from devflow.wiki.page_index import PageIndex, is_content
from tests.support.pages import write


def titles(index: PageIndex) -> dict[str, str]:
    return {page.path: page.title for page in index.pages()}


def found(index: PageIndex, word: str) -> set[str]:
    return {path for path, _ in index.matching([word], 1_000)}


def test_a_page_that_is_added_changed_renamed_or_deleted_is_seen_at_the_next_look(tmp_path: Path) -> None:
    index = PageIndex(write(tmp_path, {"wiki/a.md": "# A\n\nzebra"}), None)
    index.refresh()
    assert titles(index) == {"wiki/a.md": "A"}
    write(tmp_path, {"wiki/deep/b.md": "# B\n\nlion"})
    index.refresh()
    assert found(index, "lion") == {"wiki/deep/b.md"}
    write(tmp_path, {"wiki/a.md": "# A again\n\ntiger"})
    index.refresh()
    assert titles(index)["wiki/a.md"] == "A again"
    assert found(index, "zebra") == set()
    (tmp_path / "wiki/a.md").rename(tmp_path / "wiki/c.md")
    index.refresh()
    assert found(index, "tiger") == {"wiki/c.md"}
    (tmp_path / "wiki/c.md").unlink()
    index.refresh()
    assert found(index, "tiger") == set()


def settled(index: PageIndex) -> None:
    """Look until no page is so new that a second change could bear the same time."""
    index.refresh()
    while any(page.ctime_ns < 0 for page in index.pages()):
        index.refresh()


def test_only_what_changed_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {f"wiki/{n}.md": f"# {n}" for n in range(5)})
    index = PageIndex(tmp_path, None)
    settled(index)
    opened: list[str] = []
    real = os.open

    def watched(path: str | Path, *rest: int) -> int:
        opened.extend([Path(path).name] if str(path).endswith(".md") else [])
        return real(path, *rest)

    write(tmp_path, {"wiki/3.md": "# new three"})
    monkeypatch.setattr(os, "open", watched)
    settled(index)
    assert set(opened) == {"3.md"}
    opened.clear()
    index.refresh()
    assert opened == []


def test_a_page_that_could_change_again_within_a_tick_of_the_clock_is_read_once_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = PageIndex(write(tmp_path, {"wiki/a.md": "# A"}), None)
    read: list[str] = []
    real = page_reading.read

    def watched(root: Path, path: str, *, head_only: bool = False) -> tuple[PageRow, str]:
        read.append(path)
        return real(root, path, head_only=head_only)

    monkeypatch.setattr(page_reading, "read", watched)
    monkeypatch.setattr(page_reading, "TICK_NS", 3_600 * 10**9)
    index.refresh()
    index.refresh()
    assert len(read) == 2
    monkeypatch.setattr(page_reading, "TICK_NS", -(10**9))
    index.refresh()
    index.refresh()
    assert len(read) == 3


def test_many_new_pages_are_known_by_title_before_their_contents_are_read(tmp_path: Path) -> None:
    write(tmp_path, {f"wiki/{n}.md": f"# Title {n}\n\n" + "word " * 2_000 + "zebra" for n in range(60)})
    index = PageIndex(tmp_path, None)
    progress = index.refresh(within=0)
    assert progress.pages == 60
    assert progress.pending > 0
    assert titles(index)["wiki/59.md"] == "Title 59"
    assert index.refresh().pending == 0
    assert len(found(index, "zebra")) == 60


def test_the_index_outlives_the_process_and_another_process_writes_into_the_same(tmp_path: Path) -> None:
    root = write(tmp_path / "kb", {"wiki/a.md": "# A\n\nzebra"})
    first, second = PageIndex(root, tmp_path / "cache"), PageIndex(root, tmp_path / "cache")
    first.refresh()
    second.refresh()
    write(root, {"wiki/a.md": "# A\n\nlion and more"})
    first.refresh()
    second.refresh()
    for index in (first, second):
        assert found(index, "lion") == {"wiki/a.md"}
        assert found(index, "zebra") == set()
        index.close()
    third = PageIndex(root, tmp_path / "cache")
    third.refresh()
    assert found(third, "lion") == {"wiki/a.md"}
    third.close()


@pytest.mark.expects_log
def test_a_broken_index_file_is_made_anew(tmp_path: Path) -> None:
    root = write(tmp_path / "kb", {"wiki/a.md": "# A\n\nzebra"})
    PageIndex(root, tmp_path / "cache").close()
    (file,) = (tmp_path / "cache").glob("*.db")
    file.write_bytes(b"this is no database, however long it is" * 100)
    index = PageIndex(root, tmp_path / "cache")
    index.refresh()
    assert found(index, "zebra") == {"wiki/a.md"}
    index.close()


def test_a_folder_that_was_moved_away_deletes_nothing_and_is_right_when_it_is_back(tmp_path: Path) -> None:
    root = write(tmp_path / "kb", {"wiki/a.md": "# A\n\nzebra"})
    index = PageIndex(root, None)
    index.refresh()
    root.rename(tmp_path / "elsewhere")
    assert index.refresh().closed == ("",)
    assert titles(index) == {"wiki/a.md": "A"}
    assert not index.is_readable("wiki/a.md")
    (tmp_path / "elsewhere").rename(root)
    assert index.refresh().closed == ()
    assert index.is_readable("wiki/a.md")


def test_a_folder_that_cannot_be_read_deletes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Root reads through permissions, so the refusal is the system call's."""
    root = write(tmp_path, {"wiki/a.md": "# A", "wiki/closed/b.md": "# B"})
    index = PageIndex(root, None)
    index.refresh()
    real = os.scandir

    def scandir(path: str) -> "os._ScandirIterator[str]":
        if path.endswith("closed"):
            raise PermissionError(path)
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    assert index.refresh().closed == ("wiki/closed",)
    assert set(titles(index)) == {"wiki/a.md", "wiki/closed/b.md"}


@pytest.mark.parametrize(
    "raw, problem", [(b"x" * 5_000_001, "too_large"), (b"\x00\x01binary", "encoding"), ("# 中文".encode("gb18030"), "")]
)
def test_a_page_that_cannot_be_read_as_text_is_listed_as_skipped(tmp_path: Path, raw: bytes, problem: str) -> None:
    write(tmp_path, {"wiki/good.md": "# Good"})
    (tmp_path / "wiki/odd.md").write_bytes(raw)
    index = PageIndex(tmp_path, None)
    skipped = index.refresh().skipped
    assert [(page.path, page.problem) for page in skipped] == ([("wiki/odd.md", problem)] if problem else [])
    assert len(index.pages()) == 2


def test_after_a_thousand_edits_the_index_holds_exactly_what_is_on_disk(tmp_path: Path) -> None:
    rng = random.Random(7)
    index = PageIndex(write(tmp_path, {"wiki/0.md": "# 0\n\nfirst"}), None)
    texts: dict[str, str] = {"wiki/0.md": "first"}
    for step in range(1_000):
        name = f"wiki/{rng.randrange(40)}.md"
        file = tmp_path / name
        act = rng.choice(["write", "write", "delete", "rename"])
        if act == "write":
            texts[name] = f"word{step}"
            file.write_text(f"# {name}\n\nword{step}", encoding="utf-8")
            os.utime(file, ns=(step, step))
        elif act == "delete" and name in texts:
            file.unlink()
            del texts[name]
        elif act == "rename" and name in texts:
            new = f"wiki/{rng.randrange(40)}.md"
            file.rename(tmp_path / new)
            texts[new] = texts.pop(name)
        if rng.random() < 0.3:
            index.refresh()
            assert {page.path for page in index.pages()} == set(texts)
            for path, word in rng.sample(sorted(texts.items()), min(3, len(texts))):
                assert found(index, word) == {path}
    index.refresh()
    assert all(found(index, word) == {path} for path, word in texts.items())


def test_a_page_with_a_heading_alone_counts_below_wiki_but_not_where_every_base_has_one(tmp_path: Path) -> None:
    index = PageIndex(write(tmp_path, {"wiki/a.md": "# A", "index.md": "# Index", "wiki/overview.md": "# All"}), None)
    index.refresh()
    assert [page.path for page in index.pages() if is_content(page)] == ["wiki/a.md"]
