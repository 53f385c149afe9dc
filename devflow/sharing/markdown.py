"""A conversation as Markdown: what was said stands as it was, under headings that no message can break out of."""

from __future__ import annotations

import re
from collections.abc import Iterator

from markdown_it import MarkdownIt

from devflow.domain.messages import Translator
from devflow.sharing import words
from devflow.sharing.conversation import SharedConversation, SharedMessage

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_PLAIN = re.compile(r"[\\`*_\[\]<>#|~]")
_OPENS = (("<!--", "-->"), ("<?", "?>"), ("<![CDATA[", "]]>"), ("<!", ">"))
_RAW = re.compile(r"<(script|pre|style|textarea)(?=[\s>]|$)", re.IGNORECASE)
_PARSER = MarkdownIt("commonmark", {"html": True})


def to_markdown(shared: SharedConversation, t: Translator) -> str:
    """The whole file."""
    return "\n".join(_blocks(shared, t)).rstrip("\n") + "\n"


def _blocks(shared: SharedConversation, t: Translator) -> Iterator[str]:
    yield f"# {plain(words.title_of(t, shared))}\n"
    yield "  \n".join(f"*{plain(fact)}*" for fact in words.facts(t, shared)) + "\n"
    if taken_out := words.redaction(t, shared):
        yield f"> {plain(taken_out)}\n"
    for message in shared.messages:
        yield from _message(message, t)
    if shared.sources:
        sources = t("Sources")
        yield f"---\n\n## {sources}\n"
        for source in shared.sources:
            title, path, given = words.source_line(t, source)
            where = f" — {_code(path)}" if path else ""
            yield f"- {plain(title)}{where} {plain(given)}".rstrip()
        yield ""


def _message(message: SharedMessage, t: Translator) -> Iterator[str]:
    level = "##" if message.role.value == "user" else "###"
    yield f"{level} {words.heading(t, message)}\n\n*{plain(words.byline(t, message))}*\n"
    if message.text.strip():
        yield f"{closed(message.text.strip())}\n"
    for call in message.calls:
        verb, target, outcome = words.call_line(t, call)
        about = f" {_code(target)}" if target else ""
        yield f"- *{plain(verb)}*{about}: {outcome}"
    if message.calls:
        yield ""


def plain(text: str) -> str:
    """Words that are no markup."""
    return _PLAIN.sub(r"\\\g<0>", text)


def _code(text: str) -> str:
    """A code span, with as many backticks around it as it needs."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * (longest + 1)
    return f"{fence}{text}{fence}" if not longest else f"{fence} {text} {fence}"


def closed(text: str) -> str:
    """The text as it is; a fence or a raw block that it leaves open would take in everything below it, so it is closed.

    An answer that was stopped in the middle often has one. Within a list or a quote it ends with that.
    """
    tokens = _PARSER.parse(text)
    last = next((token for token in reversed(tokens) if token.block and token.nesting >= 0), None)
    lines = text.split("\n")
    if last is None or last.map is None or last.level:
        return text
    match last.type:
        case "fence":
            opened = _FENCE.match(lines[last.map[0]])
            if opened is not None and not _is_closing(lines[last.map[1] - 1], opened[1], last.map):
                return f"{text}\n{opened[1]}"
        case "html_block":
            if not _ends(last.content):
                lines[last.map[0]] = lines[last.map[0]].replace("<", "\\<", 1)
                return closed("\n".join(lines))
        case _:
            pass
    return text


def _is_closing(line: str, mark: str, lines: list[int]) -> bool:
    stripped = line.strip()
    return lines[1] - lines[0] > 1 and len(stripped) >= len(mark) and set(stripped) == {mark[0]}


def _ends(block: str) -> bool:
    """Whether a raw block has the end that it needs: those that end at a blank line always do."""
    start = block.lstrip()
    for opening, ending in _OPENS:
        if start.startswith(opening):
            return ending in start[len(opening) :]
    raw = _RAW.match(start)
    return raw is None or f"</{raw[1].lower()}>" in start.lower()
