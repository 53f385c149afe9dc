"""Where DevFlow's files are: the user's data directory, and the data that travels with the program.

The only finder of both. Every other room is handed an `AppPaths`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from devflow.domain.errors import UserFacing
from devflow.domain.messages import N_

PACKAGE = Path(__file__).resolve().parent.parent


class NoDataDirectory(UserFacing):
    """The data directory does not exist and cannot be made, or is not a directory."""

    code = "no_data_directory"


@dataclass(frozen=True, slots=True)
class AppPaths:
    """Every place on disk. All but the last two are inside `home`, readable by its owner alone."""

    home: Path
    database: Path
    backups: Path
    logs: Path
    locks: Path
    cache: Path
    """What can be made again from what is elsewhere; it may be deleted while nothing runs."""
    keys: Path
    """A file, written only where the system has no keychain."""
    migrations: Path
    resources: Path


def app_paths(home: Path | None = None, environ: Mapping[str, str] = os.environ) -> AppPaths:
    """Return the paths under `home`, else `DEVFLOW_HOME`, else the platform's user data directory.

    The directories are made where they are missing, with mode 0700; one that exists keeps the mode its owner gave it.
    Raises NoDataDirectory when that is impossible.
    """
    paths = named_paths(home, environ)
    for directory in (paths.home, paths.backups, paths.logs, paths.locks):
        _make_private(directory)
    return paths


def named_paths(home: Path | None = None, environ: Mapping[str, str] = os.environ) -> AppPaths:
    """The same paths, and nothing is made. Raises NoDataDirectory where the home has no path."""
    root = _found_home(home, environ)
    data = _program_data()
    return AppPaths(
        home=root,
        database=root / "devflow.db",
        backups=root / "backups",
        logs=root / "logs",
        locks=root / "locks",
        cache=root / "cache",
        keys=root / "keys.json",
        migrations=data / "migrations",
        resources=data / "resources",
    )


def shared_skills(environ: Mapping[str, str] = os.environ) -> tuple[Path, ...]:
    """The user's folders of skills that several programs share; `DEVFLOW_SHARED_SKILLS` names others, or none."""
    named = environ.get("DEVFLOW_SHARED_SKILLS")
    if named is not None:
        return tuple(Path(folder).absolute() for folder in named.split(os.pathsep) if folder.strip())
    try:
        return tuple(Path.home() / folder for folder in (".agents/skills", ".claude/skills"))
    except RuntimeError:  # there is no home
        return ()


def _found_home(explicit: Path | None, environ: Mapping[str, str]) -> Path:
    try:
        return _home(explicit, environ)
    except (OSError, RuntimeError) as error:  # the working directory is gone; nobody is called what stands after `~`
        named = explicit or environ.get("DEVFLOW_HOME") or "~"
        raise _unusable(named, error) from error


def _home(explicit: Path | None, environ: Mapping[str, str]) -> Path:
    if explicit is not None:
        return explicit.expanduser().absolute()
    if named := environ.get("DEVFLOW_HOME"):
        return Path(named).expanduser().absolute()
    return _usual_home()


def is_usual_home(home: Path) -> bool:
    """Whether it is found without being named."""
    return home == _usual_home()


def _usual_home() -> Path:
    return platformdirs.user_data_path("devflow", appauthor=False)


def _program_data() -> Path:
    """In an installed wheel the data stands inside the package; in a checkout, beside it."""
    installed = PACKAGE / "_data"
    return installed if installed.is_dir() else PACKAGE.parent


def _make_private(directory: Path) -> None:
    try:
        # `mkdir(parents=True)` gives missing parents the default mode; those above the home are not ours to close.
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    except (OSError, ValueError) as error:  # ValueError: a name that the system cannot be told
        raise _unusable(directory, error) from error


def _unusable(directory: object, error: Exception) -> NoDataDirectory:
    return NoDataDirectory(
        N_("The data directory {path} cannot be used: {reason}."),
        N_("Check its permissions, or name another one with --home or DEVFLOW_HOME."),
        path=directory,
        reason=getattr(error, "strerror", None) or str(error).rstrip("."),
    )
