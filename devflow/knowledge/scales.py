"""Each model's scale, measured once and kept; and whether a model still sends the vectors it sent before."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any

from devflow.domain.errors import ProviderFailed
from devflow.domain.messages import N_
from devflow.knowledge import calibration
from devflow.knowledge.calibration import Scale
from devflow.knowledge.embedding_state import EmbeddingModel, Vector
from devflow.knowledge.settings import Settings
from devflow.store import vectors
from devflow.store.database import Database

Ask = Callable[[Coroutine[Any, Any, list[Vector]]], Awaitable[list[Vector]]]
"""Carries out one request; whoever calls decides what may interrupt it."""


class WrongDimension(ProviderFailed):
    code = "wrong_dimension"


class NoScale(ProviderFailed):
    code = "no_scale"


class Scales:
    def __init__(self, db: Database, settings: Settings, resources: Path) -> None:
        self._db = db
        self._settings = settings
        self._resources = resources
        self._known: dict[str, Scale] = {}

    async def of(self, model: EmbeddingModel) -> Scale | None:
        """None until `measure` has been called for the model, by this process or another."""
        if model.key not in self._known:
            stored = (await self._settings.get(calibration.GROUP)).get(model.key)
            scale = calibration.read(stored)
            if scale is None:
                return None
            self._known[model.key] = scale
        return self._known[model.key]

    async def measure(self, model: EmbeddingModel, ask: Ask) -> None:
        """Raises `ProviderFailed`."""
        pairs = calibration.read_pairs(self._resources)
        texts: list[Vector] = []
        for start in range(0, len(pairs.texts), model.batch):
            texts += await ask(model.texts(pairs.texts[start : start + model.batch]))
        queries = [(await ask(_one(model.query(text))))[0] for text in pairs.queries]
        scale = calibration.measured(queries, texts, pairs)
        if scale is None:
            raise NoScale(
                N_("{model} gives texts about different things the same vector."),
                N_("Choose an embedding model in Settings, under Knowledge."),
                retryable=False,
                model=model.name,
            )
        await self._settings.update(calibration.GROUP, **{model.key: calibration.write(scale)})
        self._known[model.key] = scale

    async def check_dimension(self, model: EmbeddingModel, vector: Vector) -> None:
        """A server may have another model under the same name by now; raises `WrongDimension`."""
        stored = await self._db.read(lambda session: vectors.dimension_of(session, model.key))
        if stored is not None and stored != len(vector):
            raise WrongDimension(
                N_("{model} sends vectors of {new} dimensions; those of the library have {old}."),
                N_("Make all vectors anew in Settings, under Knowledge."),
                retryable=False,
                model=model.name,
                new=len(vector),
                old=stored,
            )

    async def forget(self) -> None:
        self._known.clear()
        await self._settings.save(calibration.GROUP, {})


async def _one(vector: Awaitable[Vector]) -> list[Vector]:
    return [await vector]
