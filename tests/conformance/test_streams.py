"""Every fixture means the same however its bytes come; the specification's list is covered."""

from __future__ import annotations

import pytest

from devflow.providers.sse import Patience
from tests.conformance.fixture import PROTOCOLS, Fixture, fixtures
from tests.conformance.items import ITEMS
from tests.conformance.replay import at_every_byte, whole, with_crlf

ALL = fixtures()


@pytest.mark.parametrize("fixture", ALL, ids=str)
async def test_a_stream_comes_whole_over_a_socket(fixture: Fixture) -> None:
    assert await whole(fixture) == ""


@pytest.mark.parametrize("fixture", ALL, ids=str)
async def test_a_stream_means_the_same_split_at_every_byte(fixture: Fixture) -> None:
    assert await at_every_byte(fixture) == ""


@pytest.mark.parametrize("fixture", ALL, ids=str)
async def test_a_stream_means_the_same_with_crlf(fixture: Fixture) -> None:
    assert await with_crlf(fixture) == ""


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_item_of_the_list_has_a_fixture(protocol: str) -> None:
    shown = {item for fixture in fixtures(protocol) for item in fixture.items}
    asked = {item for item, protocols in ITEMS.items() if protocol in protocols}
    assert asked - shown == set()
    assert shown - ITEMS.keys() == set()


def test_a_server_has_ten_minutes_to_the_first_event_and_one_between_two() -> None:
    """Fixtures set both; these are the values without that."""
    assert Patience() == Patience(first=600.0, between=60.0)


def test_a_failed_stream_runs_nothing() -> None:
    """No fixture that fails expects a call: what was not said whole is not handed on."""
    assert [str(fixture) for fixture in ALL if fixture.fails and "call" in fixture.outcome.split(", ")[:-1]] == []
