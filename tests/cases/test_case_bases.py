"""KB: founding knowledge bases, and keeping two of them apart."""

import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest

from devflow.domain.errors import InvalidInput, Refused
from devflow.wiki import founding
from devflow.wiki.founding import Sites, WouldOverwrite, create, initialise, is_base
from tests.cases.conftest import Talk
from tests.support.pages import write

AT = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
PURPOSE = "自媒体文章创作"


def files_below(root: Path) -> dict[str, str]:
    found = sorted(file for file in root.rglob("*") if file.is_file())
    return {file.relative_to(root).as_posix(): file.read_text(encoding="utf-8") for file in found}


@pytest.mark.case("KB-03")
def test_a_missing_folder_and_a_blank_purpose_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as missing:
        initialise(tmp_path / "gone", PURPOSE, at=AT, sites=Sites())
    assert "existing folder" in missing.value.hint
    with pytest.raises(InvalidInput, match="purpose is empty"):
        initialise(tmp_path, "  \n ", at=AT, sites=Sites())
    assert files_below(tmp_path) == {}


@pytest.mark.case("KB-04")
def test_a_name_that_is_taken_is_refused_and_its_files_stay(tmp_path: Path) -> None:
    write(tmp_path, {"notes/index.md": "mine"})
    with pytest.raises(InvalidInput, match="already something named notes"):
        create(tmp_path, "notes", PURPOSE, at=AT, sites=Sites())
    assert files_below(tmp_path) == {"notes/index.md": "mine"}


@pytest.mark.case("KB-05")
def test_a_folder_that_is_being_made_is_busy_by_whatever_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sites, inside, go_on = Sites(), threading.Event(), threading.Event()
    real = founding._found

    def slow(*arguments: object) -> None:
        inside.set()
        assert go_on.wait(10)
        real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(founding, "_found", slow)
    first = threading.Thread(target=lambda: create(tmp_path, "Base", PURPOSE, at=AT, sites=sites))
    first.start()
    assert inside.wait(10)
    (tmp_path / "alias").symlink_to(tmp_path / "Base")
    for other in (tmp_path / "alias", tmp_path / "base"):  # the latter is the same folder on many disks
        with pytest.raises(Refused, match="already"):
            initialise(other, PURPOSE, at=AT, sites=sites)
    go_on.set()
    first.join(10)
    assert is_base(tmp_path / "Base")


@pytest.mark.case("KB-06")
def test_a_creation_that_fails_leaves_nothing_and_can_be_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_text", full)
        with pytest.raises(OSError, match="No space"):
            create(tmp_path, "写作", PURPOSE, at=AT, sites=Sites())
    assert list(tmp_path.iterdir()) == []
    made = create(tmp_path, "写作", PURPOSE, at=AT, sites=Sites())
    assert made == tmp_path.resolve() / "写作"
    assert [path.name for path in tmp_path.iterdir()] == ["写作"]
    texts = files_below(made)
    assert "name: 写作" in texts[".wiki-schema.md"]
    assert not any("devflow-new" in name or "devflow-new" in text for name, text in texts.items())


@pytest.mark.case("KB-07")
def test_what_another_process_puts_there_meanwhile_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Path.write_text

    def overtaken(self: Path, text: str, **options: str) -> int:
        if "index.md" in self.name:
            real(self.parent / "index.md", "theirs", encoding="utf-8")
        return real(self, text, **options)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_text", overtaken)
        with pytest.raises(Refused):
            create(tmp_path, "notes", PURPOSE, at=AT, sites=Sites())
    assert files_below(tmp_path / "notes") == {"index.md": "theirs"}
    with pytest.raises(InvalidInput, match="already something named"):
        create(tmp_path, "notes", PURPOSE, at=AT, sites=Sites())
    assert files_below(tmp_path / "notes") == {"index.md": "theirs"}


@pytest.mark.case("KB-08")
async def test_files_in_the_way_are_listed_or_backed_up_first_and_then_it_is_registered(
    talk: Talk, tmp_path: Path
) -> None:
    root = write(tmp_path / "folder", {"index.md": "mine", "purpose.md": "my own", "one.md": "# One"})
    before = files_below(root)
    with pytest.raises(WouldOverwrite) as refused:
        await talk.core.bases.initialise(root, PURPOSE)
    assert set(refused.value.files) == {"index.md", "purpose.md"}
    assert files_below(root) == before
    assert await talk.core.bases.list() == ()
    base = await talk.core.bases.initialise(root, PURPOSE, overwrite=True)
    after = files_below(root)
    backup = {name.partition("/")[2]: text for name, text in after.items() if name.startswith(".devflow-backup-")}
    assert backup == {"index.md": "mine", "purpose.md": "my own"}
    assert PURPOSE in after["purpose.md"]
    assert after["one.md"] == "# One"
    assert await talk.core.bases.list() == (base,)


@pytest.mark.case("KB-11")
async def test_two_bases_with_a_page_of_one_path_never_show_the_others(talk: Talk, tmp_path: Path) -> None:
    path = "wiki/topics/same.md"
    ours = await talk.open(tmp_path / "ours", {path: "# 斑马\n\n我们的斑马有条纹。"})
    talks = {ours.id: talk.conversation}
    theirs = await talk.open(tmp_path / "theirs", {path: "# 斑马\n\n他们的斑马没有条纹。"})
    talks[theirs.id] = talk.conversation
    for base, own, foreign in ((ours, "我们的", "他们的"), (theirs, "他们的", "我们的"), (ours, "我们的", "他们的")):
        talk.conversation = talks[base.id]
        said = await talk.ask("斑马有条纹吗？")
        said.found()
        assert own in said.pages[0].text
        assert own in said.answer
        assert foreign not in said.sent + said.answer
        text = await talk.core.bases.ask(base, lambda index: index.text(path))
        assert own in text
        assert talk.conversation is not None
        assert talk.conversation.kb_id == base.id
