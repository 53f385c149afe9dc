"""Nothing leads out of the project folder: links, `..`, devices, FIFOs, swaps in a race, hard links, own data."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import stat
import threading
from pathlib import Path

import pytest

from devflow.tools.confined_posix import _directory
from devflow.tools.refusal import ToolRefused
from devflow.tools.workspace import FILE_MAX, Workspace


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "app.py").write_text("print(1)\n")
    return folder


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "secret.txt").write_text("secret")
    return folder


@pytest.fixture
def workspace(root: Path, home: Path) -> Workspace:
    home.mkdir()
    (home / "devflow.db").write_text("rows")
    return Workspace(root, home)


def _names(folder: Path | int) -> list[str]:
    with os.scandir(folder) as entries:
        return [entry.name for entry in entries]


def refused(workspace: Workspace, path: str) -> str:
    """Reading and writing are both refused; the words of the first."""
    with pytest.raises(ToolRefused) as reading:
        workspace.read(path)
    with pytest.raises(ToolRefused):
        workspace.read_for_writing(path)
    with pytest.raises(ToolRefused):
        workspace.replace(path, b"x", None)
    return str(reading.value)


def test_a_file_is_read_and_replaced(workspace: Workspace, root: Path) -> None:
    before = workspace.read("src/app.py")
    assert workspace.replace("src/app.py", b"print(2)\n", before)
    assert (root / "src/app.py").read_text() == "print(2)\n"
    assert [item.name for item in workspace.scan(".")] == ["src"]


def test_a_link_to_a_file_outside_is_not_followed(workspace: Workspace, root: Path, outside: Path) -> None:
    (root / "link.txt").symlink_to(outside / "secret.txt")
    assert "symbolic link" in refused(workspace, "link.txt")
    assert (outside / "secret.txt").read_text() == "secret"


def test_a_link_on_the_way_is_not_followed(workspace: Workspace, root: Path, outside: Path) -> None:
    (root / "door").symlink_to(outside)
    assert "symbolic link" in refused(workspace, "door/secret.txt")
    with pytest.raises(ToolRefused):
        workspace.scan("door")
    with pytest.raises(ToolRefused):
        workspace.replace("door/new.txt", b"x", None)
    assert not (outside / "new.txt").exists()


def test_a_link_inside_the_project_is_not_followed_either(workspace: Workspace, root: Path) -> None:
    (root / "same.py").symlink_to(root / "src/app.py")
    assert "symbolic link" in refused(workspace, "same.py")


@pytest.mark.parametrize("path", ["../outside/secret.txt", "src/../../outside/secret.txt", "a\x00b", "/etc/passwd"])
def test_names_that_lead_out_never_reach_the_system(workspace: Workspace, outside: Path, path: str) -> None:
    refused(workspace, path)


def test_a_fifo_does_not_hang_and_is_no_file(workspace: Workspace, root: Path) -> None:
    os.mkfifo(root / "pipe")
    assert "FIFO" in refused(workspace, "pipe")


def test_a_socket_and_a_folder_are_no_files(workspace: Workspace, root: Path) -> None:
    with socket.socket(socket.AF_UNIX) as door, pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        door.bind("sock")
        assert "socket" in refused(workspace, "sock")
    assert "folder" in refused(workspace, "src")
    with pytest.raises(ToolRefused):
        workspace.replace(".", b"x", None)


@pytest.mark.parametrize("path", [".git/hooks/pre-commit", ".git/config", ".env", "src/.env.local", ".GIT/HEAD"])
def test_git_and_environment_files_are_protected(workspace: Workspace, root: Path, path: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text("theirs")
    assert "protected" in refused(workspace, path)
    assert (root / path).read_text() == "theirs"


def test_devflows_own_data_is_protected_under_any_name(tmp_path: Path, root: Path) -> None:
    home = root / "data"
    home.mkdir()
    (home / "devflow.db").write_text("rows")
    assert "protected" in refused(Workspace(root, home), "data/devflow.db")
    assert "protected" in refused(Workspace(home, home), "devflow.db")
    (home / "inner").mkdir()
    (home / "inner" / "x").write_text("x")
    assert "protected" in refused(Workspace(home / "inner", home), "x")
    (tmp_path / "alias").symlink_to(root)
    assert "protected" in refused(Workspace(tmp_path / "alias", home), "data/devflow.db")


def test_a_file_with_several_names_is_not_written(workspace: Workspace, root: Path, outside: Path) -> None:
    os.link(outside / "secret.txt", root / "hard.txt")
    assert workspace.read("hard.txt").data == b"secret"
    with pytest.raises(ToolRefused, match="hard links"):
        workspace.read_for_writing("hard.txt")


def test_a_folder_swapped_for_a_link_after_it_was_opened_changes_nothing(
    workspace: Workspace, root: Path, outside: Path
) -> None:
    with _directory(root, (), ("src",)) as descriptor:
        (root / "src").rename(root / "moved")
        (root / "src").symlink_to(outside)
        assert _names(descriptor) == ["app.py"]
    with pytest.raises(ToolRefused):
        workspace.replace("src/new.txt", b"x", None)
    assert _names(outside) == ["secret.txt"]


def test_swapping_all_the_time_never_lets_a_write_out(workspace: Workspace, root: Path, outside: Path) -> None:
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            with contextlib.suppress(OSError):  # a write may have made `src` anew meanwhile
                (root / "src").rename(root / "aside")
                (root / "src").symlink_to(outside)
                (root / "src").unlink()
            shutil.rmtree(root / "aside", ignore_errors=True)
            with contextlib.suppress(OSError):
                (root / "src").mkdir()

    swapper = threading.Thread(target=swap)
    swapper.start()
    try:
        for number in range(300):
            with contextlib.suppress(ToolRefused):
                workspace.replace("src/new.txt", str(number).encode(), workspace.read_for_writing("src/new.txt"))
    finally:
        stop.set()
        swapper.join()
    assert _names(outside) == ["secret.txt"]


def test_a_write_keeps_the_permissions_and_leaves_no_temporary_file(workspace: Workspace, root: Path) -> None:
    script = root / "run.sh"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o750)
    assert workspace.replace("run.sh", b"#!/bin/sh\nexit 1\n", workspace.read("run.sh"))
    assert stat.S_IMODE(script.stat().st_mode) == 0o750
    assert sorted(_names(root)) == ["run.sh", "src"]


def test_a_write_removes_what_a_killed_one_left_beside_it(workspace: Workspace, root: Path) -> None:
    left, young, mine = (
        root / "src" / name
        for name in (".devflow-0123456789abcdef.tmp", ".devflow-fedcba9876543210.tmp", ".devflow-mine.tmp")
    )
    for path in (left, young, mine):
        path.write_text("half")
    for path in (left, mine):
        os.utime(path, (1_000_000_000, 1_000_000_000))
    assert workspace.replace("src/new.py", b"print(2)\n", None)
    assert {path.name for path in (root / "src").iterdir()} == {"app.py", "new.py", young.name, mine.name}


def test_a_file_that_changed_is_not_overwritten(workspace: Workspace, root: Path) -> None:
    before = workspace.read("src/app.py")
    (root / "src/app.py").write_text("theirs\n")
    assert not workspace.replace("src/app.py", b"ours\n", before)
    assert (root / "src/app.py").read_text() == "theirs\n"
    assert not workspace.replace("src/app.py", b"ours\n", None)
    assert _names(root / "src") == ["app.py"]


def test_new_folders_are_made_inside(workspace: Workspace, root: Path) -> None:
    assert workspace.read_for_writing("new/deep/file.txt") is None
    assert workspace.replace("new/deep/file.txt", b"x", None)
    assert (root / "new/deep/file.txt").read_bytes() == b"x"
    with pytest.raises(ToolRefused, match="not a folder"):
        workspace.replace("src/app.py/x", b"x", None)


def test_a_huge_file_is_not_opened(workspace: Workspace, root: Path) -> None:
    with (root / "big").open("wb") as file:
        file.truncate(FILE_MAX + 1)
    with pytest.raises(ToolRefused, match="bytes"):
        workspace.read("big")


def test_a_project_folder_that_is_gone_is_a_sentence(home: Path, tmp_path: Path) -> None:
    with pytest.raises(ToolRefused, match="cannot be opened"):
        Workspace(tmp_path / "gone", home).scan(".")
