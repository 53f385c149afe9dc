"""Paths that mean harm (spec 03, Tools): whatever the model sends and the disk holds, the outside stays as it is.

The fixture `outside` compares the folder beside the project with what it was before, after every test.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import shutil
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from devflow.tools.edit_file import EditFile
from devflow.tools.refusal import ToolRefused
from devflow.tools.tool import Voided
from devflow.tools.workspace import Workspace
from devflow.tools.write_file import WriteFile
from tests.integration.abuse.file_acts import (
    ACTS,
    NO_CONTEXT,
    SECRET,
    VOIDED,
    Act,
    edit,
    inside,
    list_,
    read,
    search,
    told,
    was_refused,
    write,
)

acts = pytest.mark.parametrize("act", ACTS.values(), ids=ACTS)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def project(workspace: Path, home: Path) -> Workspace:
    """A project with a file, a repository, secrets of its own, and a DevFlow home elsewhere."""
    home.mkdir()
    for name, text in {
        "src/app.py": "one\ntwo\n",
        ".git/hooks/pre-commit": "#!/bin/sh\necho theirs\n",
        ".git/config": "[core]\n",
        ".env": "TOKEN=one\n",
        ".env.local": "TOKEN=two\n",
    }.items():
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).write_text(text)
    return Workspace(workspace, home)


# names --------------------------------------------------------------------------------------------------------------


@acts
@pytest.mark.parametrize(
    "path",
    [
        "../outside/secret.txt",
        "../outside",
        "..",
        "src/../../outside/secret.txt",
        "./src/.././../outside/secret.txt",
        "src/..//../outside",
        "{outside}/secret.txt",
        "{root}/../outside/secret.txt",
        "{root}-evil/secret.txt",
        "//{outside}/secret.txt",
        "/etc/passwd",
        "/proc/self/environ",
        "/dev/zero",
        "~/secret.txt",
        "~root/secret.txt",
        "C:\\Windows\\win.ini",
        "\\\\server\\share\\x",
        "file:///etc/passwd",
        "src/app.py\x00.txt",
        "\x00",
        "src\x00/../../outside/secret.txt",
        "x" * 256,
        "深" * 86,
        "d/" * 65 + "x",
        "x" * 5_000,
        "\ud800/x",
    ],
)
async def test_names_that_lead_out_or_are_none(project: Workspace, outside: Path, act: Act, path: str) -> None:
    before = inside(project.root)
    path = path.replace("{outside}", str(outside)).replace("{root}", str(project.root))
    said = await act(project, path)
    assert SECRET not in said
    if act is not write or path.startswith(("/", "..", "~", "x" * 256)):
        assert was_refused(said)
    assert {name: data for name, data in inside(project.root).items() if name in before} == before


@acts
@pytest.mark.parametrize(
    "path",
    [
        ".git",
        ".git/hooks",
        ".git/hooks/pre-commit",
        ".git/hooks/post-checkout",
        "./.git//hooks/./pre-commit",
        "src/.git/config",
        ".GIT/hooks/pre-commit",
        ".Git/config",
        ".git./config",
        ".git /config",
        ".git. . /config",
        ".g\u200cit/config",
        "\ufeff.git/config",
        ".gi\u2060t/hooks/pre-commit",
        "GIT~1/config",
        "git~2/hooks/pre-commit",
        ".env",
        ".env.local",
        ".ENV",
        ".Env.Local",
        ".env.",
        ".envrc",
        "src/.env.production",
    ],
)
async def test_git_and_environment_files_under_every_name_some_system_gives_them(
    project: Workspace, act: Act, path: str
) -> None:
    before = inside(project.root)
    said = await act(project, path)
    assert was_refused(said)
    assert "protected" in said
    assert inside(project.root) == before


async def test_what_is_protected_is_named_in_a_list_and_never_searched(project: Workspace) -> None:
    listed = (await list_(project, ".")).split("\n")
    assert {".git/ [protected]", ".env [protected]", ".env.local [protected]", "src/app.py (8 bytes)"} <= {*listed}
    assert not any("hooks" in line for line in listed)
    found = await search(project, ".")
    assert "src/app.py:1: one" in found
    assert "TOKEN" not in found
    assert "theirs" not in found


async def test_names_that_only_look_alike_are_files_like_others(project: Workspace) -> None:
    """`.gitignore`, `.github` and `environment.py` belong to the project."""
    for path in (".gitignore", ".github/workflows/ci.yml", "environment.py", "git/x", "x.env"):
        assert "created" in await write(project, path)


# what stands on the disk ----------------------------------------------------------------------------------------------


Arrange = Callable[[Path, Path], object]

LINKS: dict[str, tuple[str, Arrange]] = {
    "link to a file": ("link", lambda root, outside: (root / "link").symlink_to(outside / "secret.txt")),
    "relative link": ("link", lambda root, outside: (root / "link").symlink_to("../outside/secret.txt")),
    "link to a folder": ("link", lambda root, outside: (root / "link").symlink_to(outside)),
    "through a linked folder": ("link/secret.txt", lambda root, outside: (root / "link").symlink_to(outside)),
    "new file through a linked folder": ("link/new.txt", lambda root, outside: (root / "link").symlink_to(outside)),
    "deep through a linked folder": ("src/link/deep/keep.txt", lambda r, o: (r / "src" / "link").symlink_to(o)),
    "link to a file that is not there": ("link", lambda root, outside: (root / "link").symlink_to(outside / "new")),
    "link to a link": (
        "link",
        lambda root, outside: ((root / "b").symlink_to(outside / "secret.txt"), (root / "link").symlink_to("b")),
    ),
    "link in a circle": ("link", lambda root, outside: (root / "link").symlink_to("link")),
    "link to what is protected": ("link", lambda root, outside: (root / "link").symlink_to(".git/config")),
    "link to the project itself": ("link/.git/config", lambda root, outside: (root / "link").symlink_to(root)),
    "link to a process": ("link", lambda root, outside: (root / "link").symlink_to("/proc/self/environ")),
    "link to a device": ("link", lambda root, outside: (root / "link").symlink_to("/dev/zero")),
}


@acts
@pytest.mark.parametrize("path, arrange", LINKS.values(), ids=LINKS)
async def test_links(project: Workspace, outside: Path, act: Act, path: str, arrange: Arrange) -> None:
    arrange(project.root, outside)
    said = await act(project, path)
    assert was_refused(said)
    assert SECRET not in said
    for everything in (list_, search):  # nor are they followed on the way
        whole = await everything(project, ".")
        assert SECRET not in whole
        assert "keep.txt" not in whole


@acts
async def test_a_fifo_hangs_nothing(project: Workspace, act: Act) -> None:
    os.mkfifo(project.root / "pipe")
    assert was_refused(await act(project, "pipe"))
    assert "pipe [FIFO, not followed]" in await list_(project, ".")
    assert "pipe" not in await search(project, ".")


@acts
async def test_a_socket_is_no_file(project: Workspace, act: Act, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project.root)
    with socket.socket(socket.AF_UNIX) as door:
        door.bind("sock")
        assert was_refused(await act(project, "sock"))
        assert "sock" not in await search(project, ".")


@acts
@pytest.mark.parametrize("device", ["null", "zero", "random", "tty"])
async def test_a_device_is_no_file(home: Path, act: Act, device: str) -> None:
    """Making a device needs root, so the folder of the system's devices is the project here."""
    assert was_refused(await act(Workspace(Path("/dev"), home), device))


