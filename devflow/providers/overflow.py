"""What a server's refusal of a too long request tells of its window, and of how long the request really was."""

from __future__ import annotations

import re
from dataclasses import dataclass

_NUMBER = r"(\d[\d,]{0,11})"
_WINDOW = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf'"n_ctx"\s*:\s*{_NUMBER}',  # llama.cpp
        rf"available context size \({_NUMBER} tokens",
        rf"context length (?:is|of)(?: only)? {_NUMBER}",  # OpenAI and its kin, vLLM, LM Studio
        rf"> {_NUMBER}(?: maximum|, decrease)",  # Anthropic
        rf"maximum number of tokens allowed \({_NUMBER}\)",  # Gemini
        rf"input length should be \[\d+, ?{_NUMBER}\]",  # DashScope
        rf"token limit: {_NUMBER}",  # Moonshot
    )
)
_SENT = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf'"n_prompt_tokens"\s*:\s*{_NUMBER}',
        rf"request \({_NUMBER} tokens\) exceeds",
        rf"\({_NUMBER} (?:of text input|in (?:the|your) (?:messages|prompt))",
        rf"(?:resulted in|you requested(?: about)?|your request has) {_NUMBER} (?:input )?tokens",
        rf"too long: {_NUMBER} tokens",
        rf"context limit: {_NUMBER} \+",
        rf"input token count \({_NUMBER}\)",
        rf"\(requested: {_NUMBER}\)",
    )
)
_BELIEVED = range(128, 100_000_000)


@dataclass(frozen=True, slots=True)
class Limits:
    """In the model's own tokens; None where the server does not say."""

    window: int | None = None
    sent: int | None = None


def limits_in(body: str) -> Limits:
    """Read them out of an error body or a server's words; numbers that no window can have count as not said."""
    return Limits(_first(_WINDOW, body), _first(_SENT, body))


def _first(patterns: tuple[re.Pattern[str], ...], text: str) -> int | None:
    for pattern in patterns:
        for found in pattern.finditer(text[:20_000]):
            number = int(found[1].replace(",", ""))
            if number in _BELIEVED:
                return number
    return None
