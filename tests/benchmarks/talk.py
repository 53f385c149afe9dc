"""The Chat page: a long conversation opens, a long answer streams, the window closes in the middle of one."""

from __future__ import annotations

import asyncio
import multiprocessing
from collections.abc import Iterable
from pathlib import Path

from devflow.app.core import opened
from devflow.app.paths import app_paths
from devflow.domain.conversation import ModelChoice
from devflow.domain.provider import ProviderDraft, Roles

from .homes import Homes, Recipe
from .options import Options
from .report import Line, median, percentile
from .start import QUIT_S, start_once

OPEN_MS, LAG_P99_MS, LAG_MAX_MS = 300.0, 33.0, 100.0
RATE = 200
"""Tokens a second."""


def measure_conversation(_homes: Homes, _options: Options) -> Iterable[Line]:
    from .ui_conversation import opened as opened_conversation

    newest, hundred = opened_conversation()
    detail = f"fastest {min(newest):.0f}; the newest hundred after {median(hundred):.0f}"
    yield Line("conversation of 5,000 messages opens", median(newest), "ms", "median", OPEN_MS, detail)


def measure_stream(_homes: Homes, options: Options) -> Iterable[Line]:
    from .ui_streaming import streamed

    characters = 10_000 if options.quick else 100_000
    lag, seconds, whole = streamed(characters, RATE)
    if not whole:
        raise RuntimeError("the text that is shown is not the whole answer")
    late, cpu = lag.late_ms, lag.cpu_ms
    name = f"lag while {characters:,} characters stream"
    detail = f"median {median(late):.1f}, {seconds:.0f} s in all"
    yield Line(name, percentile(late, 0.99), "ms", "p99", LAG_P99_MS, detail, percentile(cpu, 0.99))
    yield Line(name, max(late), "ms", "worst", LAG_MAX_MS, "", max(cpu))


def measure_quit(homes: Homes, options: Options) -> Iterable[Line]:
    """The whole process, its window closed while an answer arrives."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    server = context.Process(target=_serve, args=(theirs, options.repeats + 1), daemon=True)
    server.start()
    home = homes.get(Recipe())
    try:
        asyncio.run(_use(home, ours.recv()))
        quits = [start_once(home, "讲讲存储层？")["quit"] for _ in range(options.repeats + 1)][1:]
    finally:
        ours.send("done")
        server.join(5)
    homes.drop(home)
    yield Line("quit while an answer streams", median(quits), "s", "median", QUIT_S, f"worst {max(quits):.2f}")


def _serve(channel: object, answers: int) -> None:
    from tests.fakes.openai_server import OpenAIServer, Turn

    from .texts import Words

    text = Words().answer(40_000)
    with OpenAIServer(models=["scripted"]) as server:
        server.script(
            *(Turn([text[at : at + 4] for at in range(0, len(text), 4)], pause=1 / RATE) for _ in range(answers))
        )
        channel.send(server.base_url)  # type: ignore[attr-defined]
        channel.recv()  # type: ignore[attr-defined]


async def _use(home: Path, base_url: str) -> None:
    async with opened(app_paths(home)) as core:
        config = await core.models.add(ProviderDraft("Scripted", base_url, models=("scripted",)))
        await core.models.save_roles(Roles(main=ModelChoice(config.id, "scripted")))
