"""Which commands "always allow" may ever cover: judged by their words, without a shell."""

import pytest

from devflow.tools.command_words import program_name, rule_allowed, shown_line


@pytest.mark.parametrize(
    "line",
    [
        "git status",
        "git status -s",
        "git log --oneline -5",
        "pytest -q tests/unit",
        "npm test",
        "npm run build",
        "cargo test",
        "go test ./...",
        "make test -j4",
        "ruff check .",
        "ls -la",
        "find . -name x.py",
        "uv sync",
    ],
)
def test_ordinary_work_may_get_a_rule(line: str) -> None:
    assert rule_allowed(line.split())


@pytest.mark.parametrize(
    "line",
    [
        "python -c x",
        "python3.11 script.py",
        "/usr/bin/python3 -m pytest",
        "venv\\Scripts\\PYTHON.EXE -V",
        "node x.js",
        "ruby3.2 x",
        "perl -e 1",
        "bash -c ls",
        "sh x.sh",
        "cmd.exe /c dir",
        "pwsh -c x",
        "env git status",
        "xargs rm",
        "sudo git status",
        "nohup git status",
        "timeout 5 git status",
        "rm -rf build",
        "cp a b",
        "curl https://example.org",
        "find . -exec rm x",
        "find . -delete",
        "git",
        "git -c alias.x=!sh x",
        "git --exec-path=. status",
        "git config alias.x !sh",
        "git rebase -x ls",
        "git rebase --exec ls",
        "git rebase --exe ls",
        "git grep -Oless x",
        "git clone -u ./run-me x",
        "git clone -c core.sshCommand=./run-me x",
        "cmake -E remove x",
        "cmake -Pscript.cmake",
        "rake -e system(1)",
        "m4 x",
        "git diff --output=../x",
        "git diff --ext-diff",
        "make SHELL=/bin/x",
        "make --eval=x:",
        "make -f other",
        "npm exec x",
        "uv run x",
        "cargo run",
        "sed -i s/a/b/ x",
        "sqlite3 x.db",
    ],
)
def test_what_carries_out_its_arguments_never_gets_a_rule(line: str) -> None:
    assert not rule_allowed(line.split())


@pytest.mark.parametrize("words", [[], [""], ["git", "status\nrm x"], ["git", "sta\u202etus"], ["git", "\x1b[2K"]])
def test_words_that_cannot_be_shown_as_they_are_never_get_a_rule(words: list[str]) -> None:
    assert not rule_allowed(words)


def test_a_line_is_shown_so_that_its_words_can_be_told_apart() -> None:
    assert shown_line(["git", "status; rm x", "$(id)", ""]) == "git 'status; rm x' '$(id)' ''"


@pytest.mark.parametrize(
    "word, name",
    [("/usr/bin/python3.11", "python"), ("Node.exe", "node"), ("gcc-12", "gcc"), ("7z", "7z"), ("..", "..")],
)
def test_a_program_is_known_by_its_bare_name(word: str, name: str) -> None:
    assert program_name(word) == name
