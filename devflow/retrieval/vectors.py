"""The vectors of one model in memory, and which entries' are nearest to a query's.

Filled from the database, row by row as they come. What is found is held against the database in the same snapshot, so
that a vector of a text that has changed since, or is gone, finds nothing. How far apart unrelated texts are is told by
the library itself, for nearly all of it has nothing to do with any one query. With numpy (extra `vectors`) a hundred
thousand are compared in some 20 ms; without it the same is done in Python, ten times slower. Neither is loaded before
the first search by meaning.
"""

from __future__ import annotations

import heapq
import operator
import os
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from math import sqrt
from typing import Any, Protocol

from devflow.store import vectors as table
from devflow.store.database import Session

AT_ONCE = 5_000
"""Rows taken in by one call of `take_in`, so that the store's thread is never held for long."""
SPARE = 0.25
"""From this share of dead rows up the matrix is packed anew."""
PER_DEVIATION = 0.234
"""Of similarity: one in ten of what is unrelated then reaches 0.3, the floor (`meaning.FLOOR`)."""
BEFOREHAND = 100
"""A library of so many parts counts as much for its scale as what was measured with the model beforehand."""


@dataclass(frozen=True, slots=True)
class Near:
    """`similarity` is of the entry's nearest part."""

    entry_id: str
    similarity: float


@dataclass(frozen=True, slots=True)
class Unrelated:
    """How a query's products with the vectors of texts that have nothing to do with it are spread."""

    mean: float
    deviation: float

    def with_library(self, count: int, total: float, squares: float) -> Unrelated:
        """Of `count` products the sum and the sum of the squares, beside what was known beforehand."""
        weight = BEFOREHAND + count
        spread = max(squares - total**2 / max(count, 1), 0.0)
        deviation = sqrt((BEFOREHAND * self.deviation**2 + spread) / weight)
        return Unrelated((BEFOREHAND * self.mean + total) / weight, deviation)

    @property
    def line(self) -> Line:
        """0 for what is as near as anything, 0.3 for what one in ten reaches, about 1 for what is meant."""
        slope = PER_DEVIATION / self.deviation
        return slope, -slope * self.mean


Line = tuple[float, float]
"""Slope and offset: what makes a similarity of a product."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A query as it is compared: its vector without half of what all queries share, and what is unrelated to it,
    beforehand: among parts without Han characters, and among those with them."""

    vector: Sequence[float]
    unrelated: tuple[Unrelated, Unrelated]


