"""Every form of every preset's address leads to its endpoint, or is refused."""

from __future__ import annotations

import pytest

from devflow.providers.presets import presets
from devflow.providers.urls import preview
from tests.conformance.addresses import ENDPOINTS, Case, cases
from tests.conformance.replay import RESOURCES


@pytest.mark.parametrize("case", cases(), ids=str)
def test_a_form_of_an_address_leads_to_the_endpoint(case: Case) -> None:
    assert case.found == case.expected


def test_every_preset_has_its_endpoint_in_the_table() -> None:
    for one in presets(RESOURCES):
        full = ENDPOINTS[one.id, one.adapter]
        assert not one.base_url or preview(one.base_url, one.adapter) == full
