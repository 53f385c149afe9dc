"""The grammar of faults: what models do to a list of candidates on its way to us, one rule a fault.

A fault takes an `Answer` (the items as the model meant them, and how it writes them down) and returns it broken. It
says itself which items it spoils: every other one is still there, whole, for whoever looks.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

Item = Mapping[str, Any]


@dataclass(frozen=True)
class Answer:
    """`values` is what stands in the list, `spoilt` the places of items that must not come back, `unsure` of those that
    nobody can be sure of (they may come back, but only as they were); `text` once written.
    """

    items: tuple[Item, ...]
    values: tuple[Any, ...]
    spoilt: frozenset[int] = frozenset()
    unsure: frozenset[int] = frozenset()
    text: str = ""


def answer_of(items: Sequence[Item]) -> Answer:
    return Answer(tuple(items), tuple(items))


Fault = Callable[[Answer, random.Random], Answer]


# items: one of them is spoilt, the others are whole ----------------------------------------------


def _spoil(change: Callable[[dict[str, Any], random.Random], Any]) -> Fault:
    def fault(answer: Answer, chance: random.Random) -> Answer:
        place = chance.randrange(len(answer.values))
        if not isinstance(answer.values[place], Mapping) or place in answer.spoilt:
            return answer
        values = list(answer.values)
        values[place] = change(dict(values[place]), chance)
        return replace(answer, values=tuple(values), spoilt=answer.spoilt | {place})

    return fault


def _field(name: str, *wrong: Any) -> Fault:
    return _spoil(lambda item, chance: {**item, name: chance.choice(wrong)})


def _without(item: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    name = chance.choice(["kind", "title", "content", "evidence"])
    return {key: value for key, value in item.items() if key != name}


def _paraphrased(item: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    """The same said in other words, or half of it true."""
    said = item["evidence"]
    other = chance.choice(
        [
            "The assistant recommends doing so in every case.",
            "用户确认了这个做法。",
            f"{said} and therefore it is always so",
            " ".join(reversed(said.split())) if " " in said else said[::-1],
            said.replace(" ", " not ", 1) if " " in said else f"不{said}",
        ]
    )
    return {**item, "evidence": other}


def _beside(extra: Callable[[random.Random], Any]) -> Fault:
    """Something that is no item stands among the items."""

    def fault(answer: Answer, chance: random.Random) -> Answer:
        place = chance.randint(0, len(answer.values))
        values = (*answer.values[:place], extra(chance), *answer.values[place:])
        return replace(answer, values=values, spoilt=frozenset(at + (at >= place) for at in answer.spoilt) | {place})

    return fault


ITEM_FAULTS: dict[str, Fault] = {
    "unknown kind": _field("kind", "anecdote", "踩坑", "", None, 7, "pitfalls and rules"),
    "title of a wrong type": _field("title", None, 7, ["a"], {"text": "t"}, True),
    "empty title": _field("title", "", "   ", "\n"),
    "giant title": _spoil(lambda item, _: {**item, "title": f"{item['title']} " * 60}),
    "content of a wrong type": _field("content", None, 3.5, ["one", "two"], {"text": "t"}),
    "giant content": _spoil(lambda item, _: {**item, "content": f"{item['content']} " * 700}),
    "tags of a wrong type": _field("tags", "sqlite, wal", {"a": 1}, [1, 2], [None], [["x"]]),
    "confidence out of range": _field("confidence", 1.5, -0.1, 95, "high", True, [0.5]),
    "confidence NaN": _field("confidence", float("nan"), float("inf"), "NaN"),
    "field missing": _spoil(_without),
    "evidence paraphrased": _spoil(_paraphrased),
    "evidence of a wrong type": _field("evidence", None, 1, ["a quote"], {"message": 2}),
    "strings in the list": _beside(lambda chance: chance.choice(["Use WAL.", "没有更多了", ""])),
    "nulls in the list": _beside(lambda _: None),
    "numbers in the list": _beside(lambda chance: chance.choice([0, 1.5, True])),
    "empty objects in the list": _beside(lambda _: {}),
}


# writing: how the list becomes text ----------------------------------------------


def _written(write: Callable[[Answer, random.Random], str]) -> Fault:
    return lambda answer, chance: replace(answer, text=write(answer, chance))


def dumped(value: Any, chance: random.Random) -> str:
    return json.dumps(value, ensure_ascii=chance.random() < 0.2, indent=chance.choice([None, 2, 4]))


def _listed(answer: Answer, chance: random.Random) -> str:
    return dumped(list(answer.values), chance)


def _wrapped(answer: Answer, chance: random.Random) -> str:
    names = ["items", "candidates", "result", "data", "output", "知识"]
    value: Any = list(answer.values)
    for _ in range(chance.randint(1, 3)):
        value = {chance.choice(names): value}
        if chance.random() < 0.3:
            value = {"note": "see [1] and {2}", **value}
    return dumped(value, chance)


def _several_arrays(answer: Answer, chance: random.Random) -> str:
    cut = chance.randint(0, len(answer.values))
    parts = [list(answer.values[:cut]), list(answer.values[cut:])]
    return "\n\nAnd from the second message:\n".join(dumped(part, chance) for part in parts if part)


def _quoted_by(open_: str, close: str) -> Fault:
    """Every string between other quotes; a text that holds these quotes itself is spared."""

    def write(answer: Answer, chance: random.Random) -> str:
        def value(of: Any) -> str:
            match of:
                case str():
                    inner = json.dumps(of, ensure_ascii=False)[1:-1].replace('\\"', '"')
                    return f"{open_}{inner}{close}" if not set(inner) & {open_, close, '"'} else json.dumps(of)
                case list() | tuple():
                    return f"[{', '.join(value(each) for each in of)}]"
                case Mapping():
                    return "{" + ", ".join(f"{value(name)}: {value(each)}" for name, each in of.items()) + "}"
                case _:
                    return json.dumps(of)

        return value(list(answer.values))

    return _written(write)


def _as_python(answer: Answer, chance: random.Random) -> str:
    return repr([dict(value) if isinstance(value, Mapping) else value for value in answer.values])


WRITINGS: dict[str, Fault] = {
    "a list": _written(_listed),
    "nested wrappers": _written(_wrapped),
    "JSON lines": _written(lambda answer, _: "\n".join(json.dumps(v, ensure_ascii=False) for v in answer.values)),
    "several arrays": _written(_several_arrays),
    "single quotes": _quoted_by("'", "'"),
    "smart quotes": _quoted_by("“", "”"),
    "a Python literal": _written(_as_python),
    "a JSON string of it": _written(lambda answer, chance: json.dumps(_listed(answer, chance))),
}


# syntax: the text is no JSON any more ----------------------------------------------


def _outside_strings(text: str, change: Callable[[str, int], str | None]) -> str:
    """`change(char, place)` gives what stands for a sign outside of strings, None to leave it."""
    out: list[str] = []
    inside = escaped = False
    for place, char in enumerate(text):
        if inside:
            out.append(char)
            if escaped:
                escaped = False
            elif char == "\\":
                escaped = True
            elif char == '"':
                inside = False
            continue
        inside = char == '"'
        new = change(char, place)
        out.append(char if new is None else new)
    return "".join(out)


def _syntax(change: Callable[[str, random.Random], str]) -> Fault:
    return lambda answer, chance: replace(answer, text=change(answer.text, chance))


def _trailing_commas(text: str, chance: random.Random) -> str:
    return _outside_strings(text, lambda char, _: f",{char}" if char in "]}" and chance.random() < 0.7 else None)


def _comments(text: str, chance: random.Random) -> str:
    comment = chance.choice(["// the items\n", "/* found */", "# found\n"])
    return _outside_strings(
        text, lambda char, _: f"{char} {comment}" if char == "{" and chance.random() < 0.5 else None
    )


def _missing_commas(text: str, chance: random.Random) -> str:
    return text.replace("}, {", "} {").replace("},\n", "}\n")


def _chinese_signs(text: str, chance: random.Random) -> str:
    signs = {",": "，", ":": "："}
    return _outside_strings(text, lambda char, _: signs.get(char) if chance.random() < 0.5 else None)


def _bare_names(text: str, chance: random.Random) -> str:
    for name in ("kind", "title", "content", "tags", "confidence", "evidence"):
        text = text.replace(f'"{name}":', f"{name}:")
    return text


def _raw_controls(text: str, chance: random.Random) -> str:
    return text.replace("\\n", "\n").replace("\\t", "\t")


def _twice_the_same_key(text: str, chance: random.Random) -> str:
    return text.replace('"confidence": 0', '"confidence": 0.1, "confidence": 0', chance.randint(1, 3))


def _unescaped_quotes(answer: Answer, chance: random.Random) -> Answer:
    """Quotation marks of a text stand in it as they are: where the text ends is anybody's guess."""
    quoting = [place for place, value in enumerate(answer.values) if '"' in str(_texts(value))]
    text = "\n".join(
        line if line.strip().startswith('"[') else line.replace('\\"', '"') for line in answer.text.splitlines()
    )
    return replace(answer, text=text, unsure=answer.unsure | frozenset(quoting))


