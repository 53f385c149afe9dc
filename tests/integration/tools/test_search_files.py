"""`search_files`: the same answer with ripgrep and without, bounded, and never for ever."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from devflow.tools import line_matching, search_budget, search_files, search_walk
from devflow.tools.registry import ToolContext, ToolOutcome, ToolRefused, parse_arguments, tools_for
from devflow.tools.ripgrep import find_ripgrep
from devflow.tools.search_files import LINES_MAX, OF_A_FILE_MAX, OUTPUT_MAX, SearchFiles
from devflow.tools.workspace import FILE_MAX, Workspace


async def both(root: Path, home: Path, **arguments: Any) -> str:
    """The answer, after checking that both engines give it (where ripgrep is installed)."""
    answers = [await answer_of(root, home, use_ripgrep=use, **arguments) for use in (False, True)]
    assert answers[0] == answers[1]
    return answers[0]


async def answer_of(root: Path, home: Path, *, use_ripgrep: bool, **arguments: Any) -> str:
    tool = SearchFiles(Workspace(root, home), use_ripgrep=use_ripgrep)
    outcome = await tool.run(parse_arguments(tool, json.dumps(arguments)), None, None)  # type: ignore[arg-type]
    assert isinstance(outcome, ToolOutcome)
    return outcome.text


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project with all that a search meets."""
    folder = tmp_path / "project"
    for name, text in {
        "app.py": "import os\n\n\ndef take_lock(name):\n    return name  # TODO write lock\n",
        "src/db.py": "LOCK = 1\nlock = 2\r\nclock = 3\n",
        "src/deep/写锁.md": "# 写锁\n先拿写锁 lock\n",
        "src/generated/big.js": "lock();\n",
        "src/generated/keep.js": "keep lock\n",
        "build/out.txt": "lock\n",
        "notes.log": "lock\n",
        "important.log": "lock\n",
        ".env": "LOCK=secret lock\n",
        ".git/config": "lock\n",
        ".hidden/lock.txt": "lock\n",
        "src/.gitignore": "# made by a tool\ngenerated/*\n!generated/keep.js\n",
        ".gitignore": "*.log\n!important.log\nbuild/\n",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text.encode())
    (folder / "old.txt").write_bytes("写锁 lock\r\n第二行\r\n".encode("gb18030"))
    (folder / "wide.txt").write_bytes(b"\xff\xfe" + "写锁 lock\n".encode("utf-16-le"))
    (folder / "bare.txt").write_bytes("plain lock\n".encode("utf-16-be"))
    (folder / "bom.txt").write_bytes(b"\xef\xbb\xbf" + b"lock first\n")
    (folder / "picture.bin").write_bytes(b"lock\x00\x01\x02lock")
    (folder / "empty").write_bytes(b"")
    (folder / "link.txt").symlink_to(folder / "app.py")
    os.mkfifo(folder / "pipe")
    return folder


async def test_a_text_is_found_in_every_encoding_and_in_no_ignored_or_protected_file(root: Path, home: Path) -> None:
    assert (await both(root, home, pattern="lock")).splitlines() == [
        ".hidden/lock.txt:1: lock",
        "src/deep/写锁.md:2: 先拿写锁 lock",
        "src/generated/keep.js:1: keep lock",
        "src/db.py:2: lock = 2",
        "src/db.py:3: clock = 3",
        "app.py:4: def take_lock(name):",
        "app.py:5:     return name  # TODO write lock",
        "bare.txt:1: plain lock",
        "bom.txt:1: lock first",
        "important.log:1: lock",
        "old.txt:1: 写锁 lock",
        "wide.txt:1: 写锁 lock",
        "[12 lines of 10 files; 14 files searched; passed over: 1 no text]",
    ]