async def test_a_hard_link_to_an_outside_file(project: Workspace, outside: Path) -> None:
    """It is like any other file to the system (decision 21): not written, not searched, and read only when allowed."""
    os.link(outside / "secret.txt", project.root / "hard.txt")
    assert was_refused(await write(project, "hard.txt"))
    assert was_refused(await edit(project, "hard.txt"))
    for said in (await read(project, "hard.txt"), await search(project, "hard.txt"), await search(project, ".")):
        assert SECRET not in said
    assert (await read(project, "hard.txt")).startswith(VOIDED)
    assert "1 with several names (hard links)" in await search(project, ".")
    assert f"hard.txt ({(outside / 'secret.txt').stat().st_size:,} bytes)" in await list_(project, ".")


async def test_a_hard_link_put_in_a_files_place_after_its_diff_was_shown(project: Workspace, outside: Path) -> None:
    tool, arguments = WriteFile(project), {"path": "src/app.py", "content": "pwned\n"}
    shown = await tool.preview(arguments, NO_CONTEXT)
    (project.root / "src/app.py").unlink()
    os.link(outside / "secret.txt", project.root / "src/app.py")
    with pytest.raises(ToolRefused, match="hard links"):
        await tool.run(arguments, NO_CONTEXT, shown)


@acts
async def test_devflows_own_data_inside_the_project(tmp_path: Path, act: Act) -> None:
    root = tmp_path / "notes"
    own = root / "data" / "devflow"
    own.mkdir(parents=True)
    (own / "devflow.db").write_text("rows of the library\n")
    (root / "alias").symlink_to(own)
    for path in ("data/devflow/devflow.db", "data/devflow", "data/devflow/keys.json", "alias/devflow.db"):
        assert was_refused(await act(Workspace(root, own), path))
    assert "rows" not in await search(Workspace(root, own), ".")
    assert inside(root) == {"data/devflow/devflow.db": b"rows of the library\n"}


