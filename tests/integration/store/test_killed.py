"""Killed at any moment: the database opens, is sound, and has what was acknowledged (spec 07, Loss)."""

import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from devflow.app.paths import AppPaths, app_paths
from devflow.domain.events import Hub
from devflow.domain.health import Health
from devflow.domain.knowledge import Status
from devflow.store import health
from devflow.store.migrate import newest_revision, open_database, stored_revision
from tests.support.commands import ROOT, environment
from tests.support.library import open_library

WRITER = """
import asyncio, sys
from pathlib import Path
from tests.support.library import USER, open_library

async def main():
    async with open_library(Path(sys.argv[1])) as library:
        number = 0
        while True:
            entry = await library.add(f"Entry {number}", content="words " * 200)
            await library.knowledge.knowledge_approve(entry.id, actor=USER)
            print(entry.id, flush=True)
            number += 1

asyncio.run(main())
"""

STOPS_HALF_WAY = '''
"""Stops before it is done, as a machine does that loses power."""
import sys
import sqlalchemy as sa
from alembic import op

revision = "9001"
down_revision = {down!r}
branch_labels = None
depends_on = None

def upgrade() -> None:
    for step, statement in enumerate((
        "CREATE TABLE tomorrow (id INTEGER)",
        "ALTER TABLE entries ADD COLUMN tomorrow TEXT",
        "UPDATE entries SET tomorrow = title",
        "DROP TABLE source_feedback",
    )):
        op.execute(statement)
        if step == {stop}:
            print("half way", flush=True)
            sys.stdin.read()

def downgrade() -> None:
    pass
'''

MIGRATOR = """
import sys
from dataclasses import replace
from pathlib import Path
from devflow.app.paths import app_paths
from devflow.domain.events import Hub
from devflow.store.migrate import open_database
open_database(replace(app_paths(Path(sys.argv[1])), migrations=Path(sys.argv[2])), Hub())
"""


@pytest.mark.parametrize("acknowledged", [1, 7, 20])
async def test_what_was_acknowledged_before_a_kill_is_there_and_sound(home: Path, acknowledged: int) -> None:
    lines = killed_after(acknowledged, WRITER, str(home))
    async with open_library(home) as library:
        for id in lines:
            entry = await library.knowledge.knowledge_get(id)
            assert entry.status is Status.PUBLISHED
            assert len(await library.events(id)) == 3
        found = await library.knowledge.knowledge_search("words", statuses=list(Status), limit=50)
        stats = await library.knowledge.knowledge_stats()
        assert len(found.hits) == stats.total
    assert {finding.health for finding in health.examine(app_paths(home))} == {Health.OK}


@pytest.mark.parametrize("stop", range(4))
def test_a_migration_killed_at_any_step_leaves_the_old_database(home: Path, tmp_path: Path, stop: int) -> None:
    paths = app_paths(home)
    open_database(paths, Hub()).close()
    newer = with_half_a_migration(paths, tmp_path, stop)
    assert killed_after(1, MIGRATOR, str(home), str(newer.migrations)) == ["half way"]
    assert stored_revision(paths) == newest_revision(paths.migrations)
    assert {finding.health for finding in health.examine(paths)} == {Health.OK}


def with_half_a_migration(paths: AppPaths, folder: Path, stop: int) -> AppPaths:
    migrations = folder / "migrations"
    shutil.copytree(paths.migrations, migrations, ignore=shutil.ignore_patterns("__pycache__"))
    source = STOPS_HALF_WAY.format(down=newest_revision(paths.migrations), stop=stop)
    (migrations / "versions" / "9001_half.py").write_text(source, encoding="utf-8")
    return replace(paths, migrations=migrations)


def killed_after(lines: int, program: str, *arguments: str) -> list[str]:
    """Start the program, read so many lines of its output, and kill it."""
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", program, *arguments]
    with subprocess.Popen(command, cwd=ROOT, env=environment(), stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout is not None
        read = [process.stdout.readline().strip() for _ in range(lines)]
        process.kill()
    return read
