"""Quitting in mid-stream, over and over: a whole core is opened, a model answers, and everything is closed under it.

Each quit falls on the next of these moments: while the server is silent after its first words; in the middle of a fast
answer; before the answer begins; just after the user stopped it; with three answers at once; while a command runs.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from devflow.agent.turns import Decision
from devflow.app.core import Core, close_core, open_core
from devflow.app.paths import app_paths
from devflow.domain.events import CallOutput, CallsChanged, Event, TextArrived
from devflow.domain.provider import ProviderDraft
from devflow.domain.run import Run, RunState
from tests.conformance.traces import Traces, traces
from tests.fakes.openai_server import Call, Gate, OpenAIServer, Turn
from tests.support.processes import marked, new_mark

E = TypeVar("E", CallOutput, CallsChanged, TextArrived)
MOMENTS = ("silence", "fast", "before", "stopped", "three", "command")
_WAIT = 20.0  # seconds for what must come true
_LEFT = 5.0  # seconds for the other side to notice


@dataclass
class Quits:
    """`home` and `workspace` are the loop's own folders; `report` is told of every fiftieth quit."""

    home: Path
    workspace: Path
    report: Callable[[str], None] = lambda line: None
    done: int = 0
    slowest: float = 0.0
    left: list[str] = field(default_factory=list)
    """What was found where nothing should be."""

    async def run(self, count: int) -> None:
        self.workspace.mkdir(parents=True, exist_ok=True)
        with OpenAIServer() as server:
            await self._prepare(server)
            before = traces(server.port)
            for number in range(count):
                await self._quit(server, MOMENTS[number % len(MOMENTS)], before)
                self.done += 1
                if self.done % 50 == 0:
                    took = f"the slowest in {self.slowest * 1000:.0f} ms"
                    self.report(f"{self.done} quits, {took}; left: {self.left or 'nothing'}")
            await self._ask_to_the_end(server)

    async def _prepare(self, server: OpenAIServer) -> None:
        """The model is set up; a first answer loads what is loaded once."""
        core = await open_core(app_paths(self.home), background=True)
        try:
            await core.models.add(ProviderDraft("Scripted", server.base_url, models=("scripted",)))
        finally:
            await close_core(core)
        await self._ask_to_the_end(server)
        await _until(lambda: not server.connected_now, "the server has let go")

    async def _ask_to_the_end(self, server: OpenAIServer) -> None:
        core = await open_core(app_paths(self.home), background=True)
        try:
            server.script("All is well.")
            conversation = await core.conversations.create()
            run = await core.turns.send(conversation.id, "Is all well?")
            ended = await asyncio.wait_for(core.turns.wait(run.id), _WAIT)
            assert ended.state is RunState.COMPLETED, ended
        finally:
            await close_core(core)

    async def _quit(self, server: OpenAIServer, moment: str, before: Traces) -> None:
        core = await open_core(app_paths(self.home), background=True)
        mark = new_mark()
        try:
            reach = getattr(self, f"_reach_{moment}")
            await asyncio.wait_for(reach(core, server, mark), _WAIT)
        finally:
            began = time.monotonic()
            await close_core(core)
            self.slowest = max(self.slowest, time.monotonic() - began)
        self._look(moment, before, traces(server.port), mark)
        await _until(lambda: not server.connected_now, "the server has noticed every quit")
        with contextlib.suppress(AssertionError):  # a thread that is ending closes its own a moment later; told below
            await _until(lambda: traces(server.port).descriptors <= before.descriptors, "every descriptor is closed")
        after = traces(server.port)
        if after.descriptors > before.descriptors:
            self.left.append(f"{moment}: {after.descriptors - before.descriptors} descriptors more")

    def _look(self, moment: str, before: Traces, after: Traces, mark: str) -> None:
        """At once after the quit: no task, no thread, no connection, no process."""
        now = replace(after, descriptors=before.descriptors)  # the server's ends may still be open
        if now != before:
            self.left.append(f"{moment}: {now} instead of {before}")
        if pids := marked(mark):
            self.left.append(f"{moment}: processes {pids}")

    # the moments ---------------------------------------------------------------------------------------------------

    async def _reach_silence(self, core: Core, server: OpenAIServer, mark: str) -> None:
        server.script(Turn(["First words ", Gate()]))
        await _words(core, await self._send(core))

    async def _reach_fast(self, core: Core, server: OpenAIServer, mark: str) -> None:
        server.script(Turn(["word "] * 2_000))
        await _words(core, await self._send(core), many=5)

    async def _reach_before(self, core: Core, server: OpenAIServer, mark: str) -> None:
        gate = Gate()
        server.script(Turn("Never said.", before=gate))
        await self._send(core)
        await asyncio.to_thread(gate.wait_reached, _WAIT)

    async def _reach_stopped(self, core: Core, server: OpenAIServer, mark: str) -> None:
        server.script(Turn(["First words ", Gate()]))
        run = await self._send(core)
        await _words(core, run)
        stops = [asyncio.create_task(core.turns.cancel(run.id)) for _ in range(2)]
        await asyncio.wait(stops, timeout=0)
        for stop in stops:  # as the window ends its tasks before the core is closed
            stop.cancel()
        await asyncio.gather(*stops, return_exceptions=True)

    async def _reach_three(self, core: Core, server: OpenAIServer, mark: str) -> None:
        server.script(*[Turn(["First words ", Gate()]) for _ in range(3)])
        runs = [await self._send(core) for _ in range(3)]
        await asyncio.gather(*(_words(core, run) for run in runs))

    async def _reach_command(self, core: Core, server: OpenAIServer, mark: str) -> None:
        script = f"import time; print('ready', flush=True); time.sleep({mark})"
        server.script(Turn(calls=[Call("run_command", {"command": [sys.executable, "-c", script]})]))
        project = await core.projects.ensure(self.workspace)
        asked = _first(core, CallsChanged)
        run = await self._send(core, project.id)
        message = (await asked).message_id
        await core.turns.wait(run.id)
        (call,) = (await core.conversations.calls([message]))[message]
        printed = _first(core, CallOutput)
        await core.turns.decide(call.id, Decision(True))
        await printed

    async def _send(self, core: Core, project_id: str | None = None) -> Run:
        conversation = await core.conversations.create(project_id=project_id)
        return await core.turns.send(conversation.id, "Go on.")


def _first(core: Core, kind: type[E], run: Run | None = None, *, many: int = 1) -> asyncio.Future[E]:
    """The `many`th event of a kind (of one run) from now on."""
    future: asyncio.Future[E] = asyncio.get_running_loop().create_future()
    seen = 0

    def hear(event: Event) -> None:
        nonlocal seen
        if isinstance(event, kind) and (run is None or event.run_id == run.id):
            seen += 1
            if seen == many and not future.done():
                future.set_result(event)

    core.hub.subscribe(hear)
    return future


async def _words(core: Core, run: Run, *, many: int = 1) -> None:
    await _first(core, TextArrived, run, many=many)


async def _until(condition: Callable[[], object], what: str) -> None:
    loop = asyncio.get_running_loop()
    end = loop.time() + _LEFT
    while not condition():
        if loop.time() > end:
            raise AssertionError(f"not within {_LEFT} s: {what}")
        await asyncio.sleep(0.002)
