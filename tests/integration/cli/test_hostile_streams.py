"""Standard streams that are closed, full, endless or binary, and text that attacks the terminal."""

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from devflow.cli.streams import for_terminal
from tests.integration.cli.conftest import Home
from tests.support.commands import ROOT, environment

ADD = "knowledge add --kind pitfall --title T"


def shell(home: Path, script: str, **env: str) -> subprocess.CompletedProcess[bytes]:
    """Run a script in which `$D` is the devflow command on that home."""
    command = f"{sys.executable} -m devflow --home {home}"
    return subprocess.run(
        ["sh", "-c", script],
        cwd=ROOT,
        env=environment({"D": command, **env}),
        capture_output=True,
        stdin=subprocess.DEVNULL,
        timeout=120,
    )


@pytest.mark.parametrize("words", [f"{ADD} -", "ask -", "provider add --address http://127.0.0.1:9 --key-stdin"])
def test_a_closed_standard_input_is_a_refusal_in_one_line(home: Path, words: str) -> None:
    said = shell(home, f"$D {words} <&-")
    assert (said.returncode, said.stdout) == (1, b"")
    assert said.stderr.startswith(b"devflow: Standard input is closed.")
    assert said.stderr.count(b"\n") == 1


@pytest.mark.parametrize("words", [f"{ADD} -", "ask -", "provider add --address http://127.0.0.1:9 --key-stdin"])
def test_an_endless_standard_input_is_refused_and_not_read_to_its_end(home: Path, words: str) -> None:
    said = shell(home, f"yes | $D {words}")
    assert said.returncode == 1
    assert b"is longer than" in said.stderr


def test_an_endless_file_is_refused_and_not_read_to_its_end(run: Home) -> None:
    said = run("knowledge", "add", "--kind", "pitfall", "--title", "T", "--file", "/dev/zero")
    assert said.code == 1
    assert "is longer than" in said.err


@pytest.mark.parametrize("words", ["--help", f"{ADD} --content C", "knowledge list --json", "ask hello"])
def test_closed_output_takes_nothing_from_what_is_done(home: Path, words: str) -> None:
    assert shell(home, f"$D {words} <&- >&- 2>&-").returncode == 0
    assert shell(home, "$D doctor").returncode == 0  # nothing was printed into the database


@pytest.mark.parametrize("words", ["knowledge inbox", "knowledge inbox --json", "ask hello"])
def test_output_that_the_disk_refuses_is_a_failure_in_one_line(home: Path, words: str) -> None:
    assert shell(home, f"$D {ADD} --content C").returncode == 0
    said = shell(home, f"$D {words} > /dev/full")
    assert said.returncode == 1
    assert b"The output cannot be written: No space left" in said.stderr
    assert b"Traceback" not in said.stderr


def test_errors_that_cannot_be_said_anywhere_are_still_exit_codes(home: Path) -> None:
    assert shell(home, "$D knowledge get nowhere 2> /dev/full").returncode == 1


def test_an_answer_whose_reader_has_gone_stops_quietly(home: Path) -> None:
    said = shell(home, "{ $D ask hello; echo $? >&2; } | true")
    assert said.stderr.split()[-1] == b"0"
    assert b"Traceback" not in said.stderr
    assert b"Traceback" not in (home / "logs" / "devflow.log").read_bytes()


def test_a_message_of_ten_megabytes_is_refused_with_its_length(run: Home) -> None:
    said = run("ask", "-", stdin=b"x" * 1_000_001)
    assert said.code == 1
    assert "The message has 1,000,001 characters; at most 1,000,000 fit." in said.err


def test_what_was_typed_is_repeated_in_an_error_only_in_part(run: Home) -> None:
    said = run("knowledge", "list", "--kind", "x" * 100_000)
    assert said.code == 1
    assert len(said.err) < 3_000


