"""`run_command` as the agent uses it: real programs in a real folder."""

from __future__ import annotations

import asyncio
import itertools
import json
import re
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from devflow.domain.errors import UserFacing
from devflow.domain.run import Risk
from devflow.tools.process_output import HEAD_MAX, TAIL_MAX
from devflow.tools.registry import parse_arguments, tools_for
from devflow.tools.run_command import RunCommand, exit_code_of
from devflow.tools.tool import ToolContext, ToolOutcome, ToolStopped, Voided, needs_approval
from tests.support.processes import marked, new_mark

PYTHON = sys.executable


def given(ctx: ToolContext, **arguments: Any) -> tuple[RunCommand, dict[str, Any]]:
    tool = tools_for(ctx)["run_command"]
    assert isinstance(tool, RunCommand)
    return tool, parse_arguments(tool, json.dumps(arguments))


async def ran(ctx: ToolContext, *words: str, preview: Any = None, **arguments: Any) -> ToolOutcome:
    """Run the words, or `shell=` a line."""
    if words:
        arguments["command"] = list(words)
    tool, parsed = given(ctx, **arguments)
    outcome = await tool.run(parsed, ctx, preview)
    assert isinstance(outcome, ToolOutcome)
    return outcome


async def preview(ctx: ToolContext, **arguments: Any) -> dict[str, Any]:
    tool, parsed = given(ctx, **arguments)
    shown = await tool.preview(parsed, ctx)
    assert shown is not None
    return dict(shown)


async def refusal(ctx: ToolContext, **arguments: Any) -> str:
    """The sentence with which both the card and the run are refused."""
    tool, parsed = given(ctx, **arguments)
    with pytest.raises(UserFacing) as before:
        await tool.preview(parsed, ctx)
    with pytest.raises(UserFacing) as after:
        await tool.run(parsed, ctx)
    assert str(before.value) == str(after.value)
    return str(before.value)


def printed(outcome: ToolOutcome) -> str:
    return outcome.text.partition("\n\n")[2]


async def test_both_streams_come_back_in_order_with_the_exit_code_and_the_time(ctx: ToolContext) -> None:
    outcome = await ran(ctx, shell="echo one; echo two >&2; echo three; exit 3")
    assert re.match(r"Exit code 3 after \d+\.\d s\.\n\none\ntwo\nthree$", outcome.text)
    assert outcome.error == ""
    assert exit_code_of(outcome.text) == 3


async def test_a_command_that_prints_nothing_says_so(ctx: ToolContext) -> None:
    assert (await ran(ctx, "true")).text.endswith("It printed nothing.")


async def test_no_shell_reads_the_words(ctx: ToolContext, root: Path) -> None:
    outcome = await ran(ctx, "echo", "$HOME", "*", "a; touch made", "$(touch made)", "`touch made`", "a|b", ">made")
    assert printed(outcome) == "$HOME * a; touch made $(touch made) `touch made` a|b >made"
    assert not (root / "made").exists()


async def test_a_shell_line_is_read_by_a_shell_and_its_card_says_so(ctx: ToolContext) -> None:
    assert printed(await ran(ctx, shell="printf '%s\\n' a b | wc -l")).strip() == "2"
    shown = await preview(ctx, shell="printf a | wc")
    assert (shown["line"], shown["shell"], shown["program"]) == ("printf a | wc", True, "/bin/sh")
    shown = await preview(ctx, command=["echo", "a | wc"])
    assert (shown["line"], shown["shell"]) == ("echo 'a | wc'", False)


async def test_it_runs_in_the_folder_that_its_card_shows(ctx: ToolContext, root: Path) -> None:
    (root / "sub").mkdir()
    assert printed(await ran(ctx, "pwd")) == str(root)
    assert printed(await ran(ctx, "pwd", folder="sub")) == str(root / "sub")
    assert (await preview(ctx, command=["pwd"], folder="sub"))["folder"] == str(root / "sub")


async def test_it_always_asks_and_names_what_it_would_do(ctx: ToolContext) -> None:
    tool, parsed = given(ctx, command=["git", "status"])
    subject = tool.subject(parsed)
    assert needs_approval(tool, parsed, ctx)
    assert (subject.risk, subject.target, subject.words) == (Risk.RUNS, "git status", ("git", "status"))
    assert subject.rule_allowed
    shell = tool.subject(given(ctx, shell="git status")[1])
    assert (shell.target, shell.words, shell.rule_allowed) == ("git status", (), False)
    assert not tool.subject(given(ctx, command=["bash", "-c", "ls"])[1]).rule_allowed
    assert tool.subject(given(ctx, command=["./build"])[1]).rule_allowed
    elsewhere = given(ctx, command=["./build"], folder="sub")[1]
    assert not tool.subject(elsewhere).rule_allowed  # another program of the same words
    assert not tool.subject(given(ctx, command=["npm", "test"], folder="sub")[1]).rule_allowed  # another package's


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        ({}, "either command"),
        ({"command": ["ls"], "shell": "ls"}, "either command"),
        ({"command": []}, "empty"),
        ({"command": [" "]}, "empty"),
        ({"shell": "  "}, "empty"),
        ({"command": ["no-such-program-here"]}, "There is no program named no-such-program-here here"),
        ({"command": ["./no-such"]}, "no program ./no-such in the folder ."),
        ({"command": ["./app.py"]}, "not executable"),
        ({"command": ["echo", "a\x00b"]}, "NUL"),
        ({"command": ["echo", "\ud800"]}, "surrogate"),
        ({"command": ["echo", *["x"] * 2000]}, "too long"),
        ({"command": ["pwd"], "folder": "none"}, "There is no folder none"),
        ({"command": ["pwd"], "folder": "app.py"}, "app.py is not a folder"),
        ({"command": ["pwd"], "folder": ".git"}, "protected"),
    ],
)
async def test_what_cannot_run_is_refused_with_a_sentence_before_anybody_is_asked(
    ctx: ToolContext, arguments: dict[str, Any], sentence: str
) -> None:
    assert sentence in await refusal(ctx, **arguments)


