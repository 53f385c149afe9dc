"""Where keys are, and where they never are."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from devflow.app.paths import AppPaths
from devflow.domain.errors import InvalidInput
from devflow.knowledge.settings import Settings
from devflow.models.keys import NOTICE, Keys, KeysUnreadable, check_key, home_id
from devflow.store.database import Database

ORIGIN = "https://api.example.com"


async def test_without_a_keychain_keys_go_to_a_file_that_only_the_user_can_read(keys: Keys, paths: AppPaths) -> None:
    assert keys.notice == ""
    await keys.put("p1", ORIGIN, "sk-one")
    assert await keys.where() == "file"
    assert keys.notice == NOTICE
    assert await keys.get("p1", ORIGIN) == "sk-one"
    assert stat.S_IMODE(paths.keys.stat().st_mode) == 0o600


async def test_a_key_belongs_to_one_provider_one_origin_and_one_home(keys: Keys, paths: AppPaths) -> None:
    await keys.put("p1", ORIGIN, "sk-one")
    assert await keys.get("p2", ORIGIN) == ""
    assert await keys.get("p1", "https://other.example.com") == ""
    assert await Keys(paths, "another home").get("p1", ORIGIN) == ""


async def test_a_forgotten_key_is_gone_from_the_file(keys: Keys, paths: AppPaths) -> None:
    await keys.put("p1", ORIGIN, "sk-one")
    await keys.put("p2", ORIGIN, "sk-two")
    await keys.forget("p1", ORIGIN)
    assert await keys.get("p1", ORIGIN) == ""
    assert "sk-one" not in paths.keys.read_text()
    assert await keys.get("p2", ORIGIN) == "sk-two"
    await keys.put("p2", ORIGIN, "")
    assert "sk-two" not in paths.keys.read_text()


async def test_the_home_keeps_its_id(settings: Settings, db: Database) -> None:
    first = await home_id(settings)
    assert first
    assert await home_id(Settings(db)) == first


async def test_a_broken_file_of_keys_is_named_and_not_overwritten(keys: Keys, paths: AppPaths) -> None:
    paths.keys.write_text("{half")
    with pytest.raises(KeysUnreadable, match=r"keys\.json"):
        await keys.put("p1", ORIGIN, "sk-one")
    assert paths.keys.read_text() == "{half"


@pytest.mark.parametrize("pasted", ["sk one", "sk-é", "sk-\x00", "密钥", "x" * 3000])
def test_what_can_be_no_key_is_refused(pasted: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        check_key(pasted)
    assert pasted not in str(caught.value)


def test_a_pasted_key_is_trimmed() -> None:
    assert check_key("  sk-one\n") == "sk-one"


async def test_no_key_is_logged(keys: Keys, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    await keys.put("p1", ORIGIN, "sk-very-secret")
    await keys.get("p1", ORIGIN)
    assert "sk-very-secret" not in caplog.text


FALLS_BACK = """
import asyncio, sys
from pathlib import Path
from types import SimpleNamespace
from devflow.models.keys import Keys

async def main():
    paths = SimpleNamespace(keys=Path(sys.argv[1]))
    keys = Keys(paths, "home")
    await keys.put("p", "https://a.example", "sk-kept")
    assert keys.notice
    assert await Keys(paths, "home").get("p", "https://a.example") == "sk-kept"
    print("in the file")

asyncio.run(main())
"""


def test_a_keychain_that_fails_is_replaced_by_the_file(paths: AppPaths, tmp_path: Path) -> None:
    module = tmp_path / "broken_keychain.py"
    module.write_text(
        "from keyring.backend import KeyringBackend\n"
        "class Broken(KeyringBackend):\n"
        "    priority = 9\n"
        "    def get_password(self, service, name): raise RuntimeError('locked')\n"
        "    def set_password(self, service, name, word): raise RuntimeError('locked')\n"
        "    def delete_password(self, service, name): raise RuntimeError('locked')\n"
    )
    environment = {
        **os.environ,
        "PYTHON_KEYRING_BACKEND": "broken_keychain.Broken",
        "PYTHONPATH": os.pathsep.join([str(tmp_path), str(Path(__file__).parents[3])]),
    }
    done = subprocess.run(
        [sys.executable, "-c", FALLS_BACK, str(paths.keys)], env=environment, capture_output=True, text=True, timeout=60
    )
    assert done.stdout.strip() == "in the file", done.stderr


async def test_windows_that_save_keys_at_once_undo_none_of_each_others(paths: AppPaths) -> None:
    windows = [Keys(paths, "home") for _ in range(6)]
    await asyncio.gather(
        *(
            window.put(f"p{number}-{turn}", ORIGIN, f"sk-{number}-{turn}")
            for number, window in enumerate(windows)
            for turn in range(8)
        )
    )
    kept = json.loads(paths.keys.read_text())
    assert sorted(kept.values()) == sorted(f"sk-{number}-{turn}" for number in range(6) for turn in range(8))


@pytest.mark.parametrize("content", ["[1]", '"text"', "5", "null", "[" * 100_000])
async def test_a_file_that_holds_no_keys_is_named_and_not_overwritten(
    keys: Keys, paths: AppPaths, content: str
) -> None:
    paths.keys.write_text(content)
    for act in (keys.put("p1", ORIGIN, "sk-one"), keys.get("p1", ORIGIN), keys.forget("p1", ORIGIN)):
        with pytest.raises(KeysUnreadable, match=r"keys\.json"):
            await act
    assert paths.keys.read_text() == content


async def test_a_key_that_cannot_be_written_is_a_refusal_and_the_others_stay(keys: Keys, paths: AppPaths) -> None:
    await keys.put("p1", ORIGIN, "sk-one")
    lock = paths.keys.with_name("keys.lock")
    lock.unlink()
    lock.mkdir()
    with pytest.raises(KeysUnreadable, match="cannot be written"):
        await keys.put("p2", ORIGIN, "sk-two")
    assert await keys.get("p1", ORIGIN) == "sk-one"
