"""Code as (text, colour token) runs, through Pygments."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

MAX_HIGHLIGHTED = 40_000
"""Characters beyond which code is shown plain: colours are not worth a stall."""


def highlight(code: str, language: str) -> list[tuple[str, str]]:
    """Runs of `code` with their colour tokens (code-text, code-keyword, …); joined they are `code` again."""
    lexer = _lexer(language)
    if lexer is None or len(code) > MAX_HIGHLIGHTED:
        return [(code, "code-text")]
    runs: list[tuple[str, str]] = []
    for kind, text in lexer.get_tokens(code):
        token = _colour(str(kind))
        if runs and runs[-1][1] == token:
            runs[-1] = (runs[-1][0] + text, token)
        else:
            runs.append((text, token))
    return _as_long_as(code, runs)


def warm_up() -> None:
    """Load the lexers that answers need most, off the window's thread: the first block then costs no stall."""
    for language in ("python", "json", "bash", "javascript", "sql"):
        highlight("x = 1\n", language)


def language_label(language: str) -> str:
    """What stands over the block: the language's own name, or the word after the fence."""
    lexer = _lexer(language)
    return str(lexer.name) if lexer is not None else language


@lru_cache(maxsize=64)
def _lexer(language: str) -> Any:
    if not language:
        return None
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        return get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


def _colour(kind: str) -> str:
    kind = kind.removeprefix("Token.")
    if kind.startswith("Comment"):
        return "code-comment"
    if kind.startswith(("Keyword.Constant", "Literal.Number")):
        return "code-number"
    if kind.startswith(("Keyword", "Operator.Word", "Name.Tag")):
        return "code-keyword"
    if kind.startswith(("Literal.String", "Literal.Date")):
        return "code-string"
    if kind.startswith(("Name.Function", "Name.Class", "Name.Decorator", "Name.Builtin", "Name.Attribute")):
        return "code-func"
    return "code-text"


def _as_long_as(code: str, runs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Lexers may normalise line ends; then the plain text wins over its colours."""
    if "".join(text for text, _ in runs) == code:
        return runs
    return [(code, "code-text")]
