from datetime import UTC, datetime

import pytest

from devflow.providers import failures
from devflow.providers.retry import Retry, retry_after

BUSY = failures.from_status(503, b"", server="S", model="m")
DEAD = failures.unreachable("S", "http://127.0.0.1:1", "Connection refused")


def test_pauses_grow_with_full_jitter_and_end_after_three_tries() -> None:
    longest = Retry(random=lambda: 1.0)
    assert [longest.pause(n, BUSY, loopback=False) for n in (1, 2, 3, 4)] == [0.5, 1.0, 2.0, None]
    assert Retry(random=lambda: 0.0).pause(3, BUSY, loopback=False) == 0.0
    assert Retry(base=10, random=lambda: 1.0).pause(3, BUSY, loopback=False) == 8.0


def test_what_will_not_pass_by_itself_is_not_tried_again() -> None:
    assert Retry().pause(1, failures.from_status(401, b"", server="S", model="m"), loopback=False) is None


def test_a_servers_wish_is_honoured_up_to_a_minute() -> None:
    def limited(seconds: float) -> failures.WireFailure:
        return failures.from_status(429, b"{}", server="S", model="m", retry_after=seconds)

    assert Retry().pause(1, limited(7), loopback=False) == 7
    assert Retry().pause(1, limited(60), loopback=False) == 60
    assert Retry().pause(1, limited(61), loopback=False) is None


def test_a_dead_server_on_this_machine_is_reported_after_one_more_try() -> None:
    assert Retry().pause(1, DEAD, loopback=True) == 0.0
    assert Retry().pause(2, DEAD, loopback=True) is None
    assert Retry(random=lambda: 1.0).pause(2, DEAD, loopback=False) == 1.0


@pytest.mark.parametrize(
    "headers, seconds",
    [
        ({}, None),
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after": "-4"}, 0.0),
        ({"retry-after-ms": "250"}, 0.25),
        ({"retry-after": "Mon, 30 Nov 2026 12:00:30 GMT"}, 30.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
    ],
)
def test_retry_after_is_a_number_or_a_date(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)) == seconds
