"""A process that is killed while its model answers: `python -m tests.integration.extraction.victim HOME`."""

import asyncio
import sys
from pathlib import Path

from tests.integration.extraction.bench import Bench, Gate


async def main(home: Path) -> None:
    bench = Bench(home)
    await bench.start()
    gate = Gate()
    bench.answer(gate)
    await bench.ready()
    await gate.arrival()
    print("asking", flush=True)
    await gate.opened.wait()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
