"""No ghosts: what the folder said before its last change is found by nobody, and nothing that it says now is missed.

Each view of a page is asked after each change, as the very next turn, list, `@` and link would.
"""

import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from devflow.domain.ids import now
from devflow.domain.knowledge_base import KnowledgeBase
from devflow.retrieval.page_refs import list_page_refs
from devflow.retrieval.pages import search_knowledge_base
from devflow.retrieval.references import parse_explicit_page_refs
from devflow.ui.models.page_groups import TITLE, list_pages
from devflow.ui.models.page_reading import read_page
from devflow.wiki.page_index import PageIndex
from tests.support.pages import write

MOMENT = 1_700_000_000_000_000_000
"""A time of change, in nanoseconds, that a file is given back."""


class Views:
    """What each way to a page shows after the folder was looked at once."""

    def __init__(self, root: Path, cache: Path | None = None) -> None:
        self.index = PageIndex(root, cache)
        self._base = KnowledgeBase("kb", "kb", str(root), now())

    def turn(self, question: str) -> list[str]:
        self.index.refresh()
        references = parse_explicit_page_refs(question)
        return [hit.path for hit in search_knowledge_base(self.index, question, explicit_refs=references).hits]

    def listed(self) -> dict[str, str]:
        self.index.refresh()
        groups = list_pages(self.index, "", TITLE).groups
        return {page.path: page.title for group in groups for page in group.pages if not page.problem}

    def offered(self, query: str) -> list[str]:
        return [page.path for page in list_page_refs(self.index.pages(), query, 50)]

    def read(self, path: str) -> str | None:
        """What an address of the page opens."""
        shown = read_page(self.index, self._base, path)
        return None if shown is None else shown.text


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write(
        tmp_path / "kb",
        {
            "wiki/zebra.md": "# Zebra\n\nstriped",
            "wiki/lion.md": "# Lion\n\nmaned, see [the zebra](zebra.md)",
            "wiki/herd/gnu.md": "# Gnu\n\nbearded",
        },
    )


@pytest.fixture
def views(root: Path) -> Views:
    made = Views(root)
    assert made.turn("striped") == ["wiki/zebra.md"]
    return made


def test_a_change_is_seen_everywhere(views: Views, root: Path) -> None:
    write(root, {"wiki/zebra.md": "# Okapi\n\nspotted"})
    assert views.turn("striped") == []
    assert views.turn("spotted") == ["wiki/zebra.md"]
    assert views.listed()["wiki/zebra.md"] == "Okapi"
    assert views.offered("okapi") == ["wiki/zebra.md"]
    assert views.read("wiki/zebra.md") == "spotted"


def test_a_rename_is_seen_everywhere(views: Views, root: Path) -> None:
    (root / "wiki/zebra.md").rename(root / "wiki/herd/okapi.md")
    assert views.turn("striped") == ["wiki/herd/okapi.md"]
    assert views.turn("[[wiki/zebra.md]]") == []
    assert sorted(views.listed()) == ["wiki/herd/gnu.md", "wiki/herd/okapi.md", "wiki/lion.md"]
    assert views.offered("okapi") == ["wiki/herd/okapi.md"]
    assert (views.read("wiki/zebra.md"), views.read("wiki/herd/okapi.md")) == (None, "striped")


def test_a_deletion_is_seen_everywhere(views: Views, root: Path) -> None:
    (root / "wiki/zebra.md").unlink()
    assert views.turn("striped") == []
    assert "wiki/zebra.md" not in views.listed()
    assert views.offered("zebra") == []
    assert views.read("wiki/zebra.md") is None
    shown = read_page(views.index, KnowledgeBase("kb", "kb", str(root), now()), "wiki/lion.md")
    assert shown is not None
    assert shown.known == frozenset(), "the link to it leads nowhere now"


def test_a_folder_that_goes_takes_its_pages_along_and_brings_them_back(
    views: Views, root: Path, tmp_path: Path
) -> None:
    (root / "wiki/herd").rename(tmp_path / "elsewhere")
    assert views.turn("bearded") == []
    assert "wiki/herd/gnu.md" not in views.listed()
    (tmp_path / "elsewhere").rename(root / "wiki/flock")
    assert views.turn("bearded") == ["wiki/flock/gnu.md"]
    assert views.offered("gnu") == ["wiki/flock/gnu.md"]


def test_a_base_that_was_moved_away_is_silent_forgets_nothing_and_answers_when_it_is_back(
    views: Views, root: Path, tmp_path: Path
) -> None:
    root.rename(tmp_path / "elsewhere")
    assert views.turn("striped") == []
    assert len(views.index.pages()) == 3
    (tmp_path / "elsewhere").rename(root)
    write(root, {"wiki/zebra.md": "# Zebra\n\nspotted by now"})
    assert views.turn("striped") == []
    assert views.turn("spotted") == ["wiki/zebra.md"]


