"""A DevFlow process of its own, for tests that kill it. Not part of the product.

    python -m tests.integration.agent.driver HOME COMMAND [ARGUMENT…]

Commands: `ask CONVERSATION TEXT [SKILL]`, `decide CALL allow|deny [REASON]`, `recover`. Each prints one JSON line when
the run stands still, then waits for its standard input to close. Every effect of write_file adds a line to $EFFECTS;
with $HANG_AFTER_EFFECT the process says so and hangs between the effect and its result.
"""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

from devflow.agent.turns import Decision
from devflow.app.core import Core, opened
from devflow.app.paths import app_paths
from devflow.tools.write_file import WriteFile


def count_effects() -> None:
    run = WriteFile.run

    async def counted(self: WriteFile, arguments: Any, ctx: Any, preview: Any = None) -> Any:
        outcome = await run(self, arguments, ctx, preview)
        note_effect(arguments["path"])
        if os.environ.get("HANG_AFTER_EFFECT"):
            say({"effect": arguments["path"]})
            await asyncio.Event().wait()
        return outcome

    WriteFile.run = counted  # type: ignore[method-assign]


def note_effect(path: str) -> None:
    with Path(os.environ["EFFECTS"]).open("a", encoding="utf-8") as log:
        log.write(f"{path}\n")


def say(value: Any) -> None:
    print(json.dumps(value), flush=True)


async def report(core: Core, run_id: str) -> None:
    run = await core.turns.wait(run_id)
    path = await core.conversations.path(run.conversation_id)
    calls = await core.conversations.calls([message.id for message in path.messages])
    say(
        {
            "run": run.id,
            "state": run.state.value,
            "calls": {call.id: call.state.value for each in calls.values() for call in each},
        }
    )


async def main(home: str, command: str, *arguments: str) -> None:
    count_effects()
    async with opened(app_paths(Path(home)), background=True) as core:
        match command, arguments:
            case "ask", (conversation, text, *skill):
                run = await core.turns.send(conversation, text, skill=skill[0] if skill else None)
                await report(core, run.id)
            case "decide", (call_id, word, *reason):
                await core.turns.decide(call_id, Decision(allow=word == "allow", reason=" ".join(reason)))
                call = await core.db.read(lambda session: call_of(session, call_id))
                await report(core, call.run_id)
            case "recover", ():
                say({"ready": True})
            case _:
                raise SystemExit(f"no such command: {command} {arguments}")
        await asyncio.to_thread(sys.stdin.read)


def call_of(session: Any, call_id: str) -> Any:
    from devflow.store import runs

    return runs.call(session, call_id)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
