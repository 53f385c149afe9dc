"""The list of what a stream adapter must survive (spec 03, Providers), and which protocols can meet each item.

Every pair has at least one fixture; `test_streams.py` holds the folders against this list. CRLF is no item: every
fixture is replayed with it.
"""

from __future__ import annotations

_ALL = ("openai", "anthropic", "ollama")
_SSE = ("openai", "anthropic")

ITEMS: dict[str, tuple[str, ...]] = {
    # the stream
    "comments": _SSE,
    "keep-alives do not reset the watchdog": _ALL,
    "time to the first event, time between events": _ALL,
    "byte order mark": _ALL,
    "characters split across chunks": _ALL,
    "last event without its blank line": _ALL,
    "no [DONE]": ("openai",),
    "error without an event name": _SSE,
    "error event": _SSE,
    "huge event": _ALL,
    "200 with a JSON error body": _ALL,
    "error mid-stream": _ALL,
    "end without a finish reason": _ALL,
    "connection cut": _ALL,
    # tool calls
    "slot by index": ("openai", "anthropic"),
    "slot by new id": ("openai",),
    "current slot": ("openai",),
    "ids missing": _ALL,
    "ids empty": _ALL,
    "ids repeated in each chunk": ("openai",),
    "ids duplicate": _ALL,
    "arguments as text": _ALL,
    "arguments as an object": _ALL,
    "arguments double-encoded": ("openai", "ollama"),
    "arguments empty": _ALL,
    "finish stop with complete calls": _ALL,
    "no finish reason with complete calls": _ALL,
    "cut inside the arguments": _ALL,
    "parallel calls": _ALL,
    # fields
    "choices: []": ("openai",),
    "usage chunk": ("openai",),
    "choices[0].usage": ("openai",),
    "cumulative usage": ("openai", "anthropic"),
    "usage": _ALL,
    "reasoning_content": ("openai",),
    "reasoning": ("openai",),
    "thinking": ("anthropic", "ollama"),
    "thinking in the text": ("openai", "ollama"),
    "signatures": ("anthropic",),
    "redacted thinking": ("anthropic",),
    "refusal": _SSE,
    "sensitive": ("openai",),
    "network_error": ("openai",),
    "model_context_window_exceeded": ("openai", "anthropic"),
    "pause_turn": ("anthropic",),
    "ping": ("anthropic",),
    "unknown types": _ALL,
    "done_reason": ("ollama",),
    "no done": ("ollama",),
    "limit of tokens": _ALL,
    # failures before the first token
    "error before the first token": _ALL,
    "error status": _ALL,
    "not a model server": _ALL,
}