async def test_letter_case_globs_paths_and_expressions_narrow_it(root: Path, home: Path) -> None:
    assert "src/db.py:1: LOCK = 1" in await both(root, home, pattern="lock", ignore_case=True)
    assert await both(root, home, pattern="LOCK", path="src/db.py") == (
        "src/db.py:1: LOCK = 1\n[1 line of 1 file; 1 file searched]"
    )
    assert (await both(root, home, pattern="lock", glob="*.{md,py}")).count("\n") == 5
    assert (await both(root, home, pattern="lock", glob="src/**/*.py")).count("\n") == 2
    assert (await both(root, home, pattern="lock", path="src", glob="deep/")).startswith("[no line matches; 0 files")
    assert "app.py:4:" in await both(root, home, pattern=r"^def \w+\(", regex=True)
    assert "src/db.py:2: lock" in await both(root, home, pattern=r"^lock = \d$", regex=True)
    assert (
        await both(root, home, pattern="写锁", path="old.txt")
        == "old.txt:1: 写锁 lock\n[1 line of 1 file; 1 file searched]"
    )
    assert "no line matches; 14 files searched" in await both(root, home, pattern="giraffe")
    assert "build/out.txt:1: lock" in await both(root, home, pattern="lock", path="build")  # asked for by name


@pytest.mark.parametrize(
    "pattern",
    [
        r"(?<=write )lock",
        r"\block\b",
        r"(?i)LOCK(?!\()",
        r"(l)o(?:c|x)k.*\1?",
        r"[^a-z]lock",
        r"(?i:[i-l])ock",
        r"\S+锁",
        r"[\w写]{2} lock",
        r"lo*+ck",
        r"(?>lo)ck",
        r"^$",
        r"$",
        r"(?P<q>n)?ame(?(q)  #|\))",
        r"(?a:\W)lock",
        r"\D\slock",
        r"ſock|K|ı",
        r"\.|\x6cock|\u9501",
        r"lock\(\);",
    ],
)
@pytest.mark.parametrize("ignore_case", [False, True])
async def test_ripgrep_never_changes_the_answer(root: Path, home: Path, pattern: str, *, ignore_case: bool) -> None:
    (root / "letters.txt").write_text("ſock K\nLOCK İ ı\nLocK\nlock²\n\x1clock\n\u2028lock\n")
    await both(root, home, pattern=pattern, regex=True, ignore_case=ignore_case)


