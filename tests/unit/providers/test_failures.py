import json

import pytest

from devflow.domain.errors import ProviderFailed
from devflow.providers import failures
from devflow.providers.failures import from_status, words_of


def failure(status: int, body: object, **more: object) -> failures.WireFailure:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return from_status(status, raw, server="Server", model="big", **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "status, body, kind",
    [
        (401, {"error": {"message": "bad key"}}, failures.KeyRefused),
        (403, {"message": "not for you"}, failures.KeyRefused),
        (402, {"error": {"message": "Insufficient Balance"}}, failures.NoCredit),
        (429, {"error": {"message": "You exceeded your quota", "code": "insufficient_quota"}}, failures.NoCredit),
        (429, {"error": {"message": "slow down"}}, failures.RateLimited),
        (404, {"error": {"message": "model 'big' not found"}}, failures.ModelMissing),
        (404, b"<html><head><title>404 Not Found</title></head></html>", failures.BadRequest),
        (400, {"error": {"code": "context_length_exceeded", "message": "too long"}}, failures.ContextOverflow),
        (400, {"error": {"type": "exceed_context_size_error", "message": "n_ctx"}}, failures.ContextOverflow),
        (400, {"error": {"message": "This model's maximum context length is 8192 tokens."}}, failures.ContextOverflow),
        (413, {"error": {"message": "prompt is too long: 9 > 8"}}, failures.ContextOverflow),
        (400, {"error": "bad"}, failures.BadRequest),
        (500, b"", failures.ServerError),
        (503, {"error": {"message": "Loading model"}}, failures.ServerError),
        (529, {"error": {"type": "overloaded_error"}}, failures.ServerError),
    ],
)
def test_a_status_and_its_body_say_what_failed(status: int, body: object, kind: type[failures.WireFailure]) -> None:
    found = failure(status, body)
    assert type(found) is kind
    assert isinstance(found, ProviderFailed)
    assert found.hint
    assert "{" not in str(found)


def test_the_servers_own_words_are_shown() -> None:
    assert "the cat sat on the key" in str(
        failure(401, {"error": {"message": "the cat sat on the key."}}, secrets=("k",))
    )
    assert "HTTP 500" in str(failure(500, b""))


def test_a_key_that_the_server_repeats_is_not_shown() -> None:
    said = failure(401, {"error": {"message": "Incorrect API key: sk-abc123"}}, secrets=("sk-abc123",))
    assert "sk-abc123" not in str(said)
    assert "sk-abc123" not in repr(said.params)


def test_without_a_key_a_401_says_that_one_is_wanted() -> None:
    assert "wants a key" in str(failure(401, {"error": "no"}))


@pytest.mark.parametrize(
    "body, words",
    [
        ({"error": {"message": "deep"}}, "deep"),
        ({"error": "flat"}, "flat"),
        ({"message": "m"}, "m"),
        ({"detail": [{"msg": "field required"}, {"msg": "bad"}]}, "field required; bad"),
        ({"code": "InvalidApiKey"}, "InvalidApiKey"),
        ([{"error": {"message": "in a list"}}], "in a list"),
        ({}, ""),
    ],
)
def test_words_are_found_where_servers_put_them(body: object, words: str) -> None:
    assert words_of(json.dumps(body)) == words


def test_words_are_one_short_line_without_control_characters() -> None:
    words = words_of("a\n\n\x1b[31mred\u202e " + "x" * 5000)
    assert len(words) <= 300
    assert words.isprintable()


def test_only_what_may_pass_by_itself_is_transient() -> None:
    assert failure(503, {}).transient
    assert failure(429, {"error": "slow down"}).transient
    assert not failure(401, {}).transient
    assert not failure(400, {"error": "context length"}).transient


@pytest.mark.parametrize("midway", [True, False])
def test_half_a_character_in_an_error_is_no_failure_of_ours(midway: bool) -> None:
    told = failures.from_error_object("broken \ud83d", server="Server", model="big", midway=midway)
    assert str(told.params["words"]).startswith("broken")
