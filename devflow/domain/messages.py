"""Words for the user: English source strings, rendered through one gettext catalogue at the edge.

Inner rooms never render: they carry a message id and its parameters (see `errors.UserFacing`), and the window, the
command line and the MCP server each hold a `Translator` and render there.
"""

from __future__ import annotations

import gettext
from dataclasses import dataclass


def N_(text: str) -> str:
    """Mark `text` for the catalogue without translating it here."""
    return text


@dataclass(frozen=True, slots=True)
class Translator:
    """Renders message ids in one language.

    Called as `t("Saved {title}", title=…)`; parameters are filled in after translation, so a translation may reorder
    them. A broken translation (a placeholder that does not exist) falls back to the English source, never to a crash.
    """

    language: str
    catalogue: gettext.NullTranslations

    def __call__(self, message: str, /, **params: object) -> str:
        if not message:
            return ""
        return _fill(self.catalogue.gettext(message), message, params)

    def n(self, singular: str, plural: str, count: int, /, **params: object) -> str:
        """Plural form for `count`, which is also available as `{count}`."""
        values: dict[str, object] = {"count": count, **params}
        source = singular if count == 1 else plural
        return _fill(self.catalogue.ngettext(singular, plural, count), source, values)

    def p(self, context: str, message: str, /, **params: object) -> str:
        """`message` in a grammatical `context` (for words that translate differently by place)."""
        return _fill(self.catalogue.pgettext(context, message), message, params)


def english() -> Translator:
    """The source language: what `--json` and tests without a window use."""
    return Translator("en", gettext.NullTranslations())


def _fill(translated: str, source: str, params: dict[str, object]) -> str:
    if not params:
        return translated
    try:
        return translated.format(**params)
    except (KeyError, IndexError, ValueError):
        return source.format(**params)
