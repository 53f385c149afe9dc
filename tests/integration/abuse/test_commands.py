"""Commands that mean harm (spec 03, Tools): what was not shown does not run, and nothing outlives its call."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from devflow.agent.turns import Decision
from devflow.app.paths import app_paths
from devflow.domain.conversation import Conversation
from devflow.domain.events import CallOutput
from devflow.domain.knowledge import Status, draft
from devflow.domain.run import CallState, Run, RunState, ToolCall
from devflow.knowledge.service import Actor
from devflow.tools.policy import Effect, Rule
from devflow.tools.rules import add_rule
from tests.fakes.openai_server import Call, OpenAIServer, Turn
from tests.integration.abuse.conftest import Bench, Processes
from tests.support.commands import ROOT, devflow, finished, start
from tests.support.processes import gone, marked, new_mark

ALLOW = Decision(True)


def command(*words: str, **arguments: Any) -> Call:
    return Call("run_command", {"command": list(words), **arguments})


def shell(line: str, **arguments: Any) -> Call:
    return Call("run_command", {"shell": line, **arguments})


async def asks(bench: Bench, call: Call, *later: str) -> tuple[Conversation, Run, ToolCall]:
    """The model asks for the call in a new conversation; where it stands then."""
    assert isinstance(bench.server, OpenAIServer)
    bench.server.script(Turn(calls=[call]), *later)
    conversation = await bench.conversation(project=True)
    run = await bench.ask(conversation, "Go.")
    return conversation, run, (await bench.calls(conversation))[-1]


async def allowed(bench: Bench, call: Call) -> ToolCall:
    """The same, and a human says yes; the call when the run is over."""
    conversation, run, asked = await asks(bench, call, "Done.")
    assert asked.state is CallState.AWAITING, asked.error
    await bench.core.turns.decide(asked.id, ALLOW)
    await bench.core.turns.wait(run.id)
    return (await bench.calls(conversation))[-1]


async def begun(bench: Bench, call: Call) -> tuple[Conversation, Run]:
    """Allowed, and it has printed something."""
    conversation, run, asked = await asks(bench, call)
    await bench.core.turns.decide(asked.id, ALLOW)
    await bench.event(CallOutput, call_id=asked.id)
    return conversation, run


async def always_allow(bench: Bench, pattern: str) -> None:
    await add_rule(bench.core.settings, Rule(Effect.ALLOW, "run_command", str(bench.workspace), pattern))


@pytest.fixture
def precious(bench: Bench) -> Path:
    """A file of the project that `rm x` would delete."""
    subprocess.run(["git", "init", "-q", str(bench.workspace)], check=True)
    path = bench.workspace / "x"
    path.write_text("precious\n")
    return path


def is_precious(path: Path) -> bool:
    return path.read_text(encoding="utf-8") == "precious\n"


@pytest.mark.parametrize("pattern", ["git status", "git status *"])
@pytest.mark.parametrize(
    "call",
    [
        shell("git status; rm x"),
        shell("git status"),
        shell("git status $(rm x)"),
        shell("git status\nrm x"),
        command("git", "status;", "rm", "x"),
        command("git", "status; rm x"),
        command("git status; rm x"),
        command("git", "-c", "core.fsmonitor=rm x", "status"),
        command("git", "-c", "alias.status=!rm x", "status"),
        command("sh", "-c", "git status; rm x"),
        command("env", "git", "status"),
        command("rm", "x"),
    ],
    ids=lambda call: str(next(iter(call.arguments.values()))),
)
async def test_always_allow_git_status_allows_nothing_that_only_begins_like_it(
    bench: Bench, precious: Path, pattern: str, call: Call
) -> None:
    await always_allow(bench, pattern)
    _, _, asked = await asks(bench, call, "Done.")
    assert asked.state in (CallState.AWAITING, CallState.FAILED)  # FAILED: there is no program of that name
    assert is_precious(precious)


async def test_always_allow_git_status_does_allow_git_status(bench: Bench, precious: Path) -> None:
    await always_allow(bench, "git status *")
    for words in (["git", "status"], ["git", "status", "--short"], ["git", "status", "; rm x", "$(rm x)"]):
        _, run, call = await asks(bench, command(*words), "Done.")
        assert (run.state, call.state, call.decided_by) == (RunState.COMPLETED, CallState.DONE, None)
    assert is_precious(precious)


async def test_what_a_shell_would_expand_reaches_the_program_as_it_stands(bench: Bench, precious: Path) -> None:
    call = await allowed(bench, command("echo", "$(rm x)", "`rm x`", "; rm x", "&& rm x", "${HOME}"))
    assert call.result.endswith("$(rm x) `rm x` ; rm x && rm x ${HOME}")
    assert is_precious(precious)


@pytest.mark.parametrize(
    "line",
    [
        "sleep {mark} & echo on",
        "nohup sleep {mark} >/dev/null 2>&1 & echo on",
        "setsid sleep {mark} & echo on",
        "(setsid sh -c 'sleep {mark} & sleep {mark} &' &) ; echo on",
        "env -i setsid sh -c '(sleep {mark} &)' </dev/null >/dev/null 2>&1 ; echo on",
        "trap '' TERM HUP; (trap '' TERM HUP; sleep {mark}; sleep {mark}) & echo on",
    ],
)
async def test_a_child_does_not_outlive_its_command(bench: Bench, line: str) -> None:
    mark = new_mark()
    call = await allowed(bench, shell(line.format(mark=mark)))
    assert call.state is CallState.DONE
    assert "Exit code 0" in call.result
    assert "had left" in call.result
    assert call.result.endswith("on")
    assert marked(mark) == []


async def test_a_daemon_by_double_fork_does_not_outlive_its_command(bench: Bench) -> None:
    mark = new_mark()
    program = (
        "import os, sys\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    if os.fork() == 0:\n"
        "        os.closerange(0, 64)\n"
        f"        os.execvpe('sleep', ['sleep', '{mark}'], {{'PATH': os.environ['PATH']}})\n"
        "    os._exit(0)\n"
        "os.wait()\n"
    )
    call = await allowed(bench, command(sys.executable, "-c", program))
    assert "It had left 1 running, which was ended." in call.result
    assert marked(mark) == []


async def test_a_background_child_that_holds_the_output_open_does_not_hold_up_the_run(bench: Bench) -> None:
    began = time.monotonic()
    call = await allowed(bench, shell(f"sleep {new_mark()} & echo on"))
    assert call.state is CallState.DONE
    assert time.monotonic() - began < 5


async def test_endless_output_is_ended_in_time_and_held_within_bounds(bench: Bench) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    cpu = time.process_time()
    call = await allowed(bench, command("yes", timeout=2))
    assert (call.state, call.error) == (CallState.FAILED, "It was not done after 2 s and was ended.")
    assert "bytes with" in call.result
    assert len(call.result) < 40_000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000  # KiB
    assert time.process_time() - cpu < 1.5
    outputs = bench.of(CallOutput)
    assert 1 <= len(outputs) <= 25
    assert all(len(output.text) <= 4_000 for output in outputs)


async def test_one_huge_line_is_cut_and_its_length_said(bench: Bench) -> None:
    call = await allowed(bench, shell("head -c 5000000 /dev/zero | tr '\\0' x"))
    assert "[4,970,000 bytes with 0 line ends are left out here]" in call.result
    assert len(call.result) < 40_000


@pytest.mark.parametrize("hides", ["trap '' TERM INT HUP", "trap 'echo no' TERM"])
async def test_a_child_that_ignores_term_is_killed(bench: Bench, hides: str) -> None:
    mark = new_mark()
    line = f"{hides}; echo on; while :; do sleep {mark}; done"
    call = await allowed(bench, shell(line, timeout=1))
    assert (call.state, call.error) == (CallState.FAILED, "It was not done after 1 s and was ended.")
    assert marked(mark) == []


async def test_a_hundred_children_are_all_ended(bench: Bench) -> None:
    mark = new_mark()
    call = await allowed(bench, shell(f"for n in $(seq 100); do setsid sleep {mark} & done; echo on"))
    assert "It had left 100 running, which were ended." in call.result
    assert marked(mark) == []


async def test_a_command_that_kills_its_keeper_is_ended_and_never_said_to_have_succeeded(bench: Bench) -> None:
    mark = new_mark()
    call = await allowed(bench, shell(f"echo on; kill -9 $PPID; sleep {mark}"))
    assert (call.state, call.error) == (CallState.FAILED, "It is not known how it ended.")
    assert marked(mark) == []


async def test_a_command_that_stops_its_keeper_is_ended_in_its_time_all_the_same(bench: Bench) -> None:
    mark = new_mark()
    began = time.monotonic()
    call = await allowed(bench, shell(f"echo on; kill -STOP $PPID; sleep {mark}", timeout=1))
    assert (call.state, call.error) == (CallState.FAILED, "It was not done after 1 s and was ended.")
    assert marked(mark) == []
    assert time.monotonic() - began < 6


async def test_a_child_that_stops_the_keeper_after_its_command_is_ended_too(bench: Bench) -> None:
    mark = new_mark()
    call = await allowed(bench, shell(f"(sleep 0.1; kill -STOP $PPID; sleep {mark}) & echo on"))
    assert call.state is CallState.DONE
    assert "It had left" in call.result
    assert marked(mark) == []


async def test_what_runs_away_by_forking_is_ended_or_said_to_be_left(bench: Bench) -> None:
    mark = new_mark()
    program = (
        "import os, sys, time\n"
        "until = time.monotonic() + 6\n"  # it ends by itself, whatever happens to the test
        "if os.fork():\n"
        "    os._exit(0)\n"
        "while time.monotonic() < until:\n"
        "    os.setsid()\n"
        "    if os.fork():\n"
        "        os._exit(0)\n"
    )
    call = await allowed(bench, command(sys.executable, "-c", program, mark))
    left = marked(mark)
    said = "could not be ended" in call.result
    assert said or left == [], call.result
    assert (call.state is CallState.FAILED) is said
    for pid in left:
        assert gone(pid, within=10)


async def test_the_environment_holds_no_key_and_nothing_of_devflows(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    secrets = {
        name: f"secret-{place}"
        for place, name in enumerate(
            (
                "OPENAI_API_KEY",
                "ANTHROPIC_API_KEY",
                "DASHSCOPE_API_KEY",
                "GITHUB_TOKEN",
                "AWS_SECRET_ACCESS_KEY",
                "DEVFLOW_HOME",
                "SSH_AUTH_SOCK",
                "HTTPS_PROXY",
                "LC_API_KEY",
                "PGPASSWORD",
                "PYTHONPATH",
                "LD_PRELOAD_X",
                "DBUS_SESSION_BUS_ADDRESS",
            )
        )
    }
    for name, value in secrets.items():
        monkeypatch.setenv(name, value)
    call = await allowed(bench, command("env"))
    assert "DEVFLOW_AGENT_CHILD=1" in call.result
    assert "TERM=dumb" in call.result
    for name, value in secrets.items():
        assert name not in call.result
        assert value not in call.result
    # Nor does its parent, which it may read, have them.
    parent = await allowed(bench, shell("tr '\\0' '\\n' < /proc/$PPID/environ"))
    assert "DEVFLOW_AGENT_CHILD=1" in parent.result
    assert not any(value in parent.result for value in secrets.values())


async def test_no_descriptor_of_devflow_is_open_in_a_command(bench: Bench) -> None:
    call = await allowed(bench, command("ls", "-l", "/proc/self/fd"))
    lines = [line for line in call.result.splitlines() if "->" in line]
    assert [line.split()[-3] for line in lines] == ["0", "1", "2", "3"]
    assert "/dev/null" in lines[0]
    assert lines[3].split()[-1].startswith("/proc/")  # the folder that ls reads


async def test_a_program_that_reads_input_or_the_terminal_does_not_hang(bench: Bench) -> None:
    reader = "import sys; print('input:', sys.stdin.read()); open('/dev/tty')"
    call = await allowed(bench, command(sys.executable, "-c", reader, timeout=20))
    assert "input:" in call.result
    assert "No such device or address: '/dev/tty'" in call.result


@pytest.mark.parametrize("folder", ["..", "../outside", "/", "{outside}", "link", "link/deep", ".git", "a\x00b"])
async def test_a_folder_outside_is_refused_before_anybody_is_asked(bench: Bench, outside: Path, folder: str) -> None:
    (bench.workspace / "link").symlink_to(outside)
    (bench.workspace / ".git").mkdir()
    call = command("touch", "made", folder=folder.format(outside=outside))
    _, run, asked = await asks(bench, call, "Done.")
    assert (run.state, asked.state) == (RunState.COMPLETED, CallState.FAILED)


async def test_a_folder_that_became_a_link_after_the_card_is_refused(bench: Bench, outside: Path) -> None:
    (bench.workspace / "sub").mkdir()
    conversation, run, asked = await asks(bench, command("touch", "made", folder="sub"), "Done.")
    (bench.workspace / "sub").rmdir()
    (bench.workspace / "sub").symlink_to(outside)
    await bench.core.turns.decide(asked.id, ALLOW)
    await bench.core.turns.wait(run.id)
    (call,) = await bench.calls(conversation)
    assert call.state is CallState.FAILED
    assert "links are not followed" in call.error


async def test_the_agent_cannot_publish_by_the_command_line(bench: Bench, home: Path) -> None:
    made = await bench.core.knowledge.knowledge_create(
        draft(kind="pitfall", title="Mine", content="Trust me."), actor=Actor.user()
    )
    entry = made.entries[0]
    words = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r}); from devflow.cli import main; "]
    words[-1] += f"sys.exit(main(['--home', {str(app_paths(home).home)!r}, 'knowledge', 'approve', {entry.id!r}]))"
    call = await allowed(bench, command(*words))
    assert "Exit code 0" not in call.result
    assert "human" in call.result.casefold() or "agent" in call.result.casefold()
    assert (await bench.core.knowledge.knowledge_get(entry.id)).status is not Status.PUBLISHED


# stopping ---------------------------------------------------------------------------------------------------------


async def test_stop_ends_the_command_with_all_its_children_and_settles_the_call(
    bench: Bench, server: OpenAIServer
) -> None:
    mark = new_mark()
    conversation, run = await begun(bench, shell(f"setsid sleep {mark} & echo on; sleep {mark}"))
    at = time.monotonic()
    stopped = await bench.core.turns.cancel(run.id)
    assert time.monotonic() - at < 0.1 + 0.5
    assert stopped.state is RunState.CANCELLED
    assert marked(mark) == []
    (call,) = await bench.calls(conversation)
    assert call.state is CallState.CANCELLED
    assert "was stopped after" in call.result
    assert call.result.endswith("on")
    # The model is told what is known, not that nothing ran.
    server.script("I see.")
    await bench.ask(conversation, "And?")
    told = server.requests[-1].tool_results[-1]
    assert "What it did until then stands." in told
    assert "was stopped after" in told


async def test_closing_devflow_ends_its_commands(bench: Bench, processes: Processes) -> None:
    mark = new_mark()
    conversation, _ = await begun(bench, shell(f"trap '' TERM; echo on; sleep {mark}; sleep {mark}"))
    at = time.monotonic()
    await processes.stop(bench)
    assert time.monotonic() - at < 2
    assert marked(mark) == []
    again = await processes.start(background=True)
    (call,) = await again.calls(conversation)
    assert call.state in (CallState.CANCELLED, CallState.INTERRUPTED)
    assert await again.states(conversation) == [RunState.INTERRUPTED]


_KILLED = """
import asyncio, contextlib, os, sys
from pathlib import Path
from devflow.tools.command import Command
from devflow.tools.command_environ import command_environ
from devflow.tools.confined import Folder
from devflow.tools.process import run_process

