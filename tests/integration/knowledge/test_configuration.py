"""`KnowledgeConfig` on disk (spec 01, Config; KP-1)."""

import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from devflow.domain.config import KEY, KnowledgeConfig, TriggerMode
from devflow.domain.errors import InvalidInput
from tests.support.library import USER, Library, open_library

OTHER = KnowledgeConfig(
    auto_extract=False,
    trigger_mode=TriggerMode.ON_IDLE,
    min_messages=7,
    idle_timeout_ms=1_500,
    auto_inject=False,
    vector_enabled=True,
    embedding_provider_id="builtin",
    embedding_model="small",
)


def store(library: Library, raw: str) -> None:
    """Put a text into the database as another program, or a newer DevFlow, would have."""
    insert = text("INSERT OR REPLACE INTO app_settings (key, value, updated_at) VALUES (:key, :value, :at)")
    values = {"key": KEY, "value": raw, "at": "2026-01-01 00:00:00.000000"}
    library.db.run_write(lambda unit: unit.session.execute(insert, values))


async def test_kp1_every_field_of_the_config_survives_a_restart(home: Path) -> None:
    async with open_library(home) as library:
        assert await library.knowledge.knowledge_get_config() == KnowledgeConfig()
        await library.knowledge.knowledge_save_config(OTHER, actor=USER)
        assert await library.knowledge.knowledge_get_config() == OTHER
    async with open_library(home) as library:
        assert await library.knowledge.knowledge_get_config() == OTHER


async def test_kp1_the_config_is_one_json_value_under_knowledge_config(library: Library) -> None:
    await library.knowledge.knowledge_save_config(OTHER, actor=USER)
    assert await library.settings.raw(KEY) == {
        "auto_extract": False,
        "trigger_mode": "on_idle",
        "min_messages": 7,
        "idle_timeout_ms": 1500,
        "auto_inject": False,
        "vector_enabled": True,
        "embedding_provider_id": "builtin",
        "embedding_model": "small",
    }


@pytest.mark.expects_log
async def test_what_cannot_be_read_falls_back_field_by_field_and_the_log_says_so_once(
    library: Library, caplog: pytest.LogCaptureFixture
) -> None:
    store(library, '{"min_messages": "many", "auto_inject": false, "of_tomorrow": 1}')
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            assert await library.knowledge.knowledge_get_config() == KnowledgeConfig(auto_inject=False)
    assert ["min_messages: 'many'" in record.getMessage() for record in caplog.records] == [True]


@pytest.mark.parametrize("raw", ["{not json", "[1, 2]", '"text"', "null", "7"])
@pytest.mark.expects_log
async def test_an_unreadable_config_is_the_defaults_and_can_be_saved_again(library: Library, raw: str) -> None:
    store(library, raw)
    assert await library.knowledge.knowledge_get_config() == KnowledgeConfig()
    await library.knowledge.knowledge_save_config(OTHER, actor=USER)
    assert await library.knowledge.knowledge_get_config() == OTHER


async def test_saving_keeps_the_fields_of_a_newer_version(library: Library) -> None:
    store(library, '{"of_tomorrow": {"deep": [1]}, "min_messages": 9}')
    config = await library.knowledge.knowledge_get_config()
    await library.knowledge.knowledge_save_config(replace(config, auto_extract=False), actor=USER)
    stored: Any = await library.settings.raw(KEY)
    assert (stored["of_tomorrow"], stored["min_messages"], stored["auto_extract"]) == ({"deep": [1]}, 9, False)


async def test_a_bad_config_is_refused_and_the_old_one_stands(library: Library) -> None:
    await library.knowledge.knowledge_save_config(OTHER, actor=USER)
    with pytest.raises(InvalidInput) as refused:
        await library.knowledge.knowledge_save_config(replace(OTHER, idle_timeout_ms=1), actor=USER)
    assert refused.value.field == "idle_timeout_ms"
    assert await library.knowledge.knowledge_get_config() == OTHER


async def test_one_field_is_changed_without_touching_what_another_process_changed(home: Path) -> None:
    async with open_library(home) as window, open_library(home) as command:
        await window.knowledge.knowledge_get_config()
        await command.knowledge.knowledge_change_config({"min_messages": 9}, actor=USER)
        await window.knowledge.knowledge_change_config({"auto_inject": False}, actor=USER)
        assert await window.knowledge.knowledge_get_config() == KnowledgeConfig(min_messages=9, auto_inject=False)


async def test_a_setting_another_process_saved_is_read_anew(home: Path) -> None:
    async with open_library(home) as window, open_library(home) as command:
        assert await window.settings.get("appearance") == {}
        await command.settings.save("appearance", {"theme": "dark"})
        changes = await window.db.foreign_changes()
        assert changes is not None
        window.hub.publish(changes)
        assert await window.settings.get("appearance") == {"theme": "dark"}


async def test_settings_of_a_group_are_updated_together_and_others_left_alone(library: Library) -> None:
    await library.settings.save("appearance", {"theme": "dark", "language": "en"})
    assert await library.settings.update("appearance", theme="light") == {"theme": "light", "language": "en"}
    assert await library.settings.get("network") == {}
    assert await library.settings.groups() == ("appearance",)
