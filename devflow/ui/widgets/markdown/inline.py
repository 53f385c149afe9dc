"""What stands inside a block: emphasis, code, links, references.

Nothing is loaded and nothing runs: pictures are shown as their words, links only with allowed schemes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

from markdown_it.token import Token
from PySide6.QtGui import QFont, QTextCharFormat, QTextCursor

from devflow.ui.look import Look
from devflow.ui.models.page_links import PageLink, PageLinks
from devflow.ui.widgets.markdown import formats as f

ALLOWED_SCHEMES = frozenset({"http", "https", "mailto", "devflow"})
_REFERENCE = re.compile(r"\[(K\d{1,4}|P?\d{1,4})\]")
_SCHEME = re.compile(r"^[a-zA-Z][a-zA-Z0-9+.-]*:")
_BARE_LINK = re.compile(
    r"https?://[^\s<>\"'`，。；：！？、（）「」《》【】]+[^\s<>\"'`，。；：！？、（）「」《》【】.,;:!?)\]]"
)
_HAN = re.compile(r"[⺀-鿿豈-﫿＀-￯　-〿]")

References = Mapping[str, tuple[str, str]]
"""Label (`K1`, `P1`, or a bare number) → (address inside the window, title for the tooltip)."""


class Inline:
    """Writes a block's children; `references` are the labels that become chips, unless nothing is cited here."""

    def __init__(self, look: Look) -> None:
        self._look = look
        self._theme = look.theme
        self.references: References = {}
        self.citing = True
        """False where a human typed: `[K1]` then stays plain text."""
        self.pages: PageLinks | None = None
        """What the names of pages lead to; None where they are just words."""

    def write(self, cursor: QTextCursor, children: Sequence[Token], base: QTextCharFormat) -> None:
        """Write a block\'s children at the cursor, in the block\'s own format."""
        stack = [base]
        linked = 0
        for index, token in enumerate(children):
            now = stack[-1]
            match token.type:
                case "text":
                    self._words(cursor, token.content, now, plain=bool(linked))
                case "softbreak":
                    cursor.insertText(_joint(children, index), now)
                case "hardbreak":
                    cursor.insertText("\u2028", now)
                case "code_inline":
                    self._inline_code(cursor, token.content, now)
                case "strong_open":
                    stack.append(_with(now, weight=QFont.Weight.DemiBold))
                case "em_open":
                    stack.append(_with(now, italic=True))
                case "s_open":
                    stack.append(_with(now, struck=True))
                case "link_open":
                    linked += 1
                    stack.append(self._link(now, str(token.attrGet("href") or ""), str(token.attrGet("title") or "")))
                case "link_close":
                    linked -= 1
                    self._doubt(cursor, stack.pop())
                case "strong_close" | "em_close" | "s_close":
                    stack.pop()
                case "image":
                    src = str(token.attrGet("src") or "")
                    cursor.insertText(token.content or src, self._link(now, src, ""))
                case _:
                    cursor.insertText(token.content, now)

    def _inline_code(self, cursor: QTextCursor, content: str, base: QTextCharFormat) -> None:
        page = self.pages.in_code(content) if self.pages is not None else None
        if page is not None and page.state == "unverified":
            self._page(cursor, content, page, base)
            return
        made = self._page_format(base, page) if page is not None else QTextCharFormat(base)
        font = self._theme.font("code-small")
        font.setWeight(base.font().weight())
        made.setFont(font)
        made.setProperty(f.CODE, 1)
        cursor.insertText(f.PAD, f.pad(made))
        cursor.insertText(content, made)
        cursor.insertText(f.PAD, f.pad(made))

    def _words(self, cursor: QTextCursor, text: str, base: QTextCharFormat, *, plain: bool) -> None:
        """Plain words with reference chips and bare addresses; inside a link only the words."""
        if plain:
            cursor.insertText(text, base)
            return
        at = 0
        for named in self.pages.named(text) if self.pages is not None else ():
            self._marks(cursor, text[at : named.start], base)
            self._page(cursor, named.words, named.link, base)
            at = named.end
        self._marks(cursor, text[at:], base)

    def _marks(self, cursor: QTextCursor, text: str, base: QTextCharFormat) -> None:
        at = 0
        for found in re.finditer(f"{_REFERENCE.pattern}|({_BARE_LINK.pattern})", text):
            label = found[1]
            if label is not None and not self.citing:
                continue  # what a human typed cites nothing
            if label is not None and label[0].isdigit() and label not in self.references:
                continue  # a bare number in brackets is a reference only when it is one
            before = text[at : found.start()]
            if label is not None:
                # A chip never begins a line alone: it stays with the word it proves.
                cursor.insertText(f"{before[:-1]}\u00a0" if before.endswith(" ") else before, base)
                self._reference(cursor, label, base)
            else:
                cursor.insertText(before, base)
                cursor.insertText(found[0], self._link(base, found[0], ""))
            at = found.end()
        cursor.insertText(text[at:], base)

    def _page(self, cursor: QTextCursor, words: str, page: PageLink, base: QTextCharFormat) -> None:
        made = self._page_format(base, page)
        if page.state == "unverified":
            cursor.insertText(f.PAD, f.pad(made))
        cursor.insertText(words, made)
        self._doubt(cursor, made)

    def _page_format(self, base: QTextCharFormat, page: PageLink) -> QTextCharFormat:
        """A page that is there is a link; one that is not is faint; what an answer made up has the warning's ground."""
        t, made = self._look.t, QTextCharFormat(base)
        match page.state:
            case "known":
                made.setAnchor(True)
                made.setAnchorHref(page.address)
                made.setForeground(self._theme.color("accent-fg"))
                made.setProperty(f.TITLE, page.title)
            case "missing":
                made.setForeground(self._theme.color("text-faint"))
                made.setProperty(f.TITLE, t("There is no such page"))
            case "unverified":
                made.setProperty(f.REFERENCE, 2)
                made.setForeground(self._theme.color("warning"))
                made.setProperty(f.TITLE, t("Not among the pages that were found: unverified"))
        return made

    def _doubt(self, cursor: QTextCursor, made: QTextCharFormat) -> None:
        """The `?` behind what is unverified: colour alone does not say it."""
        if made.property(f.REFERENCE) == 2:
            cursor.insertText("?", made)
            cursor.insertText(f.PAD, f.pad(made))

    def _reference(self, cursor: QTextCursor, label: str, base: QTextCharFormat) -> None:
        target = self.references.get(label)
        made = QTextCharFormat(base)
        font = self._theme.font("small-strong")
        font.setWeight(QFont.Weight.DemiBold)
        made.setFont(font)
        made.setProperty(f.REFERENCE, 1 if target else 2)
        made.setForeground(self._theme.color("accent-fg" if target else "warning"))
        if target:
            made.setAnchor(True)
            made.setAnchorHref(target[0])
            made.setProperty(f.TITLE, target[1])
        else:
            made.setProperty(f.TITLE, self._look.t("Nothing that was found has this number"))
        shown = label if not label.isdigit() else f"P{label}"
        cursor.insertText(f.PAD, f.pad(made))
        cursor.insertText(shown if target else f"{shown}?", made)
        cursor.insertText(f.PAD, f.pad(made))

    def _link(self, base: QTextCharFormat, href: str, title: str) -> QTextCharFormat:
        page = self.pages.link(href) if self.pages is not None and not _SCHEME.match(href) else None
        if page is not None:
            return self._page_format(base, page)
        if not allowed(href):
            return base
        made = QTextCharFormat(base)
        made.setAnchor(True)
        made.setAnchorHref(href)
        made.setForeground(self._theme.color("accent-fg"))
        if title:
            made.setProperty(f.TITLE, title)
        return made


def allowed(href: str) -> bool:
    """Only http, https, mailto and the window's own addresses may be followed."""
    try:
        return urlsplit(href).scheme.lower() in ALLOWED_SCHEMES
    except ValueError:
        return False


def _with(
    base: QTextCharFormat, *, weight: QFont.Weight | None = None, italic: bool = False, struck: bool = False
) -> QTextCharFormat:
    made = QTextCharFormat(base)
    if weight is not None:
        made.setFontWeight(weight)
    if italic:
        made.setFontItalic(True)
    if struck:
        made.setFontStrikeOut(True)
    return made


def _joint(children: Sequence[Token], index: int) -> str:
    """A line break inside a paragraph is a space, and nothing between two Han characters."""
    before = children[index - 1].content[-1:] if index else ""
    after = children[index + 1].content[:1] if index + 1 < len(children) else ""
    return "" if _HAN.match(before) and _HAN.match(after) else " "
