"""Backups taken while four processes write: each is a whole library, and holds all that was acknowledged before it."""

import asyncio
import json
import sqlite3
from contextlib import closing
from pathlib import Path

from tests.integration.reliability.campaign import Campaign, Process
from tests.support.commands import Result, devflow

BETWEEN_S = 0.5
COPIES = 2
WRITERS = 4


async def test_backups_taken_while_four_processes_write_are_whole_and_can_be_restored(tmp_path: Path) -> None:
    campaign = Campaign(tmp_path / "home", seed=20261201)
    await campaign.prepare()
    processes = campaign.start(WRITERS)
    taken: list[tuple[Path, dict[str, int]]] = []
    for number in range(COPIES):
        await asyncio.to_thread(campaign.watch, processes, BETWEEN_S)
        before = _acknowledged(processes)
        copy = tmp_path / f"copy {number}.db"
        made = await _run(campaign.home, "backup", str(copy), "--json")
        assert (made.code, made.value) == (0, {"backup": str(copy)}), made.err
        taken.append((copy, before))
    for process in processes:
        process.finish()
    campaign.note(processes)
    await campaign.check()
    assert len(taken[-1][1]) > len(taken[0][1]), "they wrote between the copies"
    for number, (copy, before) in enumerate(taken):
        elsewhere = tmp_path / f"home {number}"
        restored = await _run(elsewhere, "restore", str(copy), "--json")
        assert (restored.code, restored.value["before"]) == (0, None), restored.err
        found = _versions(elsewhere / "devflow.db")
        lost = {id: (version, found.get(id)) for id, version in before.items() if found.get(id, 0) < version}
        assert lost == {}
        health = await _run(elsewhere, "doctor", "--json")
        states = {check["check"]: check["state"] for check in json.loads(health.out)["checks"]}
        assert {states[check] for check in ("database", "migrations", "index", "locks")} == {"ok"}


async def test_a_backup_restored_over_a_library_leaves_the_old_one_beside_it_whole(tmp_path: Path) -> None:
    campaign = Campaign(tmp_path / "home", seed=7)
    await campaign.prepare()
    copy = tmp_path / "copy.db"
    await _run(campaign.home, "backup", str(copy))
    await campaign.crowd_round(0.5, 2)
    busy = campaign.start(1)
    await asyncio.to_thread(campaign.watch, busy, 0.1)
    refused = await _run(campaign.home, "restore", str(copy), "--json")
    assert (refused.code, refused.error["code"]) == (1, "database"), "a library in use is not replaced"
    busy[0].finish()
    campaign.note(busy)
    await campaign.check()
    before = _versions(campaign.home / "devflow.db")
    restored = await _run(campaign.home, "restore", str(copy), "--json")
    assert set(_versions(Path(restored.value["before"]))) == set(before)
    assert len(_versions(campaign.home / "devflow.db")) == 1
    assert (await _run(campaign.home, "restore", restored.value["before"])).code == 0
    assert _versions(campaign.home / "devflow.db") == before


def _acknowledged(processes: list[Process]) -> dict[str, int]:
    """Entries with the newest version that was acknowledged so far."""
    return {
        line["ack"][1]: line["state"]["version"]
        for process in processes
        for line in process.lines
        if line.get("ack", [""])[0] == "entry"
    }


def _versions(database: Path) -> dict[str, int]:
    with closing(sqlite3.connect(database)) as connection:
        return dict(connection.execute("SELECT id, version FROM entries").fetchall())


async def _run(home: Path, *words: str) -> Result:
    return await asyncio.to_thread(devflow, home, *words)
