"""The composition root: every object that knows no Qt, built once, for the window, the command line and MCP alike.

Rooms above get these objects and pass them on as constructor arguments; nothing is global.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field

from devflow.agent.conversations import Conversations
from devflow.agent.engine import Engine
from devflow.agent.turns import Turns
from devflow.app.i18n import SYSTEM, translator
from devflow.app.paths import AppPaths, is_usual_home, shared_skills
from devflow.digest.batch import Workbench
from devflow.digest.sediment import Sediments
from devflow.digest.service import Digests
from devflow.domain.conversation import ModelChoice
from devflow.domain.errors import DatabaseProblem, NotFound
from devflow.domain.events import Hub, IndexFilled
from devflow.domain.messages import N_, Translator
from devflow.domain.run import ACTIVE_STATES
from devflow.extraction.clock import SystemClock
from devflow.extraction.service import Extraction
from devflow.knowledge.embedding import Embeddings
from devflow.knowledge.projects import Projects
from devflow.knowledge.query_vectors import PATIENCE_S as QUERY_S
from devflow.knowledge.sample_wiki import SampleWiki
from devflow.knowledge.samples import Samples
from devflow.knowledge.service import Knowledge
from devflow.knowledge.settings import Settings
from devflow.models.calibration import Calibration
from devflow.models.embedding import EmbeddingModels
from devflow.models.keys import Keys, home_id
from devflow.models.registry import Models
from devflow.prompt.compose import compose_probe
from devflow.prompt.lookup import Lookups
from devflow.prompt.templates import Templates
from devflow.providers import urls
from devflow.retrieval.journal import Journal
from devflow.sharing.service import Sharing
from devflow.store import runs
from devflow.store.database import Database, Session, prune_changes
from devflow.store.lock import ProcessLock
from devflow.store.migrate import open_database
from devflow.store.search_fill import filling, keep_filling
from devflow.store.watch import watch
from devflow.tools.command_environ import AGENT_CHILD as AGENT_CHILD
from devflow.tools.mcp_clients import Invitation, own_command
from devflow.tools.mcp_servers import McpServers
from devflow.tools.mcp_source import McpSource
from devflow.transfer.service import Transfer
from devflow.wiki.registry import KnowledgeBases
from devflow.wiki.skills import Skills

COMMAND_QUERY_S = 5.0
"""Seconds that a single command's search waits for its query's vector: the embedded model has to start first."""


@dataclass(frozen=True, slots=True)
class Core:
    paths: AppPaths
    hub: Hub
    db: Database
    settings: Settings
    projects: Projects
    bases: KnowledgeBases
    skills: Skills
    knowledge: Knowledge
    embeddings: Embeddings
    embedding_models: EmbeddingModels
    samples: Samples
    keys: Keys
    models: Models
    conversations: Conversations
    turns: Turns
    extraction: Extraction
    digests: Digests
    sharing: Sharing
    transfer: Transfer
    sediments: Sediments
    mcp: McpSource
    invitation: Invitation
    lock: ProcessLock
    journal: Journal
    translator: Translator
    tasks: list[asyncio.Task[None]] = field(default_factory=list)


async def open_core(
    paths: AppPaths, *, language: str = SYSTEM, background: bool, environ: Mapping[str, str] = os.environ
) -> Core:
    """Open the database and build the services.

    `background`: for a program that stays (the window): it hears what other processes write and does what was left to
    do. A single command does neither, but goes on with a search index that is not full. Raises DatabaseProblem.
    """
    hub = Hub()
    async with contextlib.AsyncExitStack() as opened:
        db = open_database(paths, hub)
        opened.callback(db.close)
        lock = _lock(paths)
        opened.callback(lock.close)
        core = await _build(
            paths, hub, db, lock, language, environ, patience=QUERY_S if background else COMMAND_QUERY_S
        )
        opened.pop_all()  # from here on `close_core` closes them
    try:
        if background or not (await core.db.read(filling)).is_full:
            core.tasks.append(asyncio.create_task(_fill_index(core), name="fill the search index"))
        if background:
            await _start(core)
    except BaseException:
        await close_core(core)
        raise
    return core


async def close_core(core: Core) -> None:
    """Stop what runs, then close the database; nothing acknowledged is lost.

    Where one part cannot record its end (a full disk), the others are closed all the same.
    """
    for task in core.tasks:
        task.cancel()
    async with contextlib.AsyncExitStack() as closing:  # from the last to the first
        closing.callback(core.lock.close)
        closing.callback(core.db.close)
        closing.callback(core.settings.close)
        closing.push_async_callback(core.models.close)
        closing.push_async_callback(core.embedding_models.aclose)
        closing.callback(core.journal.close)
        closing.push_async_callback(core.bases.close)
        closing.push_async_callback(core.mcp.close)
        closing.push_async_callback(core.extraction.close)
        closing.push_async_callback(core.digests.close)
        closing.push_async_callback(core.sediments.close)
        closing.push_async_callback(core.turns.close)
        closing.push_async_callback(core.embeddings.close)
        await asyncio.gather(*core.tasks, return_exceptions=True)


@contextlib.asynccontextmanager
async def opened(paths: AppPaths, *, language: str = SYSTEM, background: bool = False) -> AsyncIterator[Core]:
    """An open core for the length of a `with` block."""
    core = await open_core(paths, language=language, background=background)
    try:
        yield core
    finally:
        await close_core(core)


def _lock(paths: AppPaths) -> ProcessLock:
    try:
        return ProcessLock(paths.locks)
    except OSError as error:
        raise DatabaseProblem(
            N_("The data directory cannot be written: {reason}."),
            N_("Free some space, and check that you may write to {path}."),
            reason=error.strerror or error,
            path=paths.locks,
        ) from error


def invitation(paths: AppPaths) -> Invitation:
    """How other tools start this DevFlow."""
    return Invitation(own_command(), None if is_usual_home(paths.home) else str(paths.home))


def is_agent_child(environ: Mapping[str, str] = os.environ) -> bool:
    return environ.get(AGENT_CHILD, "") not in ("", "0")


async def _build(
    paths: AppPaths,
    hub: Hub,
    db: Database,
    lock: ProcessLock,
    language: str,
    environ: Mapping[str, str],
    *,
    patience: float,
) -> Core:
    child = is_agent_child(environ)
    settings = Settings(db)
    keys = Keys(paths, await home_id(settings))
    models = Models(db, keys, settings, hub, resources=paths.resources, probe_request=compose_probe)

    async def is_busy() -> bool:
        return await db.read(lambda session: _is_busy(session, lock))

    embedding_models = EmbeddingModels(models, settings, hub)
    embeddings = Embeddings(
        db,
        settings,
        embedding_models,
        resources=paths.resources,
        clock=SystemClock(),
        is_busy=is_busy,
        patience=patience,
    )
    knowledge = Knowledge(db, settings, embeddings=embeddings, agent_child=child)
    templates = Templates(paths.resources)
    bases = KnowledgeBases(db, paths.cache / "pages")
    skills = Skills(paths.home, shared_skills(environ))
    journal = Journal(paths.logs / "retrieval")
    calibration = Calibration(settings)
    mcp = McpSource(McpServers(settings, keys, agent_child=child), settings, hub, environ=environ)
    engine = Engine(
        db=db,
        hub=hub,
        settings=settings,
        knowledge=knowledge,
        models=models,
        templates=templates,
        lookups=Lookups(db, settings, templates, hub, bases, journal, embeddings),
        bases=bases,
        skills=skills,
        calibration=calibration,
        lock=lock,
        home=paths.home,
        sources=mcp,
    )

    async def is_local(choice: ModelChoice) -> bool:
        try:
            return urls.parse((await models.get(choice.provider_id)).base_url).is_loopback
        except NotFound:
            return False

    extraction = Extraction(db, models, knowledge, settings, templates=templates, lock=lock, is_local=is_local)
    bench = Workbench(db, hub, models, templates, calibration, owner=lock.id, locks=paths.locks)
    return Core(
        paths=paths,
        hub=hub,
        db=db,
        settings=settings,
        projects=Projects(db),
        bases=bases,
        skills=skills,
        journal=journal,
        knowledge=knowledge,
        embeddings=embeddings,
        embedding_models=embedding_models,
        samples=Samples(
            db, paths.resources, SampleWiki(db, bases, paths.resources, paths.home / "samples"), agent_child=child
        ),
        keys=keys,
        models=models,
        conversations=Conversations(db),
        turns=Turns(engine),
        extraction=extraction,
        sharing=Sharing(db, paths.resources),
        transfer=Transfer(db, agent_child=child),
        digests=Digests(bench, bases, lock.is_alive),
        sediments=Sediments(bench, bases),
        mcp=mcp,
        invitation=invitation(paths),
        lock=lock,
        translator=translator(paths.resources, language, environ),
    )


def _is_busy(session: Session, lock: ProcessLock) -> bool:
    return any(run.state in ACTIVE_STATES and lock.is_alive(run.owner) for run in runs.all_open(session))


async def _fill_index(core: Core) -> None:
    """Go on making a search index that an update has begun anew; a single command does its part too."""
    await keep_filling(core.db, lambda at: core.hub.publish(IndexFilled(at.done, at.total)))


async def _start(core: Core) -> None:
    """What a program that stays does: mend the runs that others leave behind, and hear what others write."""
    await core.db.write(prune_changes)
    await core.turns.recover()
    await core.extraction.start()
    await core.embeddings.start()
    core.tasks.append(asyncio.create_task(watch(core.db, core.hub), name="watch"))
    core.tasks.append(asyncio.create_task(core.turns.keep_recovering(), name="keep recovering"))