def test_on_a_terminal_hidden_characters_are_shown_and_not_obeyed() -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    text = "a\x1b]52;c;aGk=\x07\tb\n\u202ec\r"
    assert for_terminal(text, Terminal()) == "a<U+001B>]52;c;aGk=<U+0007>\tb\n<U+202E>c<U+000D>"
    assert for_terminal(text, io.StringIO()) == text


@pytest.mark.parametrize("word", ["\udcff\udcfe", "\ud800"])
@pytest.mark.parametrize(
    "words",
    [
        ("knowledge", "get"),
        ("knowledge", "timeline"),
        ("knowledge", "search"),
        ("knowledge", "list", "--project"),
        ("knowledge", "list", "--tag"),
        ("knowledge", "approve"),
        ("knowledge", "archive"),
        ("extract",),
        ("ask",),
        ("ask", "question", "--workspace"),
        ("ask", "question", "--provider"),
        ("ask", "question", "--model"),
        ("provider", "remove"),
        ("backup",),
        ("restore",),
        ("config", "get"),
        ("config", "set", "embedding_model"),
    ],
)
def test_bytes_that_are_no_text_are_refused_in_one_line(
    run: Home, words: tuple[str, ...], word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    said = run(*words, word)
    if words != ("backup",) or word == "\ud800":  # a file may have any bytes for a name
        assert said.code == 1
        assert said.err.count("\n") == 1


def test_a_name_too_long_for_any_file_is_refused_in_one_line(run: Home) -> None:
    run.add()
    long = "x" * 5_000
    for words in (
        ("backup", long),
        ("restore", long),
        ("knowledge", "list", "--project", long),
        ("ask", "question", "--workspace", long),
        ("--home", long, "knowledge", "list"),
        ("--home", "~nobody-of-this-name/x", "knowledge", "list"),
        ("knowledge", "list", "--project", "~nobody-of-this-name/x"),
        ("ask", "question", "--workspace", "~nobody-of-this-name/x"),
    ):
        said = run(*words)
        assert (said.code, said.err.count("\n")) == (1, 1), words


def test_an_offset_beyond_every_number_of_the_database_is_refused(run: Home) -> None:
    said = run("knowledge", "list", "--offset", "99999999999999999999")
    assert (said.code, said.err.count("\n")) == (1, 1)


LATIN = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


def test_a_home_of_any_name_opens_in_any_locale(tmp_path: Path) -> None:
    home = tmp_path / "家 园?#%41'"
    quoted = f'"{home}"'.replace("$", "")
    command = f"{sys.executable} -m devflow --home {quoted}"
    for env in (LATIN, {"LC_ALL": "xx_YY.NOPE"}, {}):
        said = shell(home, f"{command} {ADD} --content 内容 && {command} knowledge inbox && {command} doctor", **env)
        assert (said.returncode, said.stderr) == (0, b""), env
        assert home.name.encode() in said.stdout
    assert [file.name for file in tmp_path.iterdir()] == [home.name]


def test_a_working_directory_that_is_gone_is_no_traceback(home: Path, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    script = (
        f"mkdir {gone}; cd {gone}; rmdir {gone}; export PYTHONPATH={ROOT}; $D {ADD} --content C; $D --home x doctor"
    )
    said = shell(home, f"{script}; $D ask --workspace . hello; $D backup here; $D {ADD} --content C --project .")
    assert b"Traceback" not in said.stderr
    assert said.stderr.count(b"devflow: ") == 4


def test_a_log_that_cannot_be_kept_is_said_once_and_stops_nothing(home: Path) -> None:
    (home / "logs" / "devflow.log").mkdir(parents=True)
    said = shell(home, f"$D {ADD} --content C")
    assert said.returncode == 0
    assert said.stderr.count(b"\n") == 1
    assert b"no log is kept" in said.stderr


def test_what_is_no_file_in_the_databases_place_is_refused_and_not_waited_for(home: Path) -> None:
    home.mkdir()
    os.mkfifo(home / "devflow.db")
    said = shell(home, "$D knowledge list; $D doctor; $D backup; $D restore $H/devflow.db", H=str(home))
    assert said.returncode == 1
    assert b"is no file" in said.stderr
