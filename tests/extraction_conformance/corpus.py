"""Answers of the kinds that models really give, each with the titles it holds; the words are ours."""

from __future__ import annotations

_FIRST = (
    '{"kind": "pitfall", "title": "Take the write lock first", "content": "Begin write transactions with BEGIN '
    'IMMEDIATE.", "tags": ["sqlite"], "confidence": 0.8, "evidence": "BEGIN IMMEDIATE avoids SQLITE_BUSY"}'
)
_SECOND = (
    '{"kind": "review_rule", "title": "写事务先取锁", "content": "写事务以 BEGIN IMMEDIATE 开始。", "tags": [], '
    '"confidence": 0.7, "evidence": "写事务一开始就要取写锁"}'
)
BOTH = ("Take the write lock first", "写事务先取锁")

CORPUS: dict[str, tuple[str, tuple[str, ...]]] = {
    "strict mode": (f'{{"items":[{_FIRST},{_SECOND}]}}', BOTH),
    "strict mode, nothing found": ('{"items":[]}', ()),
    "a thinking model": (
        (
            "<think>\nOkay, the user asks about locks. The JSON should have items like [{...}].\n</think>\n\n"
            f'```json\n{{"items": [{_FIRST}, {_SECOND}]}}\n```'
        ),
        BOTH,
    ),
    "a thinking model whose server ate the beginning": (
        f"so I should return {{items}} with two.\n</think>\n[{_FIRST}, {_SECOND}]",
        BOTH,
    ),
    "a chatty small model": (
        (
            "Sure! Based on the conversation, here are the candidates:\n\n"
            f"**1.**\n```json\n{_FIRST}\n```\n\n**2.**\n```json\n{_SECOND}\n```\n\nLet me know if you'd like more!"
        ),
        BOTH,
    ),
    "a chatty model in Chinese": (f"好的，以下是提炼结果：\n\n[{_FIRST},\n{_SECOND},]\n\n以上内容仅供参考。", BOTH),
    "a base model that goes on and on": (
        f"[{_FIRST}, {_SECOND}]\n\nUser: thanks\nAssistant: you are welcome {{smile}}\n[end]",
        BOTH,
    ),
    "cut at the output limit": (f'{{"items": [{_FIRST}, {_SECOND[:-70]}', BOTH[:1]),
    "an explanation instead": ("There is nothing in this conversation that is worth keeping.", ()),
    "an apology instead": ("很抱歉，我无法完成这个请求。", ()),
    "the schema sent back": (
        (
            '{"type": "object", "properties": {"items": {"type": "array", "items": {"type": "object", "properties": '
            '{"kind": {"type": "string"}, "title": {"type": "string"}}}}}, "required": ["items"]}'
        ),
        (),
    ),
    "the example sent back": (
        '{"items": [{"kind": "pitfall", "title": "…", "content": "…", "confidence": 0.5, "evidence": "…"}]}',
        (),
    ),
    "a tool call written as text": (
        f'<tool_call>\n{{"name": "save", "arguments": {{"items": [{_FIRST}, {_SECOND}]}}}}\n</tool_call>',
        BOTH,
    ),
    "YAML": ("items:\n  - kind: pitfall\n    title: Take the write lock first\n", ()),
    "a table": ("| kind | title |\n|---|---|\n| pitfall | Take the write lock first |", ()),
    "what the library said, as if it were found": (
        '[{"kind": "pitfall", "title": "From the library", "content": "c", "evidence": "what an injected entry says"}]',
        (),
    ),
}
