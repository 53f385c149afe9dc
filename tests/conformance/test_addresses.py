"""Every form of every preset's address leads to its endpoint, or is refused."""

from __future__ import annotations

import pytest

from devflow.providers.presets import presets
from tests.conformance.addresses import ENDPOINTS, RESOURCES, Case, cases, endpoint


@pytest.mark.parametrize("case", cases(), ids=str)
def test_a_form_of_an_address_leads_to_the_endpoint(case: Case) -> None:
    assert case.found == case.expected


def test_every_preset_has_its_endpoint_in_the_table() -> None:
    assert {one.id for one in presets(RESOURCES)} == ENDPOINTS.keys()
    for one in presets(RESOURCES):
        if one.base_url:
            assert endpoint(one.base_url, one.adapter) == ENDPOINTS[one.id]
