"""Commands: the card of one, what it prints while it runs, and the card of a shell line."""

import asyncio
from pathlib import Path

from devflow.ui.pages.chat.tool_line import LiveOutput
from tests.fakes.openai_server import Call, OpenAIServer, Turn
from tests.shots.chat import _page, _until
from tests.shots.stage import Stage

_TESTS = """#!/bin/sh
echo "collected 9 items"
for name in reads writes waits_for_the_lock commits rolls_back two_processes survives_a_kill; do
    echo "store/test_engine.py::test_$name PASSED"
done
while [ ! -e .done ]; do sleep 0.05; done
"""


async def chat_command(stage: Stage) -> None:
    """The model wants to run the project's tests."""
    await _ask(
        stage, Call("run_command", {"command": ["./check", "store/test_engine.py", "--verbose", "-k", "not slow"]})
    )


async def chat_command_running(stage: Stage) -> None:
    """Allowed: what it prints is shown below its line."""
    page = await _page(stage)
    card = page.transcript.card()
    assert card is not None
    card.foot.approve.click()
    await _until(lambda: any(each.isVisible() and "kill" in each.text for each in page.findChildren(LiveOutput)))
    await asyncio.sleep(0.3)


async def chat_shell(stage: Stage) -> None:
    """The next call is a shell line, and says so."""
    page = await _page(stage)
    page.acts.stop()
    await _until(lambda: not page.session.turns[-1].open_run)
    await _ask(
        stage,
        Call(
            "run_command",
            {"shell": 'grep -rn "engine.begin()" store | cut -d: -f1 | sort | uniq -c > callers.txt', "timeout": 20},
        ),
    )


async def _ask(stage: Stage, call: Call) -> None:
    page = await _page(stage)
    page.acts.set_queued("")
    await _until(lambda: not page.session.turns or not page.session.turns[-1].open_run)
    assert isinstance(stage.model_server, OpenAIServer)
    project = page.session.project
    assert project is not None
    await asyncio.to_thread(_write_tests, Path(project.path))
    text = stage.say("I will run the tests of the store first.", "先运行 store 的测试。")
    if "shell" in call.arguments:
        text = stage.say("Then I count the callers that are left.", "再统计剩下的调用方。")
    stage.model_server.script(Turn(text, calls=[call]))
    before = len(page.session.turns)
    page.acts.send(stage.say("Check that nothing broke.", "确认没有弄坏什么。"))
    await _until(lambda: len(page.session.turns) > before and page.transcript.card() is not None)
    await stage.settled()
    stage.window.setFocus()


def _write_tests(folder: Path) -> None:
    script = folder / "check"
    script.write_text(_TESTS, encoding="utf-8")
    script.chmod(0o755)
