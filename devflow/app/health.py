"""`devflow doctor`: what is looked at, and what can be mended without asking."""

from __future__ import annotations

import asyncio
import os
import platform
import shutil
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from devflow import __version__
from devflow.app.core import Core
from devflow.app.paths import AppPaths
from devflow.domain.errors import UserFacing
from devflow.domain.health import Finding, failed, of_problem, ok, warning
from devflow.domain.messages import N_, english
from devflow.domain.provider import LineState, Probe, ProviderConfig
from devflow.knowledge.embedding_state import Phase
from devflow.store import health
from devflow.store.lock import clean_up, left_behind

SERVER_TIMEOUT = 20.0
"""Seconds that one server may take to answer all of its test."""

MEND_SERVER = N_("Look in Settings, under Providers, or run `devflow provider list`.")
FREE_SOME = N_(
    "Free some space there: whatever cannot be written is refused, and a backup needs as much as the database."
)
MB = 1_000_000
FULL, SCARCE = 10 * MB, 200 * MB
PACKAGES = ("PySide6_Essentials", "SQLAlchemy", "alembic", "httpx", "qasync")


def examine(paths: AppPaths) -> tuple[Finding, ...]:
    """Versions, permissions, the disk, locks and the database; no network, no keychain."""
    return (_versions(), *_permissions(paths), _disk(paths), _locks(paths), *health.examine(paths))


async def examine_models(core: Core) -> tuple[Finding, ...]:
    """Where keys are kept, and whether each model server that is set up answers (this asks them, all at once)."""
    vectors = await _examine_vectors(core)
    servers = await core.models.list()
    if not servers:
        none = ok("providers", N_("No model server is set up; the offline assistant answers."))
        return (await _place_of_keys(core), vectors, none)
    try:
        with_key = [await core.models.has_key(server.id) for server in servers]
    except UserFacing as problem:  # the file of keys is damaged: no server can be asked
        return (of_problem("keys", problem), vectors)
    asked = (_examine_server(core, server, has_key) for server, has_key in zip(servers, with_key, strict=True))
    return (await _place_of_keys(core), vectors, *await asyncio.gather(*asked))


async def _place_of_keys(core: Core) -> Finding:
    place = await core.keys.where()
    return ok(
        "keys", N_("Keys of model servers go to the system's keychain.") if place == "keychain" else core.keys.notice
    )


def _no_key(server: ProviderConfig) -> Finding:
    return failed(
        "keys",
        N_("{name} needs a key, and there is none."),
        N_("Enter it in Settings, under Providers, or remove the server and add it with its key."),
        name=server.name,
    )


async def _examine_vectors(core: Core) -> Finding:
    """Search by meaning: whether it is on, and what its model and its vectors say."""
    state = await core.embeddings.state()
    progress = state.progress
    if state.phase is Phase.OFF:
        return ok("vectors", N_("Search by meaning is off."))
    if state.problem is not None:
        return of_problem("vectors", state.problem)
    numbers = {"model": state.model, "ready": progress.ready, "total": progress.total, "failed": progress.failed}
    if progress.failed:
        return warning(
            "vectors",
            N_("{ready} of {total} entries have vectors of {model}, {failed} failed."),
            N_("Run `devflow knowledge reembed`: it tries again and says why."),
            **numbers,
        )
    return ok("vectors", N_("{ready} of {total} entries have vectors of {model}."), **numbers)


def mend(paths: AppPaths, found: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Mend what needs no decision: open permissions, locks left behind, and an index that disagrees.

    Returns what was done.
    """
    done: list[Finding] = []
    if any(finding.check == "permissions" and finding.hint for finding in found):
        for place, wanted in _open_places(paths):
            place.chmod(wanted)
        done.append(ok("permissions", N_("Closed to others.")))
    if any(finding.check == "locks" and finding.hint for finding in found):
        clean_up(paths.locks)
        done.append(ok("locks", N_("Removed those of programs that have ended.")))
    if any(finding.check == "index" and finding.hint for finding in found):
        count = health.rebuild_index(paths)
        done.append(ok("index", N_("Made anew over {count} entries."), count=count))
    return tuple(done)


async def _examine_server(core: Core, server: ProviderConfig, has_key: bool) -> Finding:
    try:
        report = await asyncio.wait_for(core.models.test(server), SERVER_TIMEOUT)
    except TimeoutError:
        return failed(
            "providers",
            N_("{name} did not answer within {seconds} s."),
            MEND_SERVER,
            name=server.name,
            seconds=SERVER_TIMEOUT,
        )
    except UserFacing as problem:
        return of_problem("providers", problem)
    if report.usable:
        return ok("providers", N_("{name} answers."), name=server.name)
    wrong = next((line for line in report.lines if line.state is LineState.FAILED), None)
    if wrong is not None and wrong.what is Probe.KEY and not has_key:
        return _no_key(server)
    said = wrong.render(english()) if wrong else ""
    return failed("providers", N_("{name} does not work: {said}"), MEND_SERVER, name=server.name, said=said)


def _versions() -> Finding:
    installed = []
    for package in PACKAGES:
        try:
            installed.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            return failed("versions", N_("{package} is not installed."), N_("Install DevFlow anew."), package=package)
    return ok(
        "versions",
        N_("DevFlow {devflow}, Python {python}, SQLite {sqlite}, {packages}"),
        devflow=__version__,
        python=platform.python_version(),
        sqlite=health.sqlite_version(),
        packages=", ".join(installed),
    )


def _permissions(paths: AppPaths) -> tuple[Finding, ...]:
    if os.name != "posix":
        return ()
    astray = [str(place) for place, _ in _open_places(paths)]
    if astray:
        return (
            warning(
                "permissions",
                N_("Others on this machine can read {places}."),
                N_("Run `devflow doctor --mend`, or `chmod -R go= {home}`."),
                places=", ".join(astray),
                home=paths.home,
            ),
        )
    return (ok("permissions", N_("{home} is readable by you alone."), home=paths.home),)


def _disk(paths: AppPaths) -> Finding:
    """Free space: what a backup before an update needs, and little enough to say so before anything is refused."""
    free = shutil.disk_usage(paths.home).free
    database = paths.database.stat().st_size if paths.database.is_file() else 0
    words = {"free": f"{free // MB:,}", "home": paths.home}
    if free < FULL:
        return failed("disk", N_("The disk of {home} is full: {free} MB are free."), FREE_SOME, **words)
    if free < max(SCARCE, 2 * database):
        return warning("disk", N_("Only {free} MB are free on the disk of {home}."), FREE_SOME, **words)
    return ok("disk", N_("{free} MB are free on the disk of {home}."), **words)


def _locks(paths: AppPaths) -> Finding:
    left = left_behind(paths.locks)
    if left:
        return warning(
            "locks",
            N_("Locks of programs that were killed are left: {count}."),
            N_("They stop nobody. `devflow doctor --mend` removes them, and so does the window's next start."),
            count=len(left),
        )
    return ok("locks", N_("No lock is left of a program that has ended."))


def _open_places(paths: AppPaths) -> Iterator[tuple[Path, int]]:
    """The directories and files that others may enter or read, with the mode each should have."""
    for folder in (paths.home, paths.backups, paths.logs, paths.locks):
        if folder.is_dir() and folder.stat().st_mode & 0o077:
            yield folder, 0o700
    files = (*paths.home.glob("devflow.db*"), paths.keys, *paths.backups.glob("*.db"), *paths.logs.glob("*.log*"))
    for file in files:
        if file.is_file() and file.stat().st_mode & 0o077:
            yield file, 0o600
