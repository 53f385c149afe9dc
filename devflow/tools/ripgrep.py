"""ripgrep as an adviser: which of these files can hold a match at all.

It is given file names one by one, never a folder, and says yes or no about each. What a file holds is read by the
workspace's own confined access afterwards, so that a link put in a file's place meanwhile shows nothing (decision 21).
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from devflow.tools.paths import Parts
from devflow.tools.search_budget import SearchBudget

_PROBE_SECONDS = 5.0
_BATCH_CHARS = 24_000  # of file names in one command line; Windows has room for 32,767
_OPTIONS = (
    "--no-config",
    "--no-ignore",
    "--hidden",
    "--no-follow",
    "--no-messages",
    "--no-mmap",
    "--no-pre",
    "--no-search-zip",
    "--text",
    "--encoding=none",
    "--color=never",
    "--files-with-matches",
    "--null",
)
_OWN_DECODING = ("--invert-match", "--line-regexp", "--regexp=[^\\x00]*")
"""Lines that are not text in UTF-8 without NUL: what ripgrep cannot judge, and we read ourselves."""


def find_ripgrep(workspace: Path) -> Path | None:
    """The program, never one that lies in the workspace or is found by a relative entry of PATH.

    It must say that it is ripgrep when it is started as it will be: of a program that only fails, an empty answer would
    be taken for "no file matches".
    """
    root = Path(os.path.realpath(workspace))
    entries = [entry for entry in os.environ.get("PATH", "").split(os.pathsep) if Path(entry).is_absolute()]
    found = shutil.which("rg", path=os.pathsep.join(entries)) if entries else None
    if found is None:
        return None
    if Path(os.path.realpath(found)).is_relative_to(root):
        return None
    return Path(found) if _is_ripgrep(found) else None  # by this name: some are links to a program of many names


def worth_reading(
    program: Path, root: Path, files: Sequence[Parts], pattern: str, budget: SearchBudget
) -> Iterator[Parts]:
    """Those of `files` that may match, in their order; all of a batch where ripgrep fails or is too slow."""
    for batch in _batches(files):
        names = ["./" + "/".join(parts) for parts in batch]
        matching = _listed(program, root, (f"--regexp={pattern}",), names, budget)
        foreign = _listed(program, root, _OWN_DECODING, names, budget) if matching is not None else None
        if matching is None or foreign is None:
            yield from batch
        else:
            chosen = matching | foreign
            yield from (parts for parts, name in zip(batch, names, strict=True) if name in chosen)


def _is_ripgrep(program: str) -> bool:
    try:
        told = subprocess.run(
            [program, "--no-config", "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PROBE_SECONDS,
            env=_environment(),
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return told.returncode == 0 and told.stdout.startswith(b"ripgrep ")


def _batches(files: Sequence[Parts]) -> Iterator[list[Parts]]:
    batch: list[Parts] = []
    size = 0
    for parts in files:
        length = sum(len(part) + 1 for part in parts) + 3
        if batch and size + length > _BATCH_CHARS:
            yield batch
            batch, size = [], 0
        batch.append(parts)
        size += length
    if batch:
        yield batch


def _listed(
    program: Path, root: Path, question: Sequence[str], names: Sequence[str], budget: SearchBudget
) -> set[str] | None:
    """The names that ripgrep lists; None where it cannot say."""
    try:
        process = subprocess.Popen(
            [str(program), *_OPTIONS, *question, "--", *names],
            cwd=root,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(),
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
    except (OSError, ValueError):  # a name that this system has no word for
        return None
    budget.watch(process)
    try:
        output, _ = process.communicate(timeout=budget.left / 2 + 0.1)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return None
    finally:
        budget.forget(process)
    if process.returncode not in (0, 1):
        return None
    return {name.replace("\\", "/") if os.sep == "\\" else name for name in os.fsdecode(output).split("\0") if name}


def _environment() -> dict[str, str]:
    """Nothing of ours but what Windows needs to start a program at all."""
    return {name: value for name in ("SYSTEMROOT",) if (value := os.environ.get(name))}
