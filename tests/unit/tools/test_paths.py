from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devflow.tools.paths import is_protected, parts_of, visible
from devflow.tools.refusal import ToolRefused

ROOT = Path("/home/someone/project")


@pytest.mark.parametrize(
    "path, parts",
    [
        (".", ()),
        ("", ()),
        ("a.py", ("a.py",)),
        ("./src//app.py/", ("src", "app.py")),
        ("/home/someone/project/src/a.py", ("src", "a.py")),
        ("/home/someone/project", ()),
        ("src/..a", ("src", "..a")),
        ("目录/文件.md", ("目录", "文件.md")),
        (".gitignore", (".gitignore",)),
        (".github/x.yml", (".github", "x.yml")),
        ("environment.py", ("environment.py",)),
    ],
)
def test_paths_inside_the_workspace_are_taken(path: str, parts: tuple[str, ...]) -> None:
    assert parts_of(path, ROOT) == parts


@pytest.mark.parametrize(
    "path",
    [
        "..",
        "../other",
        "src/../../x",
        "/etc/passwd",
        "/home/someone/project-evil/x",
        "/home/someone/project/../x",
        "~/x",
        "~root/.ssh",
        "C:/Windows",
        "a\x00b",
        "x" * 300,
        "a/" * 70,
        "\ud800",
        ".git/hooks/pre-commit",
        "sub/.git/config",
        ".GIT/config",
        ".git./config",
        ".g\u200cit/config",
        "git~1/config",
        ".env",
        ".env.local",
        "deep/.ENV",
        ".envrc",
    ],
)
def test_paths_that_lead_out_or_are_protected_are_refused(path: str) -> None:
    with pytest.raises(ToolRefused):
        parts_of(path, ROOT)


def test_control_and_bidirectional_characters_are_shown_not_rendered() -> None:
    assert visible("a\x1b[31m\u202eb") == "a\\x1b[31m\\x202eb"


@given(st.text(max_size=60))
def test_no_text_leads_above_the_workspace(path: str) -> None:
    try:
        parts = parts_of(path, ROOT)
    except ToolRefused:
        return
    assert all(part not in ("", ".", "..") and "/" not in part and "\x00" not in part for part in parts)
    assert not any(is_protected(part) for part in parts)