async def test_ripgrep_is_really_asked_where_it_is_installed(
    root: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a program in its place that names one file only, the others are not even read."""
    tools = root.parent / "tools"
    tools.mkdir()
    says_so = '#!/bin/sh\n[ "$2" = --version ] && echo ripgrep 99 && exit\n'
    (tools / "rg").write_text(f"{says_so}printf './app.py\\0'\n")
    (tools / "rg").chmod(0o755)
    monkeypatch.setenv("PATH", str(tools))
    assert (await answer_of(root, home, use_ripgrep=True, pattern="lock")).count("\n") == 2
    for answer in (f"{says_so}exit 2\n", "#!/bin/sh\nexit 1\n", "#!/bin/sh\necho another 1\n", "no program"):
        (tools / "rg").write_text(answer)  # one that fails, and others that are not ripgrep
        assert (await answer_of(root, home, use_ripgrep=True, pattern="lock")).count("\n") == 12


def test_a_program_that_the_project_brings_along_is_not_run(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "rg").write_text("#!/bin/sh\n")
    (root / "rg").chmod(0o755)
    for entries in (str(root), ".", "", f"{root / 'src' / '..'}"):
        monkeypatch.setenv("PATH", entries)
        monkeypatch.chdir(root)
        assert find_ripgrep(root) is None
    (root.parent / "bin").mkdir()
    (root.parent / "bin" / "rg").symlink_to(root / "rg")
    monkeypatch.setenv("PATH", str(root.parent / "bin"))
    assert find_ripgrep(root) is None


async def test_an_expression_that_takes_for_ever_ends_and_leaves_no_process(
    root: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(line_matching, "FILE_SECONDS", 0.5)
    (root / "aaa.txt").write_text("a" * 60 + "!\n")
    before = _children()
    started = time.monotonic()
    text = await both(root, home, pattern="(a+)+$", regex=True, path="aaa.txt")
    assert time.monotonic() - started < 8
    assert "takes too long on aaa.txt; it and what follows was not searched" in text
    assert _children() == before


async def test_a_search_whose_run_is_cancelled_ends_at_once(root: Path, home: Path) -> None:
    (root / "aaa.txt").write_text("a" * 60 + "!\n")
    before = _children()
    task = asyncio.create_task(answer_of(root, home, use_ripgrep=False, pattern="(a+)+$", regex=True, path="aaa.txt"))
    await asyncio.to_thread(_wait_until, lambda: _children() != before)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.to_thread(_wait_until, lambda: _children() == before)


def _wait_until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 5
    while not true():
        assert time.monotonic() < deadline


def _children() -> set[str]:
    """Our matching programs, by process id."""
    pids = (entry.name for entry in Path("/proc").iterdir() if entry.name.isdigit())
    return {pid for pid in pids if _parent(pid) == os.getpid() and "line_matcher" in _command(pid)}


def _parent(pid: str) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except (OSError, ValueError):
        return 0


def _command(pid: str) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


async def test_what_was_cut_is_said(root: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "many.txt").write_text("needle\n" * (OF_A_FILE_MAX + 1))
    text = await both(root, home, pattern="needle")
    assert text.count("needle\n") == OF_A_FILE_MAX
    assert f"of a file at most {OF_A_FILE_MAX} lines are shown; 1 file had more" in text
    for number in range(LINES_MAX):
        (root / f"n{number:03}.txt").write_text("needle\n" * 3)
    text = await both(root, home, pattern="needle")
    assert text.count("\n") == LINES_MAX
    assert "there are more; narrow the search" in text
    assert "searched" not in text
    monkeypatch.setattr(search_walk, "FILES_MAX", 3)
    assert "only the first 20,000 files were searched" in await both(root, home, pattern="needle")


async def test_time_that_is_up_is_said(root: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Spent(search_budget.SearchBudget):
        """Time enough to start, none to look around."""

        @property
        def spent(self) -> bool:
            return True

    monkeypatch.setattr(search_files, "SearchBudget", Spent)
    assert "time was up before all folders were looked into" in await both(root, home, pattern="lock")
    assert "time was up before app.py" in await both(root, home, pattern="lock", path="app.py")


async def test_long_lines_show_the_part_that_matched_and_the_answer_is_bounded(root: Path, home: Path) -> None:
    (root / "min.js").write_text("x" * 5_000 + "needle" + "y" * 5_000 + "\n")
    line = (await both(root, home, pattern="needle")).split("\n")[0]
    assert "xxneedleyy" in line
    assert len(line) < 330
    for number in range(300):
        (root / f"wide{number}.txt").write_text("needle " + "z" * 290 + "\n")
    assert len(await both(root, home, pattern="needle")) < OUTPUT_MAX + 500
    with (root / "huge.txt").open("wb") as file:
        file.truncate(FILE_MAX + 1)
    assert "1 larger than 10 MiB" in await both(root, home, pattern="giraffe")


async def test_what_cannot_be_searched_is_refused_with_a_sentence(root: Path, home: Path) -> None:
    with pytest.raises(ToolRefused, match="regular expression is none: unterminated"):
        await both(root, home, pattern="[a", regex=True)
    with pytest.raises(ToolRefused, match="line by line"):
        await both(root, home, pattern="a\nb")
    with pytest.raises(ToolRefused, match="is no glob"):
        await both(root, home, pattern="a", glob="[")
    with pytest.raises(ToolRefused, match="no file gone"):
        await both(root, home, pattern="a", path="gone")


async def test_the_agent_has_it_and_it_asks_nobody(ctx: ToolContext) -> None:
    tool = tools_for(ctx)["search_files"]
    arguments = parse_arguments(tool, '{"pattern": "two"}')
    assert tool.subject(arguments).target == "."
    outcome = await tool.run(arguments, ctx)
    assert isinstance(outcome, ToolOutcome)
    assert outcome.text == "[no line matches; 14 files searched; passed over: 1 no text]"


async def test_names_of_any_kind_are_searched(tmp_path: Path, home: Path) -> None:
    root = tmp_path / "odd"
    root.mkdir()
    for name in (
        " lead",
        "trail ",
        "~tilde",
        "-rf",
        "--pre=sh",
        "new\nline",
        "[id].tsx",
        "a\\b",
        "é",
        "e\u0301",
        "C:x",
    ):
        (root / name).write_text("needle\n")
    (root / os.fsdecode(b"\xff")).write_text("needle\n")
    text = await both(root, home, pattern="needle")
    assert text.count("needle\n") == 11
    assert "new\\x0aline:1: needle" in text
    assert "1 that cannot be opened" in text
