"""How long a batch waits after a rate limit, and what is tried again."""

import time

import pytest

from devflow.digest.backoff import Backoff, Pace
from devflow.domain.errors import ProviderFailed
from devflow.providers.failures import KeyRefused, ModelMissing, RateLimited, ServerError, Silent, StreamCut

SLOW = Pace(base=4.0, cap=120.0, jitter=lambda: 1.0)


def test_each_rate_limit_in_a_row_doubles_the_pause_up_to_the_cap() -> None:
    backoff = Backoff(SLOW)
    for expected in (4, 8, 16, 32, 64, 120, 120):
        backoff.limited(time.monotonic(), None)
        assert expected - 1 < backoff.left <= expected


def test_requests_that_were_under_way_when_the_pause_began_make_it_no_longer() -> None:
    backoff, began = Backoff(SLOW), time.monotonic()
    for _ in range(5):
        backoff.limited(began, None)
    assert backoff.left <= 4


def test_a_success_begins_anew_and_the_servers_own_wish_is_a_minimum() -> None:
    backoff = Backoff(SLOW)
    backoff.limited(time.monotonic(), 30.0)
    assert 29 < backoff.left <= 30
    backoff.passed()
    backoff.limited(time.monotonic(), None)
    assert backoff.left <= 30


async def test_nobody_asks_before_the_pause_is_over() -> None:
    backoff = Backoff(Pace(base=0.05, jitter=lambda: 1.0))
    began = await backoff.turn()
    backoff.limited(began, None)
    assert await backoff.turn() - began >= 0.05
    assert backoff.left == 0


@pytest.mark.parametrize(
    "failure,limited,failed,again",
    [
        (RateLimited("slow", retry_after=1.0), 7, 0, True),
        (RateLimited("slow", retry_after=1.0), 8, 0, False),
        (RateLimited("tomorrow", retry_after=3_600.0), 1, 0, False),
        (ServerError("busy"), 0, 1, True),
        (StreamCut("cut"), 0, 2, True),
        (Silent("silent"), 0, 3, False),
        (KeyRefused("no"), 0, 1, False),
        (ModelMissing("gone"), 0, 1, False),
    ],
)
def test_only_what_may_pass_is_tried_again_and_not_for_ever(
    failure: ProviderFailed, limited: int, failed: int, again: bool
) -> None:
    assert Backoff(SLOW).again(failure, limited, failed) is again