def test_an_empty_folder_in_the_place_of_a_base_deletes_nothing(views: Views, root: Path, tmp_path: Path) -> None:
    """So it looks where a disk was taken out."""
    root.rename(tmp_path / "elsewhere")
    root.mkdir()
    assert views.turn("striped") == []
    assert len(views.index.pages()) == 3
    root.rmdir()
    (tmp_path / "elsewhere").rename(root)
    assert views.turn("striped") == ["wiki/zebra.md"]


def _at(file: Path, text: str) -> None:
    """Written so that neither its time nor its size tells."""
    file.write_text(text, encoding="utf-8")
    os.utime(file, ns=(MOMENT, MOMENT))


def test_a_change_that_keeps_the_size_and_puts_the_time_back_is_seen(tmp_path: Path) -> None:
    root = write(tmp_path, {"wiki/a.md": ""})
    _at(root / "wiki/a.md", "# A\n\nzebra")
    views = Views(root)
    assert views.turn("zebra") == ["wiki/a.md"]
    _at(root / "wiki/a.md", "# A\n\npanda")
    assert (views.turn("zebra"), views.turn("panda")) == ([], ["wiki/a.md"])


def test_two_pages_of_one_size_and_time_that_change_places_are_seen(tmp_path: Path) -> None:
    root = write(tmp_path, {"wiki/a.md": "", "wiki/b.md": ""})
    _at(root / "wiki/a.md", "# A\n\nzebra")
    _at(root / "wiki/b.md", "# A\n\npanda")
    views = Views(root)
    assert views.turn("zebra") == ["wiki/a.md"]
    for old, new in (("a.md", "c"), ("b.md", "a.md"), ("c", "b.md")):
        (root / "wiki" / old).rename(root / "wiki" / new)
    assert (views.turn("zebra"), views.turn("panda")) == (["wiki/b.md"], ["wiki/a.md"])


def test_a_page_that_becomes_a_link_is_none_any_more(views: Views, root: Path, tmp_path: Path) -> None:
    write(tmp_path, {"outside.md": "# Outside\n\nsecret"})
    (root / "wiki/zebra.md").unlink()
    (root / "wiki/zebra.md").symlink_to(tmp_path / "outside.md")
    assert (views.turn("striped"), views.turn("secret"), views.turn("[[wiki/zebra.md]]")) == ([], [], [])


CLOSING = """
import os, sys
from pathlib import Path
from devflow.retrieval.pages import search_knowledge_base
from devflow.wiki.page_index import PageIndex

root, cache = Path(sys.argv[1]), Path(sys.argv[2])
index = PageIndex(root, cache)

def turn(question):
    index.refresh()
    found = search_knowledge_base(index, question)
    return [hit.path for hit in found.hits], list(found.skipped)

assert turn("striped") == (["wiki/zebra.md"], []), turn("striped")
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)

page, folder = root / "wiki/zebra.md", root / "wiki/herd"
page.chmod(0)
assert turn("striped") == ([], ["wiki/zebra.md"]), turn("striped")
assert turn("bearded") == (["wiki/herd/gnu.md"], ["wiki/zebra.md"])
assert len(index.pages()) == 3
page.chmod(0o600)
assert turn("striped") == (["wiki/zebra.md"], [])

folder.chmod(0)
found = turn("bearded")
assert found[0] == [], found
assert index.progress().closed == ("wiki/herd",), index.progress()
assert len(index.pages()) == 3, "a folder that cannot be read deletes nothing"
folder.chmod(0o700)
assert turn("bearded") == (["wiki/herd/gnu.md"], [])

page.chmod(0)
# another takes the name of one that cannot be read
other = root / "wiki/other"
other.write_text("# Zebra\\n\\nspotted")
os.replace(other, page)
assert turn("striped") == ([], [])
assert turn("spotted") == (["wiki/zebra.md"], [])
print("right")
"""


def test_what_may_not_be_read_any_more_is_silent_and_answers_when_it_may_again(root: Path, tmp_path: Path) -> None:
    """In a process that is not the superuser's, who may read everything."""
    with tempfile.TemporaryDirectory() as open_folder:  # everybody may enter it, unlike the test's own
        top = Path(open_folder)
        top.chmod(0o755)
        moved = shutil.copytree(root, top / "kb")
        (top / "cache").mkdir()
        if os.geteuid() == 0:
            for each in (top / "cache", moved, *moved.rglob("*")):
                os.chown(each, 65534, 65534)
        command = [sys.executable, "-c", CLOSING, str(moved), str(top / "cache")]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (done.stdout, done.stderr) == ("right\n", "")


