"""A conversation as one HTML page: readable offline in both themes, without a script, everything in it escaped.

With another style sheet the same sections are what the window lays out as PDF: only elements that Qt's rich text knows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from html import escape
from typing import Any
from urllib.parse import urlsplit

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from devflow.domain.conversation import Role
from devflow.domain.messages import Translator
from devflow.domain.text.as_typed import as_typed
from devflow.sharing import words
from devflow.sharing.conversation import SharedConversation, SharedMessage
from devflow.sharing.highlight import highlight, language_label
from devflow.sharing.style import Sheet

_SCHEMES = ("http", "https", "mailto")
_MARK = re.compile(r"\[(K\d{1,6})\]")
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def to_html(shared: SharedConversation, t: Translator, sheet: Sheet) -> str:
    """The whole file."""
    title = escape(words.title_of(t, shared))
    head = (
        "<!DOCTYPE html>\n"
        f'<html lang="{escape(t.language.replace("_", "-"))}">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<meta name="referrer" content="no-referrer">\n'
        f"<title>{title}</title>\n<style>\n{sheet.for_browsers()}</style>\n</head>\n<body>\n<main>\n"
    )
    return head + "".join(sections(shared, t)) + "</main>\n</body>\n</html>\n"


def sections(shared: SharedConversation, t: Translator) -> Iterator[str]:
    """The body in pieces of a block each, so that a long one can be laid out in steps."""
    yield f"<h1>{escape(words.title_of(t, shared))}</h1>\n"
    yield f'<p class="facts">{escape(" · ".join(words.facts(t, shared)))}</p>\n'
    if taken_out := words.redaction(t, shared):
        yield f'<p class="notice">{escape(taken_out)}</p>\n'
    marks = frozenset(source.mark for source in shared.sources if source.mark)
    for message in shared.messages:
        yield from _message(message, t, marks)
    if shared.sources:
        yield _sources(shared, t)


def _message(message: SharedMessage, t: Translator, marks: frozenset[str]) -> Iterator[str]:
    asked = message.role is Role.USER
    level = "h2" if asked else "h3"
    name = f' id="q{message.number}"' if asked else ""
    yield (
        f'<div class="{"question" if asked else "answer"}"{name}>\n'
        f"<{level}>{escape(words.heading(t, message))}</{level}>\n"
        f'<p class="facts">{escape(words.byline(t, message))}</p>\n'
    )
    if message.text.strip():
        text = as_typed(message.text) if asked else message.text
        yield from _markdown(text, frozenset() if asked else marks)
    if message.calls:
        lines = []
        for call in message.calls:
            verb, target, outcome = words.call_line(t, call)
            about = f" <code>{escape(target)}</code>" if target else ""
            lines.append(f"<li>{escape(verb)}{about}: {escape(outcome)}</li>\n")
        yield f'<ul class="calls">\n{"".join(lines)}</ul>\n'
    yield "</div>\n"


def _sources(shared: SharedConversation, t: Translator) -> str:
    heading = escape(t("Sources"))
    parts = [f'<div class="sources">\n<h2>{heading}</h2>\n<ul>\n']
    for source in shared.sources:
        title, path, given = words.source_line(t, source)
        name = f' id="{escape(source.mark)}"' if source.mark else ""
        where = f" — <code>{escape(path)}</code>" if path else ""
        parts.append(f'<li{name}>{escape(title)}{where} <span class="facts">{escape(given)}</span></li>\n')
    return "".join((*parts, "</ul>\n</div>\n"))


def _markdown(text: str, marks: frozenset[str]) -> Iterator[str]:
    """One piece for each block that stands in no other."""
    parser = _parser()
    env: dict[str, Any] = {"marks": marks}
    block: list[Token] = []
    for token in parser.parse(text, env):
        block.append(token)
        if token.level == 0 and token.nesting <= 0:
            yield str(parser.renderer.render(block, parser.options, env))
            block = []


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}, renderer_cls=_Renderer).enable(["table", "strikethrough"])


class _Renderer(RendererHTML):
    """Headings below ours, code in colour, links that lead to the web alone, no picture from anywhere."""

    def heading_open(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        return f"<{_lower(tokens[idx].tag)}>"

    def heading_close(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        return f"</{_lower(tokens[idx].tag)}>\n"

    def fence(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        token = tokens[idx]
        language = token.info.strip().split(" ")[0] if token.info.strip() else ""
        label = f'<p class="language">{escape(language_label(language))}</p>\n' if language else ""
        return f"{label}<pre>{_coloured(token.content.removesuffix(chr(10)), language)}</pre>\n"

    def code_block(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        return f"<pre>{escape(tokens[idx].content.removesuffix(chr(10)))}</pre>\n"

    def link_open(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        href = str(tokens[idx].attrGet("href") or "")
        env.setdefault("links", []).append(allowed(href))
        return f'<a href="{escape(href)}" rel="noopener noreferrer">' if allowed(href) else ""

    def link_close(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        return "</a>" if env["links"].pop() else ""

    def image(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        """Its words, and its address as a link: nothing is fetched when the page is opened."""
        src, alt = str(tokens[idx].attrGet("src") or ""), tokens[idx].content
        if allowed(src):
            return f'<a href="{escape(src)}" rel="noopener noreferrer">{escape(alt or src)}</a>'
        return escape(alt or ("" if src.startswith("data:") else src))

    def text(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        marks, plain = env["marks"], escape(tokens[idx].content)
        if not marks or env.get("links"):
            return plain
        return _MARK.sub(
            lambda found: f'<a href="#{found[1]}">{found[1]}</a>' if found[1] in marks else found[0], plain
        )


def _chip(mark: str) -> str:
    return f'<a href="#{mark}">{mark}</a>'


def allowed(href: str) -> bool:
    """Whether an address of a message becomes a link."""
    try:
        return urlsplit(href).scheme.lower() in _SCHEMES
    except ValueError:
        return False


def _lower(tag: str) -> str:
    return f"h{min(6, int(tag[1]) + 3)}"


def _coloured(code: str, language: str) -> str:
    """No colour goes beyond its line, so that lines can be taken apart."""
    return "".join(
        "\n".join(_run(line, token) for line in text.split("\n")) for text, token in highlight(code, language)
    )


def _run(text: str, token: str) -> str:
    plain = escape(text)
    return plain if token == "code-text" or not text else f'<span class="{token}">{plain}</span>'
