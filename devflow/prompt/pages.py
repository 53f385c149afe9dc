"""The hidden context of a message: the pages that were found for it, or that none was (seed §5.4, spec 02, Prompt)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from devflow.domain import fences
from devflow.domain.knowledge_base import KnowledgeBase
from devflow.domain.request import Injected, InjectedItem, Lookup, NothingFound
from devflow.domain.text.hidden import with_hidden_shown
from devflow.prompt.templates import Language, Templates
from devflow.retrieval.pages import SNIPPET_MIN_CHARS, PageHit, PageSearch, RankedPages

FRAME_ROOM = 300
"""Characters for snippets that even the smallest budget leaves beside the frame."""
NAMED_MAX = 5
"""So many skipped pages are named."""

NAME_MAX = 200
"""Characters of such a name."""


@dataclass(frozen=True, slots=True)
class PageWords:
    """The words that the hidden context of one message is made of. `home` is written `~`."""

    base: KnowledgeBase
    templates: Templates
    language: Language
    home: Path

    def context(self, found: PageSearch, nonce: str) -> str:
        """The whole block, with the snippets as they are in `found`."""
        notes = self._notes(found, nonce)
        if not found.hits:
            return self.templates.fill(self.language, "pages_none", name=_line(self.base.name), notes=notes)
        shown = ""
        if found.matching > len(found.hits):
            shown = self.templates.fill(self.language, "pages_shown", count=len(found.hits), matching=found.matching)
        return self.templates.fill(
            self.language,
            "pages",
            name=_line(self.base.name),
            path=_line(shown_path(self.base, self.home)),
            shown=shown,
            nonce=nonce,
            pages="\n\n".join(self._page(number, hit, nonce) for number, hit in enumerate(found.hits, 1)),
            notes=notes,
        )

    def _page(self, number: int, hit: PageHit, nonce: str) -> str:
        """Whoever writes a page chooses its title and its file's name too: all of it stands inside the fence."""
        page = self.templates.fill(
            self.language,
            "page",
            number=number,
            title=_line(hit.title),
            path=_line(hit.path),
            reason=hit.hit_reason.value,
            text=with_hidden_shown(hit.snippet),
        )
        return fences.fenced(f"P{number}", nonce, page)

    def _notes(self, found: PageSearch, nonce: str) -> str:
        lines = [
            self.templates.fill(self.language, "page_missing", path=_line(reference)) for reference in found.missing
        ]
        if found.skipped:
            names = [_line(path)[:NAME_MAX] for path in found.skipped[:NAMED_MAX]]
            more = [f"+{len(found.skipped) - NAMED_MAX}"] if len(found.skipped) > NAMED_MAX else []
            fenced = fences.fenced("skipped", nonce, "\n".join(names + more))
            lines.append(self.templates.fill(self.language, "pages_skipped", paths=fenced))
        if found.pending:
            lines.append(self.templates.fill(self.language, "pages_pending", pending=found.pending))
        return "".join(f"\n{line}" for line in lines)


def shown_path(base: KnowledgeBase, home: Path) -> str:
    """Where the base is; the user's home folder is written `~`."""
    path = Path(base.path)
    return f"~/{path.relative_to(home).as_posix()}" if home in path.parents else base.path


def render_pages(ranked: RankedPages, words: PageWords, budget: int) -> tuple[Lookup, PageSearch, str]:
    """The lookup as it is kept, what was found, and the nonce of its fences.

    The whole block, its frame included, has at most `budget` characters. Each page gets an equal share of it, so that
    none is left out for another's sake while a share is worth reading; what short pages leave is the long ones'. The
    pages were found once: what is tried here is how much of each to show.
    """
    nonce = fences.new_nonce(_outside_texts(ranked))
    frame = len(words.context(ranked.found, nonce))
    least = frame + FRAME_ROOM
    room = max(budget, least) - frame
    lengths = [len(ranked.contents.get(hit.path, "")) for hit in ranked.found.hits]
    while True:
        found = ranked.shown(max(SNIPPET_MIN_CHARS, _share(lengths, room)), room)
        block = words.context(found, nonce)
        over = len(block) - max(budget, least)
        if over <= 0 or room <= FRAME_ROOM:
            break
        room = max(room - over, FRAME_ROOM)  # what was hidden takes more room where it is shown
    if not found.hits:
        return NothingFound(block), found, nonce
    return Injected(block, tuple(map(_item, range(1, len(found.hits) + 1), found.hits))), found, nonce


def _share(lengths: Iterable[int], room: int) -> int:
    """Characters for each page, so that all of them together fill the room: a short one needs no more than it has."""
    waiting = sorted(lengths)
    while waiting and waiting[0] * len(waiting) <= room:
        room -= waiting.pop(0)
    return room // len(waiting) if waiting else room


def build_knowledge_context_prompt(original_message: str, pages: Lookup) -> str:
    """The message as the model gets it: its own text first and unchanged, what was found below (seed §5.4)."""
    block = pages.block if isinstance(pages, Injected | NothingFound) else ""
    return f"{original_message}\n\n{block}" if block else original_message


def _item(number: int, hit: PageHit) -> InjectedItem:
    return InjectedItem(
        source="page",
        ref=hit.path,
        number=str(number),
        title=hit.title,
        excerpt=hit.snippet,
        reason=hit.hit_reason.value,
        score=hit.score,
        size=len(hit.snippet),
        cut=hit.cut,
        matched=hit.matched,
        places=hit.places,
    )


def _line(text: str) -> str:
    """On one line, and with nothing hidden: a title or a name cannot pretend to be a part of the frame."""
    return with_hidden_shown(" ".join(text.split()))


def _outside_texts(ranked: RankedPages) -> Iterable[str]:
    """Everything in the prompt that somebody else has written."""
    yield from ranked.contents.values()
    yield from ranked.found.skipped
    for hit in ranked.found.hits:
        yield from (hit.title, hit.path)


def paths_of(pages: Lookup) -> Sequence[str]:
    """The pages that stand in the prompt, best first."""
    return tuple(item.ref for item in pages.items) if isinstance(pages, Injected) else ()
