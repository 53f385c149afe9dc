"""Any path at all: strings put together from what has led programs astray, on a disk that is full of traps."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from devflow.tools.ignore_rules import glob_rules, ignore_rules, verdict
from devflow.tools.paths import parts_of
from devflow.tools.refusal import ToolRefused
from devflow.tools.workspace import Workspace
from tests.integration.abuse.file_acts import SECRET, edit, inside, list_, read, write

PIECES = st.sampled_from(
    ".. . ... / // \\ ~ ~root C: src app.py door link hard pipe ring .git .GIT .git. hooks config .env .Env.local "
    "git~1 secret.txt outside deep keep.txt new x \x00 \n \t \u202e \u200c \ufeff \u2024\u2024 \uff0e\uff0e \u2215 "
    "\ud800 %2e%2e %2f é e\u0301 İ ﬁ CON nul {root} {outside}".split(" ")
)
PATHS = st.one_of(
    st.lists(PIECES, max_size=7).map("/".join),
    st.lists(PIECES, max_size=7).map("".join),
    st.text(max_size=40),
)
BOUNDED = settings(
    derandomize=True,
    deadline=None,
    max_examples=400,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@pytest.fixture
def trap(workspace: Path, outside: Path, home: Path) -> Workspace:
    home.mkdir()
    for name in ("src/app.py", ".git/hooks/pre-commit", ".git/config", ".env", ".env.local"):
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).write_text("one o\n")
    (workspace / "door").symlink_to(outside)
    (workspace / "src" / "door").symlink_to("../../outside")
    (workspace / "link").symlink_to(outside / "secret.txt")
    (workspace / "ring").symlink_to("ring")
    os.link(outside / "secret.txt", workspace / "hard")
    os.mkfifo(workspace / "pipe")
    return Workspace(workspace, home)


@BOUNDED
@given(path=PATHS)
def test_no_path_reads_writes_or_lists_anything_outside(trap: Workspace, outside: Path, path: str) -> None:
    _tidy(trap.root)
    path = path.replace("{root}", str(trap.root)).replace("{outside}", str(outside))
    protected = {name: data for name, data in inside(trap.root).items() if name.startswith((".git", ".env"))}

    async def everything() -> list[str]:
        return [await act(trap, path) for act in (read, list_, write, edit, read)]

    said = asyncio.run(everything())
    assert not any(SECRET in each for each in said)
    assert names(outside) == ["deep", "secret.txt"]
    assert names(outside / "deep") == ["keep.txt"]
    now = inside(trap.root)
    assert {name: now.get(name) for name in protected} == protected
    made = {re.sub("[\u200c\ufeff\u202e]", "", name).casefold() for name in names(trap.root) if name not in KNOWN}
    assert not any(name.rstrip(". ") in (".git", "git~1") or name.startswith(".env") for name in made)


KNOWN = {".git", ".env", ".env.local", "src", "door", "link", "ring", "hard", "pipe"}


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def _tidy(root: Path) -> None:
    """Take away what the path before made, so that each finds the same traps."""
    for path in root.iterdir():
        if path.name not in KNOWN:
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


@BOUNDED
@given(path=PATHS)
def test_what_is_accepted_is_a_chain_of_plain_names(path: str) -> None:
    root = Path("/somewhere/project")
    with contextlib.suppress(ToolRefused):
        parts = parts_of(path.replace("{root}", str(root)), root)
        assert os.path.normpath(os.path.join("/r", *parts)) == os.path.join("/r", *parts)  # noqa: PTH118
        assert all(part and "/" not in part and "\x00" not in part for part in parts)


@BOUNDED
@given(
    text=st.text(alphabet="ab*?[]!^\\/-{},#.\n ", max_size=60), path=st.text(alphabet="ab/.[]", min_size=1, max_size=60)
)
def test_no_ignore_file_and_no_glob_breaks_the_matching(text: str, path: str) -> None:
    parts = tuple(part for part in path.split("/") if part) or ("a",)
    assert verdict(ignore_rules(text), parts, folder=False) in (True, False, None)
    assert all(rule.matches(parts, folder=True) in (True, False) for rule in glob_rules(text))
