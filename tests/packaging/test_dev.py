"""`dev.py`: the two README commands, and what it says where it cannot go on."""

import ast
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.packaging.conftest import ROOT

DEV = ROOT / "dev.py"


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, **environment}
    return subprocess.run([sys.executable, str(DEV), *arguments], env=env, capture_output=True, text=True, check=False)


def test_it_parses_on_an_old_python_to_say_that_it_is_too_old() -> None:
    ast.parse(DEV.read_text(encoding="utf-8"), feature_version=(3, 7))


def test_it_uses_the_standard_library_alone() -> None:
    tree = ast.parse(DEV.read_text(encoding="utf-8"))
    imported = {
        name.partition(".")[0]
        for node in ast.walk(tree)
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    assert imported <= set(sys.stdlib_module_names)


@pytest.mark.parametrize(
    "words, spread", [([], True), (["--durations=10"], True), (["tests/ui"], False), (["-x"], False)]
)
def test_the_whole_suite_uses_every_core_and_a_part_of_it_runs_in_one_process(words: list[str], spread: bool) -> None:
    spec = importlib.util.spec_from_file_location("dev", DEV)
    assert spec is not None
    assert spec.loader is not None
    dev = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(dev)
    assert bool(dev.spread(words)) is spread


def test_the_readme_names_its_two_commands() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "\npython3 dev.py run\n" in readme
    assert "\npython3 dev.py test\n" in readme


@pytest.mark.parametrize("command", ["run", "test", "check", "bench", "shots", "i18n"])
def test_help_lists_every_command(command: str) -> None:
    assert f"\n  {command} " in run("--help").stdout


def test_an_unknown_command_is_wrong_usage() -> None:
    refused = run("launch")
    assert refused.returncode == 2
    assert "usage: python3 dev.py COMMAND" in refused.stderr


@pytest.mark.display
def test_without_a_display_run_says_so_instead_of_failing_in_qt(home: Path) -> None:
    refused = run("run", "--home", str(home), DISPLAY="", WAYLAND_DISPLAY="", QT_QPA_PLATFORM="")
    assert refused.returncode == 1
    assert "This machine has no display" in refused.stdout
