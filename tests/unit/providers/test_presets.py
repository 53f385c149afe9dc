from pathlib import Path

from devflow.providers.context import table_window
from devflow.providers.presets import CUSTOM, context_windows, preset, presets
from devflow.providers.urls import parse

RESOURCES = Path(__file__).parents[3] / "resources"


def test_every_preset_has_an_address_that_can_be_used() -> None:
    known = presets(RESOURCES)
    assert [one.id for one in known][-1] == CUSTOM
    for one in known[:-1]:
        assert parse(one.base_url).endpoint(one.adapter).startswith(f"{one.base_url}/")
        assert one.name
        assert one.is_local == (one.key != "required")


def test_an_unknown_preset_counts_as_custom() -> None:
    assert preset(RESOURCES, "of a newer version").id == CUSTOM


def test_the_table_knows_a_model_by_the_longest_beginning_of_its_name() -> None:
    table = context_windows(RESOURCES)
    assert table_window(table, "gpt-4o-2024-11-20") == table["gpt-4o"]
    assert table_window(table, "deepseek-ai/DeepSeek-V3.1") == table["deepseek-v3"]
    assert table_window(table, "glm-4.6-air") == table["glm-4.6"]
    assert table_window(table, "my-own-model") is None
