"""The conformance of the adapters, printed: every fixture however its bytes come, and every form of every address.

python -m tests.conformance                      the tables; exit code 1 if anything is wrong
python -m tests.conformance streams anthropic    the fixtures of one protocol
python -m tests.conformance addresses
python -m tests.conformance quits 500            so many quits in mid-stream
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from pathlib import Path

from tests.conformance.addresses import ENDPOINTS, cases
from tests.conformance.fixture import PROTOCOLS, fixtures
from tests.conformance.quits import Quits
from tests.conformance.replay import at_every_byte, whole, with_crlf
from tests.conformance.stops import measured

MODES = (("whole", whole), ("every byte", at_every_byte), ("crlf", with_crlf))


async def streams(protocols: list[str], name: str) -> int:
    """Print fixture × how it came → outcome; returns how many are wrong."""
    began = time.monotonic()
    wrong: list[str] = []
    chosen = [fixture for fixture in fixtures(*protocols) if name in str(fixture)]
    widest = max(len(str(fixture)) for fixture in chosen)
    print(f"{'fixture':{widest}}  " + "  ".join(f"{mode:10}" for mode, _ in MODES) + "  outcome")
    for fixture in chosen:
        cells = []
        for mode, replay in MODES:
            trouble = await replay(fixture)
            cells.append(f"{'WRONG' if trouble else 'right':10}")
            if trouble:
                wrong.append(f"{fixture} {mode}: {trouble}")
        print(f"{fixture!s:{widest}}  " + "  ".join(cells) + f"  {fixture.outcome}", flush=True)
    for line in wrong:
        print(line)
    print(f"{len(chosen)} fixtures × {len(MODES)}: {len(wrong)} wrong, {time.monotonic() - began:.0f} s")
    return len(wrong)


def addresses() -> int:
    """Print every form of every preset's address with its endpoint; returns how many are wrong."""
    wrong, server = 0, ("", "")
    for case in cases():
        if (case.preset, case.adapter) != server:
            server = case.preset, case.adapter
            print(f"{case.preset} ({case.adapter}): POST {ENDPOINTS[server]}")
        right = case.found == case.expected
        wrong += not right
        shown = "as above" if case.found == ENDPOINTS[server] else case.found
        verdict = "right" if right else f"WRONG, not {case.expected}"
        print(f"  {case.form:24}  {case.typed!r:72}  {shown:58}  {verdict}")
    print(f"{len(cases())} addresses: {wrong} wrong")
    return wrong


async def stops(count: int) -> int:
    """Stop so many streams of each protocol; returns how many protocols have a median of 100 ms or more."""
    wrong = 0
    for protocol in PROTOCOLS:
        ended, closed = await measured(protocol, count)
        for what, times in (("stream ended", ended), ("connection closed at the server", closed)):
            median, slowest = statistics.median(times) * 1000, max(times) * 1000
            print(f"{protocol:10} {count} stops: {what:31}  median {median:6.1f} ms, slowest {slowest:6.1f} ms")
        wrong += statistics.median(closed) >= 0.1
    return wrong


async def quits(count: int) -> int:
    """Quit in mid-stream so many times, in a folder of its own; returns how often something was left."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        loop = Quits(Path(folder) / "home", Path(folder) / "project", report=lambda line: print(line, flush=True))
        await loop.run(count)
    for line in loop.left:
        print(line)
    print(
        f"{loop.done} quits in mid-stream in {time.monotonic() - began:.0f} s, the slowest in"
        f" {loop.slowest * 1000:.0f} ms: {len(loop.left)} left a task, thread, socket, descriptor or process"
    )
    return len(loop.left)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.conformance")
    parser.add_argument("what", nargs="?", choices=["all", "streams", "addresses", "stops", "quits"], default="all")
    parser.add_argument("which", nargs="?", default="", help="a protocol, part of a name, or how many")
    args = parser.parse_args()
    wrong = 0
    if args.what in ("all", "streams"):
        protocols = [args.which] if args.which in PROTOCOLS else []
        wrong += asyncio.run(streams(protocols, "" if protocols else args.which))
    if args.what in ("all", "addresses"):
        wrong += addresses()
    if args.what == "stops":
        wrong += asyncio.run(stops(int(args.which or 50)))
    if args.what == "quits":
        wrong += asyncio.run(quits(int(args.which or 50)))
    return 1 if wrong else 0


sys.exit(main())
