"""The vectors of queries: within a time limit, kept for the next keystroke, and never in the way of a search."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable

from devflow.domain.errors import UserFacing
from devflow.domain.messages import N_
from devflow.knowledge.embedding_state import EmbeddingModel, Vector
from devflow.knowledge.scales import Scales

log = logging.getLogger(__name__)

CHARS = 800
"""So much of a query is embedded: a pasted log would take a model seconds."""
PATIENCE_S = 1.0
"""A search waits so long for its query's vector (spec 01, Hybrid)."""
DEAF_S = 10.0
"""After one that failed, searches go by keywords at once for so long."""
KEPT = 64


class QueryVectors:
    """`unheard`: why the last query got none. `told` is called whenever that changes."""

    def __init__(self, scales: Scales, told: Callable[[], None]) -> None:
        self._scales = scales
        self._told = told
        self._kept: OrderedDict[tuple[str, str], Vector] = OrderedDict()
        self._deaf_until = 0.0
        self.unheard: UserFacing | None = None

    async def of(self, model: EmbeddingModel, query: str, patience: float) -> Vector | None:
        """None where the model does not answer in time, or not as it should."""
        text = query[:CHARS]
        if (known := self._kept.get((model.key, text))) is not None:
            self._kept.move_to_end((model.key, text))
            return known
        if asyncio.get_running_loop().time() < self._deaf_until:
            return None
        try:
            vector = await asyncio.wait_for(model.query(text), patience)
            await self._scales.check_dimension(model, vector)
        except TimeoutError:
            self._fail(
                UserFacing(
                    N_("{model} did not answer within {seconds} s; the search went by keywords alone."),
                    model=model.name,
                    seconds=f"{patience:g}",
                )
            )
            return None
        except UserFacing as problem:
            self._fail(problem)
            return None
        if self.unheard is not None:
            self.unheard = None
            self._told()
        self._kept[(model.key, text)] = vector
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return vector

    def forget(self) -> None:
        """Something changed: ask again at once."""
        self._kept.clear()
        self._deaf_until = 0.0

    def _fail(self, problem: UserFacing) -> None:
        log.info("a query has no vector: %s", problem)
        self.unheard = problem
        self._deaf_until = asyncio.get_running_loop().time() + DEAF_S
        self._told()
