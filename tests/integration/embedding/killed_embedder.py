"""`python -m tests.integration.embedding.killed_embedder HOME`: a whole core that makes vectors until it is killed."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from devflow.app.core import opened
from devflow.app.paths import app_paths


async def main() -> None:
    async with opened(app_paths(Path(sys.argv[1])), background=True):
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
