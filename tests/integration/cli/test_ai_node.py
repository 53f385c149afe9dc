"""`docs/ai-node.md`: every block of it is run as it stands, by a shell and by make, with the offline assistant."""

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.commands import ROOT, environment

PAGE = ROOT / "docs" / "ai-node.md"
BLOCK = re.compile(r"^```(\S*)[ ]?(\S*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TITLE, CONTENT = (
    "sqlite transactions",
    "A sqlite transaction of the storage takes the write lock first: BEGIN IMMEDIATE.",
)


@dataclass(frozen=True)
class Block:
    language: str
    file: str
    text: str


class Machine:
    """A folder with a home and the two programs of the page on its path."""

    def __init__(self, folder: Path, home: Path) -> None:
        self.folder = folder
        programs = folder / "bin"
        programs.mkdir(parents=True)
        _program(programs / "devflow", f'exec {shlex.quote(sys.executable)} -m devflow "$@"')
        _program(programs / "python3", f'exec {shlex.quote(sys.executable)} "$@"')
        path = os.pathsep.join((str(programs), os.environ["PATH"]))
        self._env = {"DEVFLOW_HOME": str(home), "PYTHONPATH": str(ROOT), "PATH": path, "LANGUAGE": "en"}

    def run(self, text: str, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        command = ["sh", "-e", "-c", text]
        together = environment({**self._env, **(env or {})})
        return subprocess.run(
            command, cwd=self.folder, env=together, capture_output=True, text=True, timeout=120, check=False
        )

    def read(self, name: str) -> str:
        return (self.folder / name).read_text(encoding="utf-8")


@pytest.fixture
def machine(tmp_path: Path, home: Path) -> Machine:
    """With one published entry, and the page's files and template."""
    machine = Machine(tmp_path / "steps", home)
    title, content = map(shlex.quote, (TITLE, CONTENT))
    done = machine.run(
        f"id=$(devflow knowledge add --kind pitfall --title {title} --content {content}); devflow knowledge approve $id"
    )
    assert done.returncode == 0, done.stderr
    return machine


def test_every_block_of_the_page_runs_as_it_stands(machine: Machine) -> None:
    said = []
    for block in blocks():
        if block.file:
            (machine.folder / block.file).write_text(block.text, encoding="utf-8")
        else:
            assert block.language == "sh", block
            done = machine.run(block.text)
            assert done.returncode == 0, (block.text, done.stderr)
            said.append(done.stdout)
    assert len(said) == 4
    assert "BEGIN IMMEDIATE" in said[1]
    told = json.loads(machine.read("review.json"))
    assert told["template"]["title"] == "Review a change"
    assert [source["title"] for source in told["sources"] if source["cited"]] == [TITLE]
    assert said[2] == f"rests on {TITLE} ({told['sources'][0]['id']})\n"
    assert machine.read("review.md") == told["answer"] + "\n"
    assert "BEGIN IMMEDIATE" in machine.read("change.review.md")
    again = machine.run("make change.review.md")
    assert "up to date" in again.stdout


def test_a_failing_step_ends_the_script_and_leaves_no_half_of_a_file(machine: Machine) -> None:
    for block in blocks():
        if block.file:
            (machine.folder / block.file).write_text(block.text, encoding="utf-8")
    (machine.folder / "template.id").write_text("nobody\n", encoding="utf-8")
    (machine.folder / "change.diff").write_text("+ begin\n", encoding="utf-8")
    failed = machine.run("sh review.sh storage < change.diff")
    assert (failed.returncode, failed.stdout) == (1, "")
    assert json.loads(failed.stderr)["error"]["code"] == "not_found"
    assert not (machine.folder / "review.md").exists()
    failed = machine.run("make change.review.md")
    assert failed.returncode == 2
    assert "devflow: No entry has the id nobody." in failed.stderr
    assert not (machine.folder / "change.review.md").exists()


def blocks() -> list[Block]:
    found = [Block(*match.groups()) for match in BLOCK.finditer(PAGE.read_text(encoding="utf-8"))]
    assert [block.file for block in found if block.file] == ["review.sh", "Makefile"]
    return found


def _program(file: Path, line: str) -> None:
    file.write_text(f"#!/bin/sh\n{line}\n", encoding="utf-8")
    file.chmod(0o755)
