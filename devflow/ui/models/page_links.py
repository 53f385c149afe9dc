"""Addresses of pages in the window, and what a text's references to pages lead to."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote, unquote, urlsplit

from devflow.domain.text.code import blank_code
from devflow.retrieval.answers import PATH
from devflow.retrieval.references import REFERENCE
from devflow.wiki import layout

State = Literal["known", "missing", "unverified"]
_TARGET = re.compile(r"\]\(\s{0,10}(?:<([^>\n]{0,1000})>|([^)\s]{1,1000}))")


@dataclass(frozen=True, slots=True)
class PageLink:
    """`address` is empty where it leads nowhere: `missing` in the base, `unverified`: not what an answer was given."""

    address: str
    state: State = "known"
    title: str = ""


@dataclass(frozen=True, slots=True)
class Named:
    """A place in a text that names a page; `words` are shown instead of what stands there."""

    start: int
    end: int
    words: str
    link: PageLink


def page_address(kb_id: str, path: str) -> str:
    """`devflow:page/<kb>/<path>`, quoted."""
    return f"devflow:page/{kb_id}/{quote(path)}"


def read_page_address(address: str) -> tuple[str, str] | None:
    """The knowledge base's id and the page's path; None where the address is no page's."""
    kind, _, rest = address.removeprefix("devflow:").partition("/")
    kb_id, _, path = rest.partition("/")
    return (kb_id, unquote(path)) if kind == "page" and kb_id and path else None


@dataclass(frozen=True, slots=True)
class WikiLinks:
    """The links of a page's text. `known` are those of its targets that the base has (see `targets`)."""

    kb_id: str
    here: str
    known: frozenset[str]

    def named(self, text: str) -> Iterator[Named]:
        for found in REFERENCE.finditer(text):
            alias = found[0][2:-2].partition("|")[2].strip()
            yield Named(found.start(), found.end(), alias or found[0], self._to(found[1]))

    def link(self, href: str) -> PageLink | None:
        """What a Markdown link leads to; None for one that is no page's."""
        candidates = paths_of(self.here, href)
        if not candidates:
            return None
        return self._to(next((path for path in candidates if path in self.known), candidates[0]))

    def in_code(self, text: str) -> PageLink | None:
        """Inside code nothing is a reference."""
        return None

    def _to(self, path: str) -> PageLink:
        found = path in self.known
        return PageLink(page_address(self.kb_id, path) if found else "", "known" if found else "missing", path)


@dataclass(frozen=True, slots=True)
class AnswerLinks:
    """The pages that an answer names, held against those it was `given` (seed §10.5).

    `read` is what those pages and the answer's tools say: what is named there was not made up.
    """

    kb_id: str
    given: frozenset[str]
    read: str = ""

    def named(self, text: str) -> Iterator[Named]:
        end = 0
        for found in sorted((*REFERENCE.finditer(text), *PATH.finditer(text)), key=lambda each: each.start()):
            if found.start() < end:
                continue
            end = found.end()
            path = found[1] if found.re is REFERENCE else found[0]
            yield Named(found.start(), end, found[0], self._to(path))

    def link(self, href: str) -> PageLink | None:
        path = _plain(href)
        return self._to(path) if path is not None and PATH.fullmatch(path) else None

    def in_code(self, text: str) -> PageLink | None:
        """Models often set a path as code: it is a reference all the same."""
        path = text.strip().removeprefix("[[").removesuffix("]]")
        return self._to(path) if path.startswith(f"{layout.WIKI}/") and PATH.fullmatch(path) else None

    def _to(self, path: str) -> PageLink:
        if path in self.given or (path and path in self.read):
            return PageLink(page_address(self.kb_id, path), "known", path)
        return PageLink("", "unverified", path)


PageLinks = WikiLinks | AnswerLinks


def targets(here: str, content: str) -> frozenset[str]:
    """Every path that a page's text may link to; whether it is there is the index's to say."""
    plain = blank_code(content)
    named = {found[1] for found in REFERENCE.finditer(plain)}
    return frozenset(named.union(*(paths_of(here, found[1] or found[2]) for found in _TARGET.finditer(plain))))


def known_of(here: str, content: str, pages: Collection[str]) -> frozenset[str]:
    return frozenset(path for path in targets(here, content) if path in pages)


def paths_of(here: str, href: str) -> tuple[str, ...]:
    """The paths that a relative address may mean: from the page's own folder, else from the base's."""
    path = _plain(href)
    if path is None:
        return ()
    folder = posixpath.dirname(here)
    joined = (posixpath.normpath(posixpath.join(folder, path)), posixpath.normpath(path.lstrip("/")))
    return tuple(dict.fromkeys(each for each in joined if not each.startswith("..") and not each.startswith("/")))


def _plain(href: str) -> str | None:
    """The path of an address without scheme, host, query and anchor, if it is a Markdown file's."""
    try:
        parts = urlsplit(href)
    except ValueError:
        return None
    path = unquote(parts.path)
    return path if not parts.scheme and not parts.netloc and path.endswith(layout.SUFFIX) else None
