"""The long form of the reliability tests: hundreds of kills, hours of crowding; it can be broken off and gone on with.

python -m tests.integration.reliability kills --minutes 60 --home /somewhere/home
python -m tests.integration.reliability crowd --minutes 10 --processes 5 --home /somewhere/home
"""

from __future__ import annotations

import argparse
import asyncio
import time
from pathlib import Path

from tests.integration.reliability.campaign import Campaign


async def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.integration.reliability")
    parser.add_argument("what", choices=["kills", "crowd"])
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--processes", type=int, default=5, help="how many crowd at once")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--home", type=Path, required=True, help="made at first; the same again goes on")
    args = parser.parse_args()
    campaign = Campaign(args.home.absolute(), args.seed)
    await campaign.prepare()
    await campaign.check()
    end = time.monotonic() + args.minutes * 60
    rounds = 0
    while time.monotonic() < end:
        if args.what == "kills":
            await campaign.kill_round()
        else:
            await campaign.crowd_round(min(60.0, end - time.monotonic()), args.processes)
        rounds += 1
        print(f"round {rounds}: {campaign.kills} kills, {campaign.acts} acts acknowledged, all there", flush=True)


asyncio.run(main())