@contextlib.contextmanager
def folder():
    yield Folder(Path("/"), os.open("/", os.O_RDONLY))

line = "setsid sleep {mark} & sleep {mark} & echo on; sleep {mark}"
command = Command("/bin/sh", ("sh", "-c", line), command_environ(os.environ), 600)
asyncio.run(run_process(command, folder, lambda text: print(text, flush=True)))
"""


def test_a_killed_devflow_takes_its_commands_along() -> None:
    mark = new_mark()
    process = subprocess.Popen(
        [sys.executable, "-c", _KILLED.replace("{mark}", mark)], cwd=ROOT, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    with process.stdout as output:
        assert output.readline() == b"on\n"
        left = [pid for pid in marked(mark) if pid != process.pid]
        assert len(left) >= 3
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    assert all(gone(pid, within=5) for pid in left)


async def test_many_commands_at_once_and_stopped_at_once_leave_nothing(bench: Bench) -> None:
    mark = new_mark()
    marks = [await begun(bench, shell(f"echo on; sleep {mark}")) for _ in range(5)]
    await asyncio.gather(*(bench.core.turns.cancel(run.id) for _, run in marks))
    assert marked(mark) == []


# without a window ---------------------------------------------------------------------------------------------------


async def test_an_ask_prints_the_answer_and_nothing_of_its_commands(
    bench: Bench, server: OpenAIServer, home: Path
) -> None:
    server.script(Turn(calls=[shell("echo from the command; echo error >&2; sleep 0.3")]), "Done.")
    words = ("ask", "Go.", "--allow", "run_command", "--workspace", str(bench.workspace))
    asked = await asyncio.to_thread(devflow, home, *words)
    assert (asked.code, asked.out) == (0, "Done.\n")
    assert "from the command" not in asked.err
    assert "from the command\nerror" in server.requests[1].tool_results[0]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
async def test_an_ask_that_is_ended_takes_its_command_along(
    bench: Bench, server: OpenAIServer, home: Path, number: signal.Signals
) -> None:
    mark, pipe = new_mark(), bench.workspace / "pipe"
    os.mkfifo(pipe)
    server.script(Turn(calls=[shell(f"setsid sleep {mark} & echo on > pipe; sleep {mark}")]))
    asked = start(home, "ask", "Go.", "--allow", "run_command", "--workspace", str(bench.workspace))
    assert await asyncio.to_thread(pipe.read_text) == "on\n"
    left = marked(mark)
    assert len(left) >= 2
    asked.send_signal(number)
    await asyncio.to_thread(finished, asked)
    assert all(gone(pid, within=5) for pid in left)
    await bench.core.turns.recover()
    (kept,) = await bench.core.conversations.list()
    (call,) = await bench.calls(kept)
    assert call.state is (CallState.CANCELLED if number == signal.SIGINT else CallState.INTERRUPTED)
