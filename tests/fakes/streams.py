"""Streams as servers really send them, small: each with the events it means, or the failure.

The shapes are those of the servers' documentation and of what they were seen to send; the words are ours.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from devflow.domain.request import (
    CallChunk,
    FinishReason,
    ReasoningChunk,
    StreamEnd,
    StreamEvent,
    TextChunk,
    UsageChunk,
)
from devflow.providers.failures import ContextOverflow, CutArguments, NoFinish, StreamCut, WireFailure


@dataclass(frozen=True)
class Stream:
    """`body` uses `\\n`. Texts are compared joined. A wire id of `*` in the expectation means "one of ours"."""

    name: str
    body: str
    events: tuple[StreamEvent, ...] = ()
    failure: type[WireFailure] | None = None
    words: str = ""


def data(value: object) -> str:
    return f"data: {json.dumps(value, ensure_ascii=False)}\n\n"


def chunk(delta: dict[str, Any] | None = None, finish: str | None = None, **more: Any) -> str:
    return data(
        {
            "object": "chat.completion.chunk",
            "choices": [{"index": 0, "delta": delta or {}, "finish_reason": finish}],
            **more,
        }
    )


def call(**piece: Any) -> dict[str, Any]:
    """A delta with one piece of a tool call: `name` and `arguments` go into the function."""
    function = {key: piece.pop(key) for key in ("name", "arguments") if key in piece}
    return {"tool_calls": [{**piece, **({"function": function} if function else {})}]}


DONE = "data: [DONE]\n\n"
STOP = StreamEnd(FinishReason.STOP, "stop")
CALLS = StreamEnd(FinishReason.TOOL_CALLS, "tool_calls")

STREAMS = (
    Stream(
        "plain text with usage in a chunk of its own",
        chunk({"role": "assistant", "content": ""})
        + chunk({"content": "写事务"})
        + chunk({"content": " takes the lock 🔒."})
        + chunk({}, "stop")
        + data({"choices": [], "usage": {"prompt_tokens": 12, "completion_tokens": 5}})
        + DONE,
        (TextChunk("写事务 takes the lock 🔒."), UsageChunk(12, 5), STOP),
    ),
    Stream(
        "comments and a byte order mark",
        "\ufeff: connected\n\n: keep-alive\n\n"
        + chunk({"content": "a"})
        + ":\n\n"
        + chunk({"content": "b"}, "stop")
        + DONE,
        (TextChunk("ab"), STOP),
    ),
    Stream(
        "no [DONE] and no blank line at the end",
        chunk({"content": "whole"}) + chunk({}, "stop").rstrip("\n"),
        (TextChunk("whole"), STOP),
    ),
    Stream(
        "data without a space, id and retry lines, several data lines",
        "id: 7\nretry: 100\nevent: message\n"
        'data:{"choices":[{"delta":\ndata:{"content":"x"},"finish_reason":"stop"}]}\n\n' + DONE,
        (TextChunk("x"), STOP),
    ),
    Stream(
        "usage in the choice, cumulative",
        chunk({"content": "a"}, usage={"prompt_tokens": 3, "completion_tokens": 1})
        + data(
            {
                "choices": [
                    {
                        "delta": {"content": "b"},
                        "finish_reason": "stop",
                        "usage": {"prompt_tokens": 3, "completion_tokens": 2},
                    }
                ]
            }
        )
        + DONE,
        (TextChunk("ab"), UsageChunk(3, 2), STOP),
    ),
    Stream(
        "reasoning_content",
        chunk({"reasoning_content": "hm, "})
        + chunk({"reasoning_content": "yes"})
        + chunk({"content": "42"})
        + chunk({}, "stop")
        + DONE,
        (ReasoningChunk("hm, yes"), TextChunk("42"), STOP),
    ),
    Stream(
        "reasoning, and both names at once",
        chunk({"reasoning": "a", "reasoning_content": "a"})
        + chunk({"reasoning": "b"})
        + chunk({"content": "c"}, "stop")
        + DONE,
        (ReasoningChunk("ab"), TextChunk("c"), STOP),
    ),
    Stream(
        "thinking left in the text",
        chunk({"content": "<th"})
        + chunk({"content": "ink>so "})
        + chunk({"content": "it is</thi"})
        + chunk({"content": "nk>\n\n"})
        + chunk({"content": "Yes: <think> is a tag."}, "stop")
        + DONE,
        (ReasoningChunk("so it is"), TextChunk("Yes: <think> is a tag."), STOP),
    ),
    Stream(
        "content in parts",
        chunk({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "so"}]}]})
        + chunk({"content": [{"type": "text", "text": "yes"}]}, "stop")
        + DONE,
        (ReasoningChunk("so"), TextChunk("yes"), STOP),
    ),
    Stream(
        "a tool call in pieces",
        chunk(call(index=0, id="call_1", type="function", name="read_file", arguments=""))
        + chunk(call(index=0, arguments='{"pa'))
        + chunk(call(index=0, arguments='th": "a.txt"}'))
        + chunk({}, "tool_calls")
        + DONE,
        (CallChunk("call_1", "read_file", '{"path": "a.txt"}'), CALLS),
    ),
    Stream(
        "parallel calls, interleaved by index",
        chunk(call(index=0, id="a", name="read_file", arguments='{"path"'))
        + chunk(call(index=1, id="b", name="list_dir", arguments='{"path"'))
        + chunk(call(index=0, arguments=': "x"}'))
        + chunk(call(index=1, arguments=': "y"}'))
        + chunk({}, "tool_calls")
        + DONE,
        (CallChunk("a", "read_file", '{"path": "x"}'), CallChunk("b", "list_dir", '{"path": "y"}'), CALLS),
    ),
    Stream(
        "parallel calls that all have the index 0",
        chunk(call(index=0, id="a", name="read_file", arguments='{"path": "x"}'))
        + chunk(call(index=0, id="b", name="read_file", arguments='{"path": "y"}'))
        + chunk({}, "stop")
        + DONE,
        (
            CallChunk("a", "read_file", '{"path": "x"}'),
            CallChunk("b", "read_file", '{"path": "y"}'),
            StreamEnd(FinishReason.TOOL_CALLS, "stop"),
        ),
    ),
    Stream(
        "no index, the id repeated in each piece",
        chunk(call(id="a", name="read_file", arguments='{"path"'))
        + chunk(call(id="a", arguments=': "x"}'))
        + chunk(call(id="b", name="list_dir", arguments="{}"))
        + chunk({}, "tool_calls")
        + DONE,
        (CallChunk("a", "read_file", '{"path": "x"}'), CallChunk("b", "list_dir", "{}"), CALLS),
    ),
    Stream(
        "neither index nor id",
        chunk(call(name="read_file", arguments='{"path"'))
        + chunk(call(arguments=': "x"}'))
        + chunk({}, "tool_calls")
        + DONE,
        (CallChunk("*", "read_file", '{"path": "x"}'), CALLS),
    ),
    Stream(
        "empty ids and one id for two calls",
        chunk(call(index=0, id="", name="list_dir", arguments="{}"))
        + chunk(call(index=1, id="same", name="list_dir", arguments="{}"))
        + chunk(call(index=2, id="same", name="list_dir", arguments="{}"))
        + chunk({}, "tool_calls")
        + DONE,
        (
            CallChunk("*", "list_dir", "{}"),
            CallChunk("same", "list_dir", "{}"),
            CallChunk("*", "list_dir", "{}"),
            CALLS,
        ),
    ),
    Stream(
        "arguments as an object, encoded twice, null and absent",
        chunk(call(index=0, id="a", name="t", arguments={"path": "x"}))
        + chunk(call(index=1, id="b", name="t", arguments='"{\\"path\\": \\"y\\"}"'))
        + chunk(call(index=2, id="c", name="t", arguments=None))
        + chunk(call(index=3, id="d", name="t"))
        + chunk({}, "tool_calls")
        + DONE,
        (
            CallChunk("a", "t", '{"path": "x"}'),
            CallChunk("b", "t", '{"path": "y"}'),
            CallChunk("c", "t", "{}"),
            CallChunk("d", "t", "{}"),
            CALLS,
        ),
    ),
    Stream(
        "arguments sent whole once more at the end",
        chunk(call(index=0, id="a", name="t", arguments='{"path": "x"}'))
        + chunk(call(index=0, arguments='{"path": "x"}'))
        + chunk({}, "tool_calls")
        + DONE,
        (CallChunk("a", "t", '{"path": "x"}'), CALLS),
    ),
    Stream(
        "whole arguments that are no JSON go to the tool's own check",
        chunk(call(index=0, id="a", name="t", arguments="{'path': 1}")) + chunk({}, "tool_calls") + DONE,
        (CallChunk("a", "t", "{'path': 1}"), CALLS),
    ),
    Stream(
        "the name in pieces",
        chunk(call(index=0, id="a", name="read_"))
        + chunk(call(index=0, name="file"))
        + chunk(call(index=0, arguments="{}"))
        + chunk({}, "tool_calls")
        + DONE,
        (CallChunk("a", "read_file", "{}"), CALLS),
    ),
    Stream(
        "the old function_call",
        chunk({"function_call": {"name": "t", "arguments": '{"a"'}})
        + chunk({"function_call": {"arguments": ": 1}"}})
        + chunk({}, "function_call")
        + DONE,
        (CallChunk("*", "t", '{"a": 1}'), StreamEnd(FinishReason.TOOL_CALLS, "function_call")),
    ),
    Stream(
        "a complete call without a finish reason is a tool turn",
        chunk(call(index=0, id="a", name="t", arguments="{}")) + DONE,
        (CallChunk("a", "t", "{}"), StreamEnd(FinishReason.TOOL_CALLS, "")),
    ),
    Stream(
        "cut inside the arguments",
        chunk(call(index=0, id="a", name="write_file", arguments='{"path": "a", "content": "half'))
        + chunk({}, "tool_calls")
        + DONE,
        failure=CutArguments,
        words="write_file",
    ),
    Stream(
        "length inside the arguments of the second call",
        chunk(call(index=0, id="a", name="t", arguments="{}"))
        + chunk(call(index=1, id="b", name="t", arguments='{"a": [1'))
        + chunk({}, "length")
        + DONE,
        failure=CutArguments,
    ),
    Stream(
        "the limit of tokens",
        chunk({"content": "and then"}) + chunk({}, "length") + DONE,
        (TextChunk("and then"), StreamEnd(FinishReason.LENGTH, "length")),
    ),
    Stream(
        "a refusal",
        chunk({"refusal": "I cannot "}) + chunk({"refusal": "do that."}) + chunk({}, "stop") + DONE,
        (TextChunk("I cannot do that."), StreamEnd(FinishReason.REFUSED, "stop")),
    ),
    Stream(
        "a filter",
        chunk({"content": "It"}) + chunk({}, "sensitive") + DONE,
        (TextChunk("It"), StreamEnd(FinishReason.REFUSED, "sensitive")),
    ),
    Stream(
        "an unknown finish reason",
        chunk({"content": "It"}) + chunk({}, "eos_token") + DONE,
        (TextChunk("It"), StreamEnd(FinishReason.STOP, "eos_token")),
    ),
    Stream(
        "the server's network failed",
        chunk({"content": "It"}) + chunk({}, "network_error") + DONE,
        failure=StreamCut,
        words="network_error",
    ),
    Stream(
        "the window was exceeded",
        chunk({"content": "It"}) + chunk({}, "model_context_window_exceeded"),
        failure=ContextOverflow,
    ),
    Stream(
        "an error object mid-stream",
        chunk({"content": "It"}) + data({"error": {"message": "slot was evicted", "code": 500}}),
        failure=StreamCut,
        words="slot was evicted",
    ),
    Stream(
        "an error as plain text", chunk({"content": "It"}) + data({"error": "boom"}), failure=StreamCut, words="boom"
    ),
    Stream(
        "an error event without data of its own kind",
        chunk({"content": "It"}) + 'event: error\ndata: {"code": "Throttled", "message": "slow down"}\n\n',
        failure=StreamCut,
        words="slow down",
    ),
    Stream(
        "an error as a bare JSON line",
        chunk({"content": "It"}) + '{"error": {"message": "out of memory"}}\n',
        failure=StreamCut,
        words="out of memory",
    ),
    Stream(
        "an error in the choice",
        data({"choices": [{"delta": {}, "error": {"message": "upstream is gone"}}]}),
        failure=StreamCut,
        words="upstream is gone",
    ),
    Stream("text without a finish reason", chunk({"content": "Half an ans"}), failure=NoFinish),
    Stream("[DONE] without a finish reason", chunk({"content": "Half an ans"}) + DONE, failure=NoFinish),
    Stream("nothing at all", "", failure=NoFinish),
    Stream("only comments", ": ping\n\n: ping\n\n", failure=NoFinish),
    Stream(
        "junk between the chunks is passed over",
        "data: not json\n\ndata: 17\n\nevent: ping\ndata: {}\n\n"
        + data({"choices": None})
        + data({"choices": [None, 3]})
        + chunk({"content": "fine", "unknown": 1})
        + chunk(None, "stop")
        + DONE,
        (TextChunk("fine"), STOP),
    ),
    Stream(
        "a whole message in one chunk",
        data({"choices": [{"message": {"role": "assistant", "content": "all"}, "finish_reason": "stop"}]}) + DONE,
        (TextChunk("all"), STOP),
    ),
)