# swaps ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tool", [WriteFile, EditFile])
@pytest.mark.parametrize("what", ["file", "folder", "folder above"])
async def test_a_link_put_in_place_between_the_diff_and_the_write(
    project: Workspace, outside: Path, tool: type[WriteFile] | type[EditFile], what: str
) -> None:
    (outside / "app.py").write_text("one\ntwo\n")  # the same content: no hash tells the difference
    (project.root / "src" / "inner").mkdir()
    (project.root / "src" / "inner" / "app.py").write_text("one\ntwo\n")
    (outside / "inner").mkdir()
    (outside / "inner" / "app.py").write_text("one\ntwo\n")
    arguments = {
        "path": "src/inner/app.py",
        **({"content": "pwned"} if tool is WriteFile else {"old_text": "one", "new_text": "pwned"}),
        **({} if tool is WriteFile else {"replace_all": False}),
    }
    shown = await tool(project).preview(arguments, NO_CONTEXT)
    swapped = {"file": "src/inner/app.py", "folder": "src/inner", "folder above": "src"}[what]
    target = {"file": outside / "app.py", "folder": outside / "inner", "folder above": outside}[what]
    (project.root / swapped).rename(project.root / "aside")
    (project.root / swapped).symlink_to(target)
    with pytest.raises(ToolRefused, match="link"):
        await tool(project).run(arguments, NO_CONTEXT, shown)
    assert (outside / "app.py").read_text() == (outside / "inner" / "app.py").read_text() == "one\ntwo\n"
    shutil.rmtree(outside / "inner")
    (outside / "app.py").unlink()


@pytest.mark.parametrize("tool", [WriteFile, EditFile])
@pytest.mark.parametrize("what", ["file", "folder", "hard link"])
@pytest.mark.parametrize("moment", ["fsync", "rename"])
async def test_a_link_put_in_place_in_the_middle_of_the_write(
    project: Workspace,
    outside: Path,
    monkeypatch: pytest.MonkeyPatch,
    tool: type[WriteFile] | type[EditFile],
    what: str,
    moment: str,
) -> None:
    """At the worst moments: after the new text is on the disk, and after the last look at the old one."""
    place, real = project.root / "src" / "app.py", getattr(os, moment)
    swaps: list[str] = []

    def swap_first(*arguments: Any, **options: Any) -> Any:
        if not swaps:
            swaps.append(what)
            if what == "folder":
                os.replace(project.root / "src", project.root / "aside")  # noqa: PTH105 - its rename is the hook
                (project.root / "src").symlink_to(outside)
            else:
                place.unlink()
                place.symlink_to(outside / "secret.txt") if what == "file" else place.hardlink_to(
                    outside / "secret.txt"
                )
        return real(*arguments, **options)

    if tool is WriteFile:
        arguments: dict[str, Any] = {"path": "src/app.py", "content": "pwned\n"}
    else:
        arguments = {"path": "src/app.py", "old_text": "one", "new_text": "pwned", "replace_all": False}
    shown = await tool(project).preview(arguments, NO_CONTEXT)
    monkeypatch.setattr(os, moment, swap_first)
    with contextlib.suppress(ToolRefused):
        outcome = await tool(project).run(arguments, NO_CONTEXT, shown)
        assert SECRET not in str(outcome)
    assert swaps == [what]
    assert (outside / "secret.txt").read_text() == f"{SECRET}\n"
    assert not any(name.endswith(".tmp") for folder, _, found in os.walk(project.root) for name in found)


