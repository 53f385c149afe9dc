"""Shell completion: what can stand next, and real shells that complete it."""

import os
import select
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from devflow.cli.completing import complete
from devflow.domain.knowledge import Kind, Status
from devflow.store import search_index
from tests.integration.cli.conftest import Home, acts
from tests.support.commands import ROOT, environment


def words(typed: str) -> list[str]:
    """The choices for the last word; a line that ends in a space has an empty one."""
    return [choice.word for choice in complete([*shlex.split(typed), *([""] if typed.endswith(" ") else [])]).choices]


def test_every_command_and_act_is_offered_with_what_it_does() -> None:
    for act in acts():
        command, _, name = act.partition(" ")
        assert command in words("")
        assert not name or name in words(f"{command} ")
    assert all(choice.about for choice in complete(["knowledge", ""]).choices)


@pytest.mark.parametrize(
    "typed,offered",
    [
        ("kn", ["knowledge"]),
        ("knowledge li", ["list"]),
        ("--js", ["--json"]),
        ("--json knowledge s", ["search", "similar", "stats", "status"]),
        ("knowledge list --st", ["--status"]),
        ("knowledge list --status ", list(Status)),
        ("knowledge list --status pub", ["published"]),
        ("knowledge list --status = pub", ["published"]),  # as bash splits --status=pub
        ("knowledge list --status =", list(Status)),
        ("knowledge list --status published --st", []),
        ("knowledge add --kind ", list(Kind)),
        ("knowledge add --tag a --ta", ["--tag"]),
        ("knowledge add --content --status ", ["-"]),  # a value is a value, whatever it looks like
        ("knowledge list --sort t", ["title"]),
        ("config set min", ["min_messages"]),
        ("config get app", ["appearance"]),
        ("config set app", []),
        ("conversation export x --format ", ["markdown", "html"]),
        ("provider add --preset olla", ["ollama"]),
        ("mcp --allow ", ["read", "propose", "manage"]),
        ("completion ", ["bash", "zsh", "fish"]),
        ("ask -- --j", []),
        ("nobody ", []),
        ("knowledge nobody ", []),
        ("doctor ", []),
    ],
)
def test_what_is_offered(typed: str, offered: list[str], monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    monkeypatch.setenv("DEVFLOW_HOME", str(home))
    assert words(typed) == offered
    assert not home.exists()


@pytest.mark.parametrize(
    "typed,files",
    [
        ("restore ", "files"),
        ("knowledge add --file ", "files"),
        ("kb init ", "folders"),
        ("--home ", "folders"),
        ("ask --workspace ", "folders"),
        ("kb use ", "folders"),
        ("knowledge get ", ""),
    ],
)
def test_where_a_path_may_stand_the_shell_offers_its_own(
    typed: str, files: str, monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    monkeypatch.setenv("DEVFLOW_HOME", str(home))
    assert complete([*typed.split(), ""]).files == files


def test_ids_and_names_of_the_home_are_offered_where_they_fit(run: Home, tmp_path: Path) -> None:
    waiting, published, archived = (run.add(title) for title in ("Waiting", "Published", "Archived"))
    run("knowledge", "approve", published)
    run("knowledge", "archive", archived)
    run("provider", "add", "--name", "My server", "--address", "http://127.0.0.1:9", "--model", "m")
    base = tmp_path / "my notes"
    base.mkdir()
    run("kb", "init", str(base), "--purpose", "P")
    file = tmp_path / "servers.json"
    file.write_text('{"mcpServers": {"odd": {"command": "/no/such/program"}}}', encoding="utf-8")
    run("mcp-servers", "import", str(file))
    here = f"--home {shlex.quote(str(run.path))} "
    for typed, offered in (
        ("knowledge get ", {waiting, published}),
        (f"knowledge get {waiting[:8]}", {waiting}),
        ("knowledge approve ", {waiting}),
        (f"knowledge approve {waiting} ", {waiting}),
        ("knowledge restore ", {archived}),
        ("knowledge reuse ", {published}),
        ("provider test ", {"My server"}),
        ("kb use ", {"my notes"}),
        ("mcp-servers test ", {"odd"}),
        ("ask --template ", set()),
    ):
        assert set(words(here + typed)) == offered, typed


def test_a_database_that_cannot_be_read_offers_nothing(home: Path) -> None:
    home.mkdir()
    (home / "devflow.db").write_bytes(b"no database" * 100)
    assert words(f"--home {home} knowledge get ") == []


def test_completing_makes_no_home(tmp_path: Path) -> None:
    there = environment({"DEVFLOW_HOME": str(tmp_path / "none")})
    for typed in (["+knowledge", "+get", "+"], []):
        command = [sys.executable, "-m", "devflow", "completion", "bash", *typed]
        subprocess.run(command, cwd=ROOT, env=there, capture_output=True, check=True)
    assert not (tmp_path / "none").exists()


def test_neither_completion_nor_another_command_starts_slower_for_it(home: Path) -> None:
    """What counts is what is loaded: no database layer for completion, no completion for anything else."""

    def loaded(*typed: str) -> set[str]:
        command = [sys.executable, "-X", "importtime", "-m", "devflow", "--home", str(home), *typed]
        said = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, text=True, check=True).stderr
        return {line.rpartition("|")[2].strip() for line in said.splitlines() if line.startswith("import time:")}

    for typed in (("+knowledge", "+list", "+--status", "+"), ("+knowledge", "+get", "+"), ("+conversation", "+")):
        completing = loaded("completion", "bash", *typed)
        assert "devflow.cli.completing" in completing
        assert {"sqlalchemy", "alembic", "httpx", "pydantic", "PySide6", search_index.__name__} & completing == set()
    assert {"devflow.cli.completing", "devflow.cli.completion"} & loaded("--version") == set()
    assert "devflow.cli.completing" not in loaded("knowledge", "list")


# real shells --------------------------------------------------------------------------------------------------------

BASH = """
eval "$(devflow completion bash)"
tried() {
    COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
    compopt() { echo "option: $2"; }
    _devflow devflow "${COMP_WORDS[COMP_CWORD]}" ""
    printf '%s\\n' "${COMPREPLY[@]}"
}
"""


@pytest.fixture
def shell_env(run: Home, tmp_path: Path) -> dict[str, str]:
    """A `devflow` on the path, a home with a published entry and a base whose name has a space."""
    programs = tmp_path / "bin"
    programs.mkdir()
    program = programs / "devflow"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m devflow "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    base = tmp_path / "my notes"
    base.mkdir()
    run("kb", "init", str(base), "--purpose", "P")
    path = os.pathsep.join((str(programs), os.environ["PATH"]))
    return environment({"PATH": path, "PYTHONPATH": str(ROOT), "DEVFLOW_HOME": str(run.path), "TERM": "dumb"})


def test_bash_completes_commands_options_statuses_ids_and_names(run: Home, shell_env: dict[str, str]) -> None:
    id = run.add()
    script = BASH + "".join(
        f"echo '== {typed}'; tried devflow {typed}\n"
        for typed in ("kn", "knowledge ap", "ask --", "knowledge list --status pub", "knowledge get ''", "kb use ''")
    )
    told = _told(["bash", "--norc", "-c", script], shell_env)
    assert told["kn"] == ["knowledge"]
    assert told["knowledge ap"] == ["approve"]
    assert {"--template", "--var", "--allow", "--json"} <= set(told["ask --"])
    assert told["knowledge list --status pub"] == ["published"]
    assert told["knowledge get "] == [id]
    assert told["kb use "] == ["option: dirnames", "my\\ notes"]


def test_bash_takes_the_completion_on_when_the_key_is_pressed(shell_env: dict[str, str]) -> None:
    """A bash with line editing, at a terminal of its own."""
    script = 'eval "$(devflow completion bash)"\nbind "set bell-style none"\n'
    typed = "devflow knowl\tli\t--sta\tpub\t| cat; echo ended\n"
    assert "devflow knowledge list --status published | cat" in _at_a_terminal(
        ["bash", "--norc", "--noprofile"], shell_env, script, typed, "\nended"
    )


def test_zsh_completes_when_the_key_is_pressed(shell_env: dict[str, str]) -> None:
    script = 'autoload -U compinit; compinit -u -D; eval "$(devflow completion zsh)"\n'
    typed = "devflow knowl\tli\t--sta\tpub\t| cat; echo ended\n"
    said = _at_a_terminal(["zsh", "-f"], shell_env, script, typed, "\nended")
    assert "No entries." in said or "status published" in said


def test_fish_completes_commands_options_statuses_ids_and_names(run: Home, shell_env: dict[str, str]) -> None:
    id = run.add()
    script = "devflow completion fish | source\n" + "".join(
        f"echo '== {typed}'; complete --do-complete 'devflow {typed}'\n"
        for typed in ("kn", "knowledge ap", "ask --tem", "knowledge list --status pub", "knowledge get ", "kb use my")
    )
    told = {
        typed: [line.split("\t")[0] for line in lines]
        for typed, lines in _told(["fish", "--no-config", "-c", script], shell_env).items()
    }
    assert told["kn"] == ["knowledge"]
    assert told["knowledge ap"] == ["approve"]
    assert told["ask --tem"] == ["--template"]
    assert told["knowledge list --status pub"] == ["published"]
    assert told["knowledge get "] == [id]
    assert told["kb use my"][0] == "my notes"


def _told(command: list[str], env: dict[str, str]) -> dict[str, list[str]]:
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120, check=False)
    assert done.stderr == ""
    pieces = done.stdout.split("== ")[1:]
    return {piece.split("\n")[0].replace("''", ""): piece.split("\n")[1:-1] for piece in pieces}


def _at_a_terminal(command: list[str], env: dict[str, str], script: str, typed: str, until: str) -> str:
    """What a shell at a terminal shows, from `typed` on, until `until` comes."""
    spawn = [sys.executable, "-c", "import pty, sys; pty.spawn(sys.argv[1:])", *command]
    with subprocess.Popen(spawn, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as shell:
        try:
            _write(shell, script + "echo read''y\n")
            _read_until(shell, "\nready")
            _write(shell, typed)
            return _read_until(shell, until)
        finally:
            _write(shell, "\nexit\n")
            shell.communicate(timeout=60)


def _write(shell: subprocess.Popen[bytes], text: str) -> None:
    assert shell.stdin is not None
    shell.stdin.write(text.encode())
    shell.stdin.flush()


def _read_until(shell: subprocess.Popen[bytes], until: str) -> str:
    assert shell.stdout is not None
    shown = ""
    while until not in shown.replace("\r", ""):
        ready, _, _ = select.select([shell.stdout], [], [], 60)
        assert ready, shown
        data = os.read(shell.stdout.fileno(), 65_536)
        assert data, shown
        shown += data.decode("utf-8", "replace")
    return shown