class VectorIndex:
    """Used on the store's thread alone, inside a transaction."""

    def __init__(self) -> None:
        self._begin("")

    def _begin(self, model: str) -> None:
        self._model = model
        self._seen = 0
        self._rows: _Rows | None = None
        self._entries: list[str] = []
        self._ids: list[int] = []
        self._of: dict[str, list[int]] = {}
        self._dead = 0
        self._han = bytearray()
        self._compared: tuple[Asked, Any] | None = None

    def __len__(self) -> int:
        return len(self._of)

    def take_in(self, session: Session, model: str, limit: int = AT_ONCE) -> bool:
        """Take in rows that are new, at most `limit`; True when none is left. Another model begins anew."""
        if model != self._model:
            self._begin(model)
        if self._seen >= table.newest(session):
            return True
        some = list(islice(table.after(session, model, self._seen), limit))
        if not some:
            self._seen = table.newest(session)
            return True
        dimension = len(some[-1].vector) // 2
        if self._rows is not None and self._rows.dimension != dimension:  # all are being made anew
            self._begin(model)
        if self._rows is None:
            self._rows = _rows(dimension)
        fresh = [row for row in some if len(row.vector) // 2 == dimension]
        begun: set[str] = set()
        for row in fresh:
            # Parts of one entry come in one transaction: what stood here before is of a former text.
            if row.entry_id in self._of and row.entry_id not in begun and not self._continues(row):
                self._forget(row.entry_id)
            begun.add(row.entry_id)
            self._of.setdefault(row.entry_id, []).append(len(self._ids))
            self._entries.append(row.entry_id)
            self._ids.append(row.id)
            self._han.append(row.is_han)
        self._rows.add([row.vector for row in fresh])
        self._compared = None
        self._seen = some[-1].id
        if self._dead > SPARE * len(self._ids) + 100:
            self._pack()
        return len(some) < limit

    def nearest(self, session: Session, asked: Asked, count: int, floor: float) -> list[Near]:
        """The `count` entries with the nearest parts, nearest first, none below `floor` (a similarity)."""
        if self._rows is None or len(asked.vector) != self._rows.dimension or not self._of:
            return []
        similarities = self._compare(self._rows, asked)
        wanted = 2 * count + 16
        while True:
            found: dict[str, tuple[float, int]] = {}
            for place, similarity in self._rows.best(similarities, wanted):
                if similarity < floor:
                    break
                if self._entries[place]:  # else it is dead
                    found.setdefault(self._entries[place], (similarity, place))
            alive = self._alive(session, found)
            if len(alive) >= count or wanted >= len(self._ids) or len(found) < min(count, wanted // 4):
                return alive[:count]
            wanted *= 8

    def similarities(self, session: Session, asked: Asked, entry_ids: Iterable[str]) -> dict[str, float]:
        """Of each of these entries the nearest part's; one without vectors is no key."""
        if self._rows is None or len(asked.vector) != self._rows.dimension:
            return {}
        similarities = self._compare(self._rows, asked)
        found = {}
        for id in entry_ids:
            if places := self._of.get(id):
                best = max(places, key=lambda place: similarities[place])
                found[id] = (float(similarities[best]), best)
        return {near.entry_id: near.similarity for near in self._alive(session, found)}

    def _compare(self, rows: _Rows, asked: Asked) -> Any:
        """The similarities of all rows, once for a query; the products of dead rows are nought and add nothing."""
        if self._compared is None or self._compared[0] is not asked:
            products = rows.products(asked.vector)
            total, squares = rows.sums(products)
            other, han = (each.with_library(len(self._ids) - self._dead, total, squares) for each in asked.unrelated)
            self._compared = (asked, rows.similarities(products, (other.line, han.line), self._han))
        return self._compared[1]

    def _alive(self, session: Session, found: dict[str, tuple[float, int]]) -> list[Near]:
        """Those whose row still stands in the database; the others are forgotten."""
        there = table.existing(session, [self._ids[place] for _, place in found.values()])
        alive = []
        for id, (similarity, place) in found.items():
            if self._ids[place] in there:
                alive.append(Near(id, similarity))
            else:
                self._forget(id)
        return alive

    def _continues(self, row: table.Stored) -> bool:
        """Whether the row before this one is of the same entry: a part of the same text, cut off by `limit`."""
        return bool(self._entries) and self._entries[-1] == row.entry_id and self._ids[-1] == row.id - 1

    def _forget(self, entry_id: str) -> None:
        assert self._rows is not None
        places = self._of.pop(entry_id, [])
        self._rows.blank(places)
        for place in places:
            self._entries[place] = ""
        self._dead += len(places)

    def _pack(self) -> None:
        assert self._rows is not None
        kept = sorted(place for places in self._of.values() for place in places)
        self._rows.keep(kept)
        self._entries = [self._entries[place] for place in kept]
        self._ids = [self._ids[place] for place in kept]
        self._han = bytearray(self._han[place] for place in kept)
        self._of = {}
        for place, id in enumerate(self._entries):
            self._of.setdefault(id, []).append(place)
        self._dead = 0
        self._compared = None


class _Rows(Protocol):
    """Unit vectors by place."""

    dimension: int

    def add(self, packed: Sequence[bytes]) -> None: ...
    def blank(self, places: Sequence[int]) -> None: ...
    def keep(self, places: Sequence[int]) -> None: ...
    def products(self, vector: Sequence[float]) -> Any: ...
    def sums(self, products: Any) -> tuple[float, float]: ...
    def similarities(self, products: Any, lines: tuple[Line, Line], han: bytearray) -> Any: ...
    def best(self, similarities: Any, count: int) -> list[tuple[int, float]]: ...


def _rows(dimension: int) -> _Rows:
    numpy = _numpy()
    return _PlainRows(dimension) if numpy is None else _NumpyRows(dimension, numpy)


def _numpy() -> Any:
    """numpy on one thread, or None: one reads a matrix as fast as memory gives it, and several wait for each other on a
    busy machine (16 ms instead of 5). Programs that are started later see nothing of it."""
    name = "OPENBLAS_NUM_THREADS"
    before = os.environ.get(name)
    os.environ[name] = before or "1"
    try:
        import numpy
    except ImportError:
        return None
    else:
        return numpy
    finally:
        if before is None:
            del os.environ[name]


class _NumpyRows:
    def __init__(self, dimension: int, numpy: Any) -> None:
        self.dimension = dimension
        self._np = numpy
        self._count = 0
        self._matrix = numpy.zeros((256, dimension), dtype=numpy.float32)

    def add(self, packed: Sequence[bytes]) -> None:
        np, end = self._np, self._count + len(packed)
        if end > len(self._matrix):
            larger = np.zeros((max(end, len(self._matrix) * 3 // 2), self.dimension), dtype=np.float32)
            larger[: self._count] = self._matrix[: self._count]
            self._matrix = larger
        new = np.frombuffer(b"".join(packed), dtype="<f2").reshape(len(packed), self.dimension)
        self._matrix[self._count : end] = new
        self._count = end

    def blank(self, places: Sequence[int]) -> None:
        self._matrix[list(places)] = 0

    def keep(self, places: Sequence[int]) -> None:
        self._matrix, self._count = self._matrix[list(places)], len(places)

    def products(self, vector: Sequence[float]) -> Any:
        return self._matrix[: self._count] @ self._np.asarray(vector, dtype=self._np.float32)

    def sums(self, products: Any) -> tuple[float, float]:
        """Of the products, and of their squares."""
        exact = products.astype(self._np.float64)
        return float(exact.sum()), float(exact @ exact)

    def similarities(self, products: Any, lines: tuple[Line, Line], han: bytearray) -> Any:
        np = self._np
        of = np.frombuffer(bytes(han), dtype=np.uint8)
        slopes, offsets = np.array(lines, dtype=np.float32).T
        return products * slopes[of] + offsets[of]

    def best(self, similarities: Any, count: int) -> list[tuple[int, float]]:
        np = self._np
        if count < len(similarities):
            places = np.argpartition(similarities, -count)[-count:]
            places = places[np.argsort(-similarities[places], kind="stable")]
        else:
            places = np.argsort(-similarities, kind="stable")
        return list(zip(places.tolist(), similarities[places].tolist(), strict=True))


@dataclass(slots=True)
class _PlainRows:
    """The same without numpy, for an endpoint's vectors in a library of some thousands."""

    dimension: int
    _vectors: list[array[float]] = field(default_factory=list)

    def add(self, packed: Sequence[bytes]) -> None:
        self._vectors += [array("f", table.unpack(vector)) for vector in packed]

    def blank(self, places: Sequence[int]) -> None:
        for place in places:
            self._vectors[place] = array("f", bytes(4 * self.dimension))

    def keep(self, places: Sequence[int]) -> None:
        self._vectors = [self._vectors[place] for place in places]

    def products(self, vector: Sequence[float]) -> list[float]:
        return [sum(map(operator.mul, vector, row)) for row in self._vectors]

    def sums(self, products: list[float]) -> tuple[float, float]:
        return sum(products), sum(map(operator.mul, products, products))

    def similarities(self, products: list[float], lines: tuple[Line, Line], han: bytearray) -> list[float]:
        return [lines[of][0] * product + lines[of][1] for product, of in zip(products, han, strict=True)]

    def best(self, similarities: list[float], count: int) -> list[tuple[int, float]]:
        return heapq.nlargest(count, enumerate(similarities), key=operator.itemgetter(1))