class Folder:
    """A folder that is changed at random in every way that editors, sync programs and people have."""

    def __init__(self, root: Path, seed: int) -> None:
        self.root = root
        self._random = random.Random(seed)
        self._number = 0

    def pages(self) -> list[Path]:
        return sorted(self.root.glob("wiki/**/*.md"))

    def edit(self) -> str:
        acts: list[Callable[[], object]] = [
            self.create,
            self.create,
            self.rewrite,
            self.rewrite_in_place,
            self.rewrite_and_put_the_time_back,
            self.replace,
            self.rename,
            self.swap,
            self.delete,
            self.touch,
            self.rename_folder,
            self.delete_folder,
        ]
        weights = [3, 3, 3, 4, 4, 4, 4, 4, 3, 2, 2, 0.4]
        act = self._random.choices(acts, weights)[0]
        act()
        return act.__name__

    def create(self) -> None:
        folder = self.root / "wiki" / self._random.choice(["", "a", "a/b", "c", "d/e/f"])
        folder.mkdir(parents=True, exist_ok=True)
        self._write(folder / f"{self._random.randrange(30)}.md")

    def rewrite(self) -> None:
        if page := self._page():
            page.write_text(self._text() + " and more" * self._random.randrange(5))

    def rewrite_in_place(self) -> None:
        """The same size, and as soon after the last look as can be."""
        if page := self._page():
            self._write(page)

    def rewrite_and_put_the_time_back(self) -> None:
        if page := self._page():
            before = page.stat()
            self._write(page)
            os.utime(page, ns=(before.st_atime_ns, before.st_mtime_ns))

    def replace(self) -> None:
        """As editors save: a new file takes the place of the old."""
        if page := self._page():
            fresh = page.with_name(".fresh")
            self._write(fresh)
            if self._random.random() < 0.5:
                os.utime(fresh, ns=(page.stat().st_atime_ns, page.stat().st_mtime_ns))
            fresh.replace(page)

    def rename(self) -> None:
        """Over another page, if one is there."""
        if page := self._page():
            page.replace(page.with_name(f"{self._random.randrange(30)}.md"))

    def swap(self) -> None:
        first, second = self._page(), self._page()
        if first and second and first != second:
            aside = first.with_name(".aside")
            first.rename(aside)
            second.rename(first)
            aside.rename(second)

    def delete(self) -> None:
        if page := self._page():
            page.unlink()

    def touch(self) -> None:
        if page := self._page():
            page.touch()

    def rename_folder(self) -> None:
        folders = [each for each in self.root.glob("wiki/**/") if each.name != "wiki"]
        if folders:
            folder = self._random.choice(sorted(folders))
            target = folder.with_name(self._random.choice(["a", "b", "c", "d", "x", "y"]))
            if not target.exists():
                folder.rename(target)

    def delete_folder(self) -> None:
        folders = sorted(each for each in self.root.glob("wiki/**/") if each.name != "wiki")
        if folders:
            shutil.rmtree(self._random.choice(folders))

    def _page(self) -> Path | None:
        pages = self.pages()
        return self._random.choice(pages) if pages else None

    def _write(self, file: Path) -> None:
        file.write_text(self._text())

    def _text(self) -> str:
        """All of one size; the word tells which writing it is."""
        self._number += 1
        return f"# Page\n\nword{self._number:05}"


@pytest.mark.parametrize("seed", [20_261_130])
def test_in_a_thousand_random_edits_no_turn_finds_what_is_gone_or_misses_what_is_there(
    tmp_path: Path, seed: int
) -> None:
    root = write(tmp_path / "kb", {"wiki/first.md": "# Page\n\nword00000"})
    folder, index = Folder(root, seed), PageIndex(root, tmp_path / "cache")
    other = PageIndex(root, tmp_path / "cache")  # as another window's, over the same file
    seen: set[str] = set()
    turns = stale = missed = 0
    chance = random.Random(seed)
    for step in range(1_000):
        done = folder.edit()
        if chance.random() < 0.2:
            continue  # several edits between two turns
        asked = other if chance.random() < 0.2 else index
        asked.refresh()
        turns += 1
        there = {page.relative_to(root).as_posix(): page.read_text() for page in folder.pages()}
        words = {path: text.split()[2] for path, text in there.items()}
        found = {word: {path for path, _ in asked.matching([word], 100)} for word in seen.union(words.values())}
        stale += sum(len(paths.difference(p for p, w in words.items() if w == word)) for word, paths in found.items())
        missed += sum(path not in found[word] for path, word in words.items())
        assert (stale, missed) == (0, 0), f"after {done}, step {step}"
        assert {page.path for page in asked.pages()} == set(there), f"after {done}, step {step}"
        assert all(words[path] in text for path, text in asked.contents(there).items())
        seen = set(words.values())
    assert turns > 700
    index.close()
    other.close()
