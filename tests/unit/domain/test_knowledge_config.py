"""`KnowledgeConfig`, read field by field (spec 01, Config)."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devflow.domain.config import FIELDS, KnowledgeConfig, TriggerMode, check, check_field, read, write
from devflow.domain.errors import InvalidInput

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


def test_the_defaults_are_the_seeds() -> None:
    assert KnowledgeConfig() == KnowledgeConfig(
        auto_extract=True,
        trigger_mode=TriggerMode.ON_COMPLETE,
        min_messages=4,
        idle_timeout_ms=30_000,
        auto_inject=True,
        vector_enabled=False,
        embedding_provider_id=None,
        embedding_model=None,
    )


def test_nothing_stored_is_the_defaults_without_a_complaint() -> None:
    found = read(None)
    assert (found.config, dict(found.unknown), found.problems) == (KnowledgeConfig(), {}, ())


def test_a_field_that_cannot_be_read_takes_its_default_and_the_others_stand() -> None:
    found = read({"min_messages": "many", "auto_inject": False, "trigger_mode": "on_moon", "idle_timeout_ms": 1500})
    assert found.config == KnowledgeConfig(auto_inject=False, idle_timeout_ms=1500)
    assert [problem.partition(":")[0] for problem in found.problems] == ["trigger_mode", "min_messages"]


def test_the_fields_of_a_newer_version_are_kept_when_it_is_written() -> None:
    found = read({"auto_extract": False, "of_tomorrow": {"deep": [1]}})
    assert write(found.config, found.unknown) == {
        "of_tomorrow": {"deep": [1]},
        "auto_extract": False,
        "trigger_mode": "on_complete",
        "min_messages": 4,
        "idle_timeout_ms": 30_000,
        "auto_inject": True,
        "vector_enabled": False,
        "embedding_provider_id": None,
        "embedding_model": None,
    }


@pytest.mark.parametrize(
    "name,bad",
    [
        ("auto_extract", 1),
        ("auto_inject", "true"),
        ("vector_enabled", None),
        ("trigger_mode", "sometimes"),
        ("min_messages", 0),
        ("min_messages", 4.0),
        ("min_messages", True),
        ("idle_timeout_ms", 999),
        ("idle_timeout_ms", 86_400_001),
        ("embedding_model", ""),
        ("embedding_provider_id", 7),
        ("no_such_field", 1),
    ],
)
def test_a_bad_value_is_refused_by_its_fields_name(name: str, bad: Any) -> None:
    with pytest.raises(InvalidInput) as refused:
        check_field(name, bad)
    assert refused.value.field == name


def test_a_config_is_checked_before_it_is_saved() -> None:
    with pytest.raises(InvalidInput) as refused:
        check(KnowledgeConfig(min_messages=0))
    assert refused.value.field == "min_messages"
    assert check(KnowledgeConfig(min_messages=1)) == KnowledgeConfig(min_messages=1)


@given(JSON | st.dictionaries(st.sampled_from([*FIELDS, "other"]), JSON))
def test_whatever_is_stored_gives_a_valid_config(raw: Any) -> None:
    found = read(raw)
    assert check(found.config) == found.config
    assert read(write(found.config, found.unknown)).config == found.config
