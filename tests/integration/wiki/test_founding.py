"""Making a folder a knowledge base: nothing lost, nothing half done, nothing pretended."""

import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest

from devflow.domain.errors import InvalidInput, Refused
from devflow.retrieval.pages import search_knowledge_base
from devflow.wiki import founding
from devflow.wiki.founding import Sites, WouldOverwrite, create, initialise, is_base, survey
from devflow.wiki.page_index import PageIndex
from tests.support.pages import write

AT = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
PURPOSE = "自媒体文章创作的研究"


def tree(root: Path) -> dict[str, str]:
    """Every file below the folder, and its text."""
    return {
        file.relative_to(root).as_posix(): file.read_text(encoding="utf-8")
        for file in sorted(root.rglob("*"))
        if file.is_file()
    }


def found(folder: Path, *, overwrite: bool = False) -> tuple[str, ...]:
    return initialise(folder, PURPOSE, at=AT, sites=Sites(), overwrite=overwrite)


def test_a_folder_becomes_a_knowledge_base_and_keeps_what_it_had(tmp_path: Path) -> None:
    write(tmp_path, {"articles/one.md": "# One", "two.txt": "two"})
    found(tmp_path)
    assert is_base(tmp_path)
    files = tree(tmp_path)
    assert files["articles/one.md"] == "# One"
    assert PURPOSE in files["purpose.md"]
    assert {".wiki-schema.md", "index.md", "log.md", "wiki/overview.md"} <= set(files)
    for folder in ("raw", "wiki/entities", "wiki/topics", "wiki/queries", "wiki/synthesis/sessions"):
        assert (tmp_path / folder).is_dir()


@pytest.mark.parametrize("question", ["这些文章总结一下", "自媒体文章创作怎么研究", "总览", "index"])
def test_a_fresh_base_finds_nothing_not_even_its_own_purpose(tmp_path: Path, question: str) -> None:
    found(tmp_path)
    index = PageIndex(tmp_path, None)
    index.refresh()
    assert search_knowledge_base(index, question).hits == ()


def test_a_purpose_that_its_owner_has_written_on_is_found(tmp_path: Path) -> None:
    found(tmp_path)
    with (tmp_path / "purpose.md").open("a", encoding="utf-8") as file:
        file.write("\n读者是独立开发者。\n")
    index = PageIndex(tmp_path, None)
    index.refresh()
    assert [hit.path for hit in search_knowledge_base(index, "读者是谁 独立开发者").hits] == ["purpose.md"]


def test_files_in_the_way_are_named_and_left_alone(tmp_path: Path) -> None:
    before = tree(write(tmp_path, {"index.md": "mine", "purpose.md": "my own", "wiki/overview.md": "all mine"}))
    with pytest.raises(WouldOverwrite) as refused:
        found(tmp_path)
    assert refused.value.files == ("purpose.md", "index.md", "wiki/overview.md")
    assert tree(tmp_path) == before


def test_on_the_users_word_they_are_replaced_and_a_copy_is_kept(tmp_path: Path) -> None:
    write(tmp_path, {"index.md": "mine", "wiki/overview.md": "all mine"})
    assert found(tmp_path, overwrite=True) == ("index.md", "wiki/overview.md")
    files = tree(tmp_path)
    assert "mine" not in files["index.md"]
    kept = {path.partition("/")[2]: text for path, text in files.items() if path.startswith(".devflow-backup-")}
    assert kept == {"index.md": "mine", "wiki/overview.md": "all mine"}


@pytest.mark.parametrize("broken_at", ["index.md", "overview.md", ".wiki-schema.md"])
def test_a_failure_half_way_leaves_the_folder_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken_at: str
) -> None:
    before = tree(write(tmp_path, {"index.md": "mine", "one.md": "# One"}))
    real = Path.replace

    def full_disk(self: Path, target: Path) -> Path:
        if target.name == broken_at:
            raise OSError(28, "No space left on device")
        return real(self, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", full_disk)
        with pytest.raises(OSError, match="No space left"):
            found(tmp_path, overwrite=True)
    assert tree(tmp_path) == before
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == []
    found(tmp_path, overwrite=True)
    assert is_base(tmp_path)


@pytest.mark.parametrize("purpose", ["", "  \n "])
def test_without_a_purpose_nothing_is_made(tmp_path: Path, purpose: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        initialise(tmp_path, purpose, at=AT, sites=Sites())
    assert refused.value.field == "purpose"
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as refused:
        found(tmp_path / "gone")
    assert refused.value.field == "folder"


def test_the_same_folder_is_not_initialised_twice_at_once_by_whatever_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "Base"
    folder.mkdir()
    (tmp_path / "alias").symlink_to(folder)
    sites, inside, go_on = Sites(), threading.Event(), threading.Event()
    real = founding._found

    def slow(*arguments: object) -> None:
        inside.set()
        assert go_on.wait(10)
        real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(founding, "_found", slow)
    first = threading.Thread(target=lambda: initialise(folder, PURPOSE, at=AT, sites=sites))
    first.start()
    assert inside.wait(10)
    for other in (folder, tmp_path / "alias"):
        with pytest.raises(Refused, match="already"):
            initialise(other, PURPOSE, at=AT, sites=sites)
    go_on.set()
    first.join(10)
    assert is_base(folder)


def test_a_new_base_takes_no_name_that_is_taken(tmp_path: Path) -> None:
    write(tmp_path, {"notes/index.md": "mine"})
    with pytest.raises(InvalidInput, match="already something named"):
        create(tmp_path, "notes", PURPOSE, at=AT, sites=Sites())
    assert tree(tmp_path) == {"notes/index.md": "mine"}
    made = create(tmp_path, "fresh", PURPOSE, at=AT, sites=Sites())
    assert is_base(made)
    assert "name: fresh" in (made / ".wiki-schema.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["", "..", "a/b", "."])
def test_a_name_that_is_none_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidInput):
        create(tmp_path, name, PURPOSE, at=AT, sites=Sites())
    assert list(tmp_path.iterdir()) == []


def test_a_survey_counts_what_can_be_digested(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "", "b/c.TXT": "", "d.pdf": "", "e.py": "", ".git/f.md": "", "wiki/g.md": ""})
    seen = survey(tmp_path)
    assert seen.counts == {".md": 1, ".txt": 1, ".pdf": 1}
    assert set(seen.samples) == {"a.md", "b/c.TXT", "d.pdf"}
