"""The long form of the reliability tests: hundreds of kills, hours of crowding; it can be broken off and gone on with.

python -m tests.integration.reliability kills --minutes 60 --home /somewhere/home
python -m tests.integration.reliability crowd --minutes 10 --processes 5 --home /somewhere/home
python -m tests.integration.reliability mixed --minutes 1 --home /somewhere/home
python -m tests.integration.reliability killed 300 [--from SEED] [--minutes 4] [--home /somewhere/home]

`mixed` is the window, four MCP servers and a loop of commands.

`killed` tells so many stories of runs whose processes are killed, one line each; what was told already is passed over,
and a story that fails is left in `HOME.killed/SEED`.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from pathlib import Path

from tests.integration.reliability.campaign import Campaign, Lost
from tests.integration.reliability.killed_runs import tell_many
from tests.integration.reliability.mixed import SOON_S, Mixed, mixed_round


async def campaign(args: argparse.Namespace) -> None:
    campaign = Campaign(args.home.absolute(), args.seed)
    await campaign.prepare()
    await campaign.check()
    end = time.monotonic() + args.minutes * 60
    rounds = 0
    while time.monotonic() < end:
        if args.what == "kills":
            await campaign.kill_round()
        elif args.what == "mixed":
            _tell(await mixed_round(campaign, min(60.0, end - time.monotonic()), args.seed + rounds))
        else:
            await campaign.crowd_round(min(60.0, end - time.monotonic()), args.processes)
        rounds += 1
        print(f"round {rounds}: {campaign.kills} kills, {campaign.acts} acts acknowledged, all there", flush=True)


def _tell(mixed: Mixed) -> None:
    counts = ", ".join(f"{who} {count}" for who, count in sorted(mixed.counts.items()))
    slowest = max(mixed.late, default=0.0)
    print(f"acts: {counts}; {len(mixed.late)} proposals heard of by the window, the slowest after {slowest:.2f} s")
    if slowest > SOON_S:
        raise Lost(f"a proposal was heard of after more than {SOON_S} s")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.integration.reliability")
    parser.add_argument("what", choices=["kills", "crowd", "mixed", "killed"])
    parser.add_argument("count", type=int, nargs="?", default=300, help="how many stories `killed` tells")
    parser.add_argument("--from", type=int, default=1, dest="first", metavar="SEED", help="the first story's seed")
    parser.add_argument("--minutes", type=float, help="stop after so many (default 10; `killed`: when all are told)")
    parser.add_argument("--processes", type=int, default=5, help="how many crowd at once")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--home", type=Path, help="made at first; the same again goes on (`killed` has a default)")
    args = parser.parse_args()
    if args.what == "killed":
        folder = args.home or Path(tempfile.gettempdir()) / "devflow-reliability"
        return tell_many(args.first, args.count, folder.absolute(), args.minutes)
    if args.home is None:
        parser.error("--home is missing")
    args.minutes = 10.0 if args.minutes is None else args.minutes
    asyncio.run(campaign(args))
    return 0


raise SystemExit(main())