async def test_a_script_without_its_first_line_is_named_as_the_reason(ctx: ToolContext, root: Path) -> None:
    script = root / "x.sh"
    script.write_text("echo hi\n")
    script.chmod(0o755)
    with pytest.raises(UserFacing, match="no `#!` line"):
        await ran(ctx, "./x.sh")
    script.write_text("#!/no/such/interpreter\n")
    with pytest.raises(UserFacing, match="the interpreter it names"):
        await ran(ctx, "./x.sh")
    script.write_text("#!/bin/sh\necho hi\n")
    assert printed(await ran(ctx, "./x.sh")) == "hi"


async def test_a_relative_place_on_the_path_is_not_searched(
    ctx: ToolContext, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted = root / "git"
    planted.write_text("#!/bin/sh\necho planted\n")
    planted.chmod(0o755)
    monkeypatch.chdir(root)
    monkeypatch.setenv("PATH", ".:/no/such")
    assert "no program named git" in await refusal(ctx, command=["git"])


async def test_another_program_than_the_one_shown_is_shown_again_first(
    ctx: ToolContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        program = tmp_path / name / "greet"
        program.write_text(f"#!/bin/sh\necho {name}\n")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "one"))
    shown = await preview(ctx, command=["greet"])
    assert printed(await ran(ctx, "greet", preview=shown)) == "one"
    monkeypatch.setenv("PATH", str(tmp_path / "two"))
    tool, parsed = given(ctx, command=["greet"])
    voided = await tool.run(parsed, ctx, shown)
    assert isinstance(voided, Voided)
    assert voided.preview["program"] == str(tmp_path / "two" / "greet")


async def test_when_its_time_is_over_it_is_ended_and_what_it_printed_is_kept(ctx: ToolContext) -> None:
    mark = new_mark()
    outcome = await ran(ctx, shell=f"echo begun; sleep {mark}", timeout=1)
    assert outcome.error == "It was not done after 1 s and was ended."
    assert printed(outcome) == "begun"
    assert marked(mark) == []


async def test_it_has_no_input_to_wait_for(ctx: ToolContext) -> None:
    assert printed(await ran(ctx, shell="cat; read x; echo done")) == "done"


async def test_a_signal_is_named(ctx: ToolContext) -> None:
    assert "Ended by the signal SIGSEGV" in (await ran(ctx, shell="kill -SEGV $$")).text


async def test_long_output_keeps_both_ends_and_says_truthfully_what_is_missing(ctx: ToolContext) -> None:
    total = sum(len(f"{number}\n") for number in range(1, 200_001))
    text = printed(await ran(ctx, "seq", "200000"))
    head, marker, tail = re.split(r"\n\[([\d,]+ bytes with [\d,]+ line ends are left out here)\]\n", text)
    missing, lines = (int(part.replace(",", "")) for part in re.findall(r"[\d,]+", marker))
    assert head.startswith("1\n2\n3\n")
    assert tail.endswith("199999\n200000")
    assert (len(head), len(tail) + 1) == (HEAD_MAX, TAIL_MAX)
    assert len(head) + missing + len(tail) + 1 == total
    assert head.count("\n") + lines + tail.count("\n") + 1 == 200_000


async def test_colours_go_and_other_control_characters_are_shown(ctx: ToolContext) -> None:
    line = r"printf '\033[1;31mred\033[0m \033]0;title\007x \b \377\376 \342\200\256 a\rb\r\n'"
    assert printed(await ran(ctx, shell=line)) == "red x \\x08 \\xff\\xfe \\u202e a\nb"


async def test_live_output_is_told_ten_times_a_second_at_most_and_ends_with_the_newest(ctx: ToolContext) -> None:
    told: list[tuple[float, str]] = []
    seeing = replace(ctx, progress=lambda text: told.append((time.monotonic(), text)))
    began = time.monotonic()
    program = "import time\nfor n in range(60):\n print('line', n, flush=True)\n time.sleep(0.01)\ntime.sleep(0.15)"
    await ran(seeing, PYTHON, "-c", program)
    assert 3 <= len(told) <= (time.monotonic() - began) * 10 + 1
    assert all(later - earlier > 0.09 for (earlier, _), (later, _) in itertools.pairwise(told))
    assert told[-1][1].endswith("line 59\n")


async def test_live_output_is_bounded(ctx: ToolContext) -> None:
    told: list[str] = []
    await ran(replace(ctx, progress=told.append), shell="yes | head -c 3000000; sleep 0.2")
    assert told
    assert all(len(text) <= 4_000 for text in told)


async def test_stopped_it_is_ended_at_once_and_says_what_is_known(ctx: ToolContext) -> None:
    mark = new_mark()
    began = asyncio.Event()
    seeing = replace(ctx, progress=lambda _: began.set())
    task = asyncio.ensure_future(ran(seeing, shell=f"echo begun; sleep {mark}"))
    await asyncio.wait_for(began.wait(), 10)
    at = time.monotonic()
    task.cancel()
    with pytest.raises(ToolStopped) as stopped:
        await task
    assert time.monotonic() - at < 0.1 + 0.5
    assert marked(mark) == []
    assert "was stopped after" in stopped.value.outcome.text
    assert "begun" in stopped.value.outcome.text
    assert not stopped.value.over


async def test_stopped_before_it_could_begin_it_stays_stopped(ctx: ToolContext) -> None:
    task = asyncio.ensure_future(ran(ctx, "sleep", new_mark()))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
