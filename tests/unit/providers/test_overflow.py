"""How servers say that a request is too long, and what their sentences tell of window and request."""

import json

import pytest

from devflow.providers import failures
from devflow.providers.failures import ContextOverflow, from_status
from devflow.providers.overflow import Limits, limits_in


@pytest.mark.parametrize(
    "error, window, sent",
    [
        (
            {
                "code": 400,
                "message": "the request exceeds the available context size, try increasing it",
                "type": "exceed_context_size_error",
                "n_prompt_tokens": 5012,
                "n_ctx": 2048,
            },
            2048,
            5012,
        ),
        ("request (5012 tokens) exceeds the available context size (2048 tokens), try increasing it", 2048, 5012),
        (
            "This model's maximum context length is 8,192 tokens. However, your messages resulted in 9001 tokens.",
            8192,
            9001,
        ),
        (
            (
                "This model's maximum context length is 4096 tokens. However, you requested 5200 tokens "
                "(4200 in the messages, 1000 in the completion)."
            ),
            4096,
            4200,
        ),
        (
            "This model's maximum context length is 4096 tokens. However, your request has 5000 input tokens.",
            4096,
            5000,
        ),
        (
            (
                "This endpoint's maximum context length is 131072 tokens. However, you requested about 160012 tokens "
                "(150012 of text input, 10000 in the output)."
            ),
            131072,
            150012,
        ),
        ("prompt is too long: 208310 tokens > 200000 maximum", 200000, 208310),
        (
            "input length and `max_tokens` exceed context limit: 198000 + 8192 > 200000, decrease input length",
            200000,
            198000,
        ),
        (
            "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
            1048576,
            1200000,
        ),
        ("Range of input length should be [1, 30720]", 30720, None),
        ("Invalid request: Your request exceeded model token limit: 8192 (requested: 9000)", 8192, 9000),
        (
            (
                "Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with "
                "context length of only 4096 tokens."
            ),
            4096,
            None,
        ),
        ("Prompt exceeds max length", None, None),
        ("the input length exceeds the context length", None, None),
    ],
)
def test_a_refusal_for_its_length_is_known_as_one_and_its_numbers_are_read(
    error: object, window: int | None, sent: int | None
) -> None:
    body = json.dumps({"error": error if isinstance(error, dict) else {"message": error}}).encode()
    refusal = from_status(400, body, server="Server", model="m")
    assert isinstance(refusal, ContextOverflow)
    assert refusal.limits == Limits(window, sent)
    assert "too long for m" in str(refusal)
    assert refusal.hint


def test_the_numbers_are_read_from_an_error_in_the_stream_too() -> None:
    refusal = failures.from_error_object(
        {"message": "context size exceeded", "n_ctx": 4096}, server="s", model="m", midway=True
    )
    assert isinstance(refusal, ContextOverflow)
    assert refusal.limits == Limits(4096, None)


@pytest.mark.parametrize("words", ["context length is 3 tokens", "maximum context length is 99999999999 tokens", ""])
def test_a_number_that_no_window_can_have_is_not_believed(words: str) -> None:
    assert limits_in(words) == Limits(None, None)
