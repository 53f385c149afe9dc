"""Nothing in the tree ties it to one machine or to one package registry."""

import re
from pathlib import Path

import pytest

from tests.architecture.source import ROOT, tracked_files

OF_ONE_MACHINE = re.compile(r"(?<![\w.~/-])/(?:root|work|Users/\w|var/folders)[\w./-]*|[A-Z]:\\Users\\\w", re.MULTILINE)
OF_A_REGISTRY = re.compile(r"pypi\.|pythonhosted|artifactory|/simple/?\b|--(?:extra-)?index-url|--find-links", re.I)
TEXT = {".py", ".md", ".toml", ".txt", ".json", ".qss", ".po", ".mako", ".ini", ".cfg", ".svg", ".yml", ".yaml", ""}


def _lines_with(pattern: re.Pattern[str], file: Path) -> list[str]:
    text = file.read_text(encoding="utf-8")
    return [
        f"{file.relative_to(ROOT)}:{number}: {line.strip()[:120]}"
        for number, line in enumerate(text.splitlines(), 1)
        if pattern.search(line)
    ]


@pytest.mark.parametrize("pattern", [OF_ONE_MACHINE, OF_A_REGISTRY], ids=["absolute paths", "registries"])
def test_no_file_names_a_machine_or_a_registry(pattern: re.Pattern[str]) -> None:
    found = [
        line
        for file in tracked_files()
        if file.suffix in TEXT and file != Path(__file__).resolve()
        for line in _lines_with(pattern, file)
    ]
    assert found == []


def test_no_file_names_the_folder_of_this_clone() -> None:
    here = re.compile(re.escape(str(ROOT)))
    assert [line for file in tracked_files() if file.suffix in TEXT for line in _lines_with(here, file)] == []


def test_pins_carry_hashes_and_no_addresses() -> None:
    for file in (ROOT / "requirements").glob("*.txt"):
        text = file.read_text(encoding="utf-8")
        assert "://" not in text, file.name
        pins = re.split(r"\n(?=\w)", text.partition("\n")[2].strip())
        assert pins, file.name
        assert [pin for pin in pins if "--hash=sha256:" not in pin] == [], file.name


def test_no_lock_file_with_addresses_is_kept() -> None:
    locks = {"uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock"}
    assert [file for file in tracked_files() if file.name in locks] == []


def test_the_top_level_has_its_five_places_and_what_every_repository_has() -> None:
    top = {file.relative_to(ROOT).parts[0] for file in tracked_files()}
    places = {"pyproject.toml", "devflow", "migrations", "resources", "tests"}
    usual = {
        ".ci",
        ".gitattributes",
        ".gitignore",
        "CHANGELOG.md",
        "LICENSE",
        "README.md",
        "README.zh.md",
        "dev.py",
        "docs",
    }
    assert top <= places | usual | {"requirements"}
