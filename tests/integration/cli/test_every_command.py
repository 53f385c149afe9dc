"""What holds for each command of the table: help, a row in the documentation, global options, refusals."""

import json
import re
from argparse import _AppendAction

import pytest

from tests.integration.cli.conftest import Home, acts
from tests.support.commands import ROOT

ACTS = acts()
GLOBAL = {"--help", "-h", "--home", "--json", "--verbose", "-v"}


@pytest.mark.parametrize("act", ACTS)
def test_the_help_says_what_it_does_and_what_each_argument_is(run: Home, act: str) -> None:
    said = run(*act.split(), "--help")
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith(f"usage: devflow {act} [-h] [--home DIR] [--json] [-v]")
    assert ACTS[act].description
    assert [action.dest for action in ACTS[act]._actions if not action.help] == []


def test_global_options_are_understood_before_and_after_each() -> None:
    assert [act for act, parser in ACTS.items() if not set(parser._option_string_actions) >= GLOBAL] == []


def test_what_may_be_repeated_may_be_repeated_everywhere() -> None:
    repeated = {"--tag", "--allow", "--var", "--ref"}
    once = {"knowledge list --tag", "knowledge search --tag", "mcp --allow"}  # a filter, and a right
    found = {
        f"{act} {option}": isinstance(action, _AppendAction)
        for act, parser in ACTS.items()
        for option, action in parser._option_string_actions.items()
        if option in repeated
    }
    assert {name for name, several in found.items() if not several} == once
    assert {name.split()[-1] for name, several in found.items() if several} == repeated


def test_the_documentation_has_a_row_for_each_with_all_its_options() -> None:
    told = _rows()
    assert told.keys() == ACTS.keys()
    for act, parser in ACTS.items():
        assert told[act] == {name for name in parser._option_string_actions if name.startswith("--")} - GLOBAL, act


REFUSED = [
    ("", 2),
    ("knowledge", 2),
    ("knowledge list --status deleted", 1),
    ("knowledge list --limit many", 2),
    ("knowledge list --limit 0", 1),
    ("knowledge list --offset -1", 1),
    ("knowledge list --sort colour", 1),
    ("knowledge search x --kind secret", 1),
    ("knowledge search x --limit 0", 1),
    ("knowledge inbox --kind secret", 1),
    ("knowledge get nobody", 1),
    ("knowledge timeline nobody", 1),
    ("knowledge similar nobody", 1),
    ("knowledge add --kind secret --title T --content C", 1),
    ("knowledge add --kind pitfall --title T --content C --confidence 2", 1),
    ("knowledge add --kind pitfall --title T --content C --project nowhere", 1),
    ("knowledge add --kind pitfall --title T", 2),
    ("knowledge edit nobody --title T", 1),
    ("knowledge edit nobody", 2),
    ("knowledge status nobody archived", 1),
    ("knowledge status nobody deleted", 1),
    ("knowledge approve nobody", 1),
    ("knowledge approve", 2),
    ("knowledge archive nobody", 1),
    ("knowledge restore nobody", 1),
    ("knowledge merge nobody other", 1),
    ("knowledge merge nobody", 2),
    ("knowledge undo nobody", 1),
    ("knowledge erase nobody", 1),
    ("knowledge reuse nobody", 1),
    ("knowledge reembed nobody", 1),
    ("config get nothing", 1),
    ("config set nothing 1", 1),
    ("provider add --preset nobody", 2),
    ("provider add", 2),
    ("provider add --address http://127.0.0.1:9 --key-env NO_SUCH_VARIABLE", 1),
    ("provider test nobody", 1),
    ("provider remove nobody", 1),
    ("kb open /no/such/folder", 1),
    ("kb init /no/such/folder --purpose P", 1),
    ("kb use nobody", 1),
    ("kb pages", 1),
    ("kb search x", 1),
    ("kb digest x.md", 1),
    ("kb digest --resume x.md", 2),
    ("kb sediment nobody", 1),
    ("skills list --workspace /no/such/folder", 1),
    ("ask", 2),
    ("ask x --kb /no/such/folder", 1),
    ("ask x --provider nobody", 1),
    ("ask x --allow nothing", 1),
    ("ask x --skill nobody", 1),
    ("extract nobody", 1),
    ("extract", 1),
    ("conversation export nobody", 1),
    ("conversation list --limit x", 2),
    ("mcp --print-config emacs", 2),
    ("mcp-servers import /no/such/file", 1),
    ("mcp-servers test nobody", 1),
    ("mcp-servers remove nobody", 1),
    ("samples load --language fr", 2),
    ("backup /no/such/folder/copy.db", 1),
    ("export /no/such/folder/library.zip", 1),
    ("import notes --project nowhere", 1),
    ("import", 2),
    ("restore /no/such/file", 1),
    ("doctor --mend all", 2),
]


def test_refusals_are_listed_for_every_command_that_can_refuse() -> None:
    never = {"knowledge stats", "kb list", "provider list", "mcp-servers list", "samples remove", "completion"}
    listed = {act for act in ACTS for words, _ in REFUSED if words == act or words.startswith(f"{act} ")}
    assert ACTS.keys() - listed == never & ACTS.keys()


@pytest.mark.parametrize("words,code", REFUSED[1:])
def test_a_refusal_is_one_line_or_one_object_and_an_exit_code(run: Home, words: str, code: int) -> None:
    said = run(*words.split())
    assert (said.code, said.out, said.err.count("\n")) == (code, "", 1)
    assert said.err.startswith("devflow: ")
    told = run(*words.split(), "--json")
    assert (told.code, told.out) == (code, "")
    error = json.loads(told.err)["error"]
    assert error.keys() == {"code", "message", "hint"}
    assert (error["code"] == "usage") == (code == 2)
    assert error["hint"]


def _rows() -> dict[str, set[str]]:
    """Of the documentation's table: each command with the options in its rows."""
    page = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    told: dict[str, set[str]] = {}
    for row in page.partition("\n## Commands\n")[2].partition("\n## ")[0].splitlines():
        if not row.startswith("| `"):
            continue
        command = ""
        for code in re.findall(r"`([^`]+)`", row.replace("\\|", "/").split(" | ")[0]):
            words = code.split()
            named = " ".join(words[:2])
            act = next((name for name in (named, f"{command} {words[0]}", words[0]) if name in ACTS), None)
            assert act is not None, code
            command = act.split()[0]
            told.setdefault(act, set()).update(re.findall(r"--[a-z-]+", code))
    return told