@contextmanager
def swapping(swap: Callable[[], None]) -> Iterator[threading.Event]:
    """A thread that swaps without a pause; yields what is set once it has done so a hundred times."""
    stop, often = threading.Event(), threading.Event()

    def work() -> None:
        for number in itertools.count(1):
            if stop.is_set():
                return
            swap()
            if number == 100:
                often.set()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield often
    finally:
        stop.set()
        thread.join()


@acts
async def test_a_file_that_becomes_a_link_and_back_all_the_time(project: Workspace, outside: Path, act: Act) -> None:
    place, spare = project.root / "src" / "app.py", project.root / "spare"
    (project.root / "bait").symlink_to(outside / "secret.txt")

    def swap() -> None:
        with contextlib.suppress(OSError):  # a write may have put a file here meanwhile
            spare.symlink_to(outside / "secret.txt")
            spare.replace(place)
        with contextlib.suppress(OSError):
            spare.write_text("one\ntwo\n")
            spare.replace(place)

    path, times = "src" if act is list_ else "src/app.py", 15 if act is search else 150
    with swapping(swap) as often:
        said = [await act(project, path) for _ in range(times)]
        assert await asyncio.to_thread(often.wait, 30)
    assert not any(SECRET in each for each in said)
    assert act is list_ or any("\n" in each.strip() for each in said)
    assert not any(name.endswith(".tmp") for name in names(project.root / "src"))


@acts
async def test_a_folder_that_becomes_a_link_and_back_all_the_time(project: Workspace, outside: Path, act: Act) -> None:
    (project.root / "src" / "secret.txt").write_text("ours\n")
    place, aside = project.root / "src", project.root / "aside"

    def swap() -> None:
        with contextlib.suppress(OSError):
            place.rename(aside)
            place.symlink_to(outside)
        with contextlib.suppress(OSError):
            place.unlink()
        with contextlib.suppress(OSError):
            aside.rename(place)

    said = []
    with swapping(swap) as often:
        for number in range(15 if act is search else 150):
            path = {list_: "src", search: "." if number % 2 else "src"}.get(act, "src/secret.txt")
            said.append(await act(project, path))
            said.append(await act(project, "src/new/made.txt" if act is write else path))
        assert await asyncio.to_thread(often.wait, 30)
    assert not any(SECRET in each or "keep.txt" in each for each in said)


async def test_a_link_put_in_place_while_a_search_runs_shows_nothing(
    project: Workspace, outside: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the worst moment: after ripgrep has judged the file, before it is read. The swap is the program itself."""
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "rg").write_text(
        '#!/bin/sh\n[ "$2" = --version ] && echo ripgrep 99 && exit\n'
        f"/bin/ln -sf {outside}/secret.txt {project.root}/src/app.py\nprintf './src/app.py\\0'\n"
    )
    (tools / "rg").chmod(0o755)
    monkeypatch.setenv("PATH", str(tools))
    said = await search(project, ".")
    assert (project.root / "src/app.py").is_symlink()
    assert SECRET not in said
    assert "1 that cannot be opened" in said


async def test_two_writers_never_mix_their_texts(project: Workspace) -> None:
    """Each write is whole or not at all."""
    tool = WriteFile(project)
    texts = [f"{number}\n" * 50_000 for number in range(6)]
    shown = await tool.preview({"path": "src/app.py", "content": ""}, NO_CONTEXT)
    outcomes = await asyncio.gather(
        *(tool.run({"path": "src/app.py", "content": text}, NO_CONTEXT, shown) for text in texts)
    )
    assert (project.root / "src/app.py").read_text() in texts
    assert not all(isinstance(outcome, Voided) for outcome in outcomes)
    assert names(project.root / "src") == ["app.py"]


async def test_a_disk_that_refuses_leaves_the_file_as_it_was(
    project: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    said = await told(WriteFile(project), {"path": "src/app.py", "content": "new\n"})
    assert "cannot be written: No space left" in said
    assert (project.root / "src/app.py").read_text() == "one\ntwo\n"
    assert names(project.root / "src") == ["app.py"]