def _texts(value: Any) -> list[str]:
    return [text for text in value.values() if isinstance(text, str)] if isinstance(value, Mapping) else []


SYNTAX_FAULTS: dict[str, Fault] = {
    "trailing commas": _syntax(_trailing_commas),
    "comments": _syntax(_comments),
    "missing commas": _syntax(_missing_commas),
    "Chinese commas and colons": _syntax(_chinese_signs),
    "bare names": _syntax(_bare_names),
    "raw line ends in strings": _syntax(_raw_controls),
    "duplicated keys": _syntax(_twice_the_same_key),
    "unescaped quotation marks": _unescaped_quotes,
}


# around: what stands before and behind ----------------------------------------------


def _around(*frames: str) -> Fault:
    return _syntax(lambda text, chance: chance.choice(frames).replace("@@", text))


AROUND: dict[str, Fault] = {
    "fences": _around("```json\n@@\n```", "```\n@@\n```", "~~~json\n@@\n~~~", "```JSON\n@@```"),
    "a fence that never ends": _around("```json\n@@"),
    "think blocks": _around(
        '<think>Maybe [{"kind": "pitfall", "title": "a draft"}]?</think>\n@@',
        "<think>\n</think>\n\n@@",
        "<thinking>先看看 {items}。</thinking>@@",
        "I weigh [{'title': 'a draft'}] first.</think>@@",
        "◁think▷嗯◁/think▷@@",
    ),
    "prose around": _around(
        "Here is what I found:\n\n@@\n\nLet me know if you need [more].",
        "我从消息 [1]、[2, 3] 和 {conversation} 中提炼如下：\n@@\n以上。",
        "Sure! (2 items)\n@@",
        "@@\n\nNote: {the last one} is uncertain.",
    ),
    "BOM and blanks": _around("\ufeff@@", "\n\n  \ufeff @@ \n\n"),
    "HTML": _around("<pre><code>@@</code></pre>", "<p>Found:</p><div>@@</div>", "<result>@@</result>"),
}


def _cut(answer: Answer, chance: random.Random) -> Answer:
    """Cut anywhere; whole are the items whose last brace still stands (of a plain list, the only one that is cut)."""
    text = json.dumps(list(answer.values), ensure_ascii=False)
    ends: list[int] = []
    depth = 0

    def count(char: str, place: int) -> None:
        nonlocal depth
        depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(char, 0)
        if char == "}" and depth == 1:
            ends.append(place + 1)

    _outside_strings(text, count)
    at = chance.randint(1, len(text) - 1)
    objects = [place for place, value in enumerate(answer.values) if isinstance(value, Mapping)]
    gone = {place for place, end in zip(objects, ends, strict=True) if end > at}
    return replace(answer, text=text[:at], spoilt=answer.spoilt | gone)


CUTS: dict[str, Fault] = {"cut off": _cut}
