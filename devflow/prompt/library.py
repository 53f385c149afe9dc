"""The library's block at the head of the system prompt: what is relevant, numbered, fenced, and within its budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from devflow.domain import fences
from devflow.domain.knowledge import Entry
from devflow.domain.request import Injected, InjectedItem
from devflow.domain.text.hidden import with_hidden_shown
from devflow.domain.tokens import estimate_tokens
from devflow.prompt.budget import ENTRY_CHARS, cut_to_fit, library_chars, library_tokens
from devflow.prompt.templates import Language, Templates

WORTH_SHOWING = 160
"""An entry that would get fewer characters than this is dropped instead of shown as a stump."""

TAGS_CHARS = 120


@dataclass(frozen=True, slots=True)
class Found:
    """A relevant entry, with the number it has in the conversation. `score` is relative to the best (1.00); the rest is
    why it was found."""

    entry: Entry
    number: int
    score: float
    reason: str
    matched: tuple[str, ...] = ()
    places: tuple[tuple[str, tuple[str, ...]], ...] = ()
    similarity: float | None = None

    @property
    def label(self) -> str:
        return f"K{self.number}"


def library_block(
    found: Sequence[Found],
    conflicts: frozenset[frozenset[str]],
    *,
    nonce: str,
    window: int | None,
    templates: Templates,
    language: Language,
) -> Injected:
    """The block within its share of the model's window, which is in tokens."""

    def rendered(characters: int) -> Injected:
        return render_library(found, conflicts, nonce=nonce, budget=characters, templates=templates, language=language)

    block, most = rendered(library_chars(window)), library_tokens(window)
    tokens = estimate_tokens(block.block)
    return block if most is None or tokens <= most else rendered(len(block.block) * most // tokens)


def render_library(
    found: Sequence[Found],
    conflicts: frozenset[frozenset[str]],
    *,
    nonce: str,
    budget: int,
    templates: Templates,
    language: Language,
) -> Injected:
    """The block, best entries first. The whole of it, head and fences included, has at most `budget` characters."""
    words = _Words(templates, language, nonce)
    parts = [words.head]
    items: list[InjectedItem] = []
    shown: list[Found] = []
    dropped: list[str] = []
    left = budget - len(words.head)
    for each in found:
        notes = words.conflicts(each, shown, conflicts)
        empty = words.section(each, "")
        room = left - len(empty) - sum(len(note) + 2 for note in notes) - 2
        content = with_hidden_shown(each.entry.content)
        text = cut_to_fit(content, min(ENTRY_CHARS, room), words.cut, each.matched) if room > 0 else ""
        if not text or (len(text) < len(content) and len(text) < WORTH_SHOWING):
            dropped.append(each.entry.id)
            continue
        section = words.section(each, text)
        parts += [section, *notes]
        left -= len(section) + 2 + sum(len(note) + 2 for note in notes)
        shown.append(each)
        items.append(_item(each, text, cut=text != content))
    return Injected("\n\n".join(parts), tuple(items), tuple(dropped))


@dataclass(frozen=True, slots=True)
class _Words:
    templates: Templates
    language: Language
    nonce: str

    @property
    def head(self) -> str:
        return self.templates.fill(self.language, "knowledge", nonce=self.nonce)

    @property
    def cut(self) -> str:
        return self.templates.get(self.language, "cut")

    def section(self, found: Found, text: str) -> str:
        entry = found.entry
        inside = self.templates.fill(
            self.language,
            "entry",
            title=with_hidden_shown(entry.title),
            kind=entry.kind.value,
            tags=_tags(entry),
            changed=_day(entry),
            scope=self.scope(entry),
            text=text,
        )
        return fences.fenced(found.label, self.nonce, inside)

    def conflicts(self, new: Found, shown: Sequence[Found], pairs: frozenset[frozenset[str]]) -> list[str]:
        """A sentence for each entry above that the new one contradicts (KP-10)."""
        return [
            self.templates.fill(
                self.language,
                "conflict",
                first=other.label,
                first_changed=_day(other.entry),
                first_scope=self.scope(other.entry),
                second=new.label,
                second_changed=_day(new.entry),
                second_scope=self.scope(new.entry),
            )
            for other in shown
            if frozenset({other.entry.id, new.entry.id}) in pairs
        ]

    def scope(self, entry: Entry) -> str:
        if entry.project is None:
            return self.templates.get(self.language, "everywhere")
        return self.templates.fill(self.language, "project", name=entry.project.name)


def _tags(entry: Entry) -> str:
    text = with_hidden_shown(", ".join(entry.tags)) or "–"
    return text if len(text) <= TAGS_CHARS else f"{text[: TAGS_CHARS - 1]}…"


def _day(entry: Entry) -> str:
    return entry.updated_at.date().isoformat()


def _item(found: Found, text: str, *, cut: bool) -> InjectedItem:
    entry = found.entry
    return InjectedItem(
        source="entry",
        ref=entry.id,
        number=found.label,
        title=entry.title,
        excerpt=text,
        reason=found.reason,
        score=found.score,
        size=len(text),
        kind=entry.kind.value,
        version=entry.version,
        cut=cut,
        matched=found.matched,
        places=found.places,
        similarity=None if found.similarity is None else round(found.similarity, 3),
    )
