"""Why something was found, as the window says it: in one line for a row, and fact by fact ("Why this?")."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from devflow.domain.messages import Translator
from devflow.domain.request import InjectedItem
from devflow.domain.text import fold
from devflow.retrieval.hits import Match, Tier
from devflow.retrieval.meaning import FLOOR
from devflow.retrieval.reasons import places_line, readable, why
from devflow.store.page_file import PageRow

_TIERS: dict[str, Tier] = {"like": "like", "term": "term", "meaning": "meaning"}
Places = tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class Why:
    """`line` is all of it in one line; `facts` are names and words."""

    line: str
    facts: tuple[tuple[str, str], ...]


def why_entry(t: Translator, match: Match, score: float | None = None) -> Why:
    """An entry that a search has found; `score` where it says something beside the order."""
    near = match.similarity is not None and match.similarity >= FLOOR
    match match.tier:
        case "like":
            by = t("the whole query, and meaning") if near else t("the whole query")
        case "term":
            by = t("words, and meaning") if near else t("words")
        case "meaning":
            by = t("meaning alone")
    facts = [(t("Found by"), by), *_place_facts(t, match.places)]
    if match.similarity is not None:
        floor = f"{FLOOR:.2f}"
        facts.append((t("Similarity"), t("{value}, near from {floor}", value=f"{match.similarity:.2f}", floor=floor)))
    return Why(why(t, match), (*facts, *_score_facts(t, score)))


def why_item(t: Translator, item: InjectedItem) -> Why:
    """An entry or a page that a turn was given."""
    tier = _TIERS.get(item.reason)
    if item.source == "entry" and tier is not None:
        fields = tuple(field for field, _ in item.places)
        return why_entry(t, Match(tier, item.matched, fields, item.similarity, item.places), item.score)
    by = page_reason(t, item.reason)
    places = places_line(t, item.places)
    line = t("{reason}; {places}", reason=by, places=places) if places else by
    facts = ((t("Found by"), by), *_place_facts(t, item.places), *_score_facts(t, item.score))
    return Why(line, facts)


def why_listed_page(t: Translator, page: PageRow, query: str, in_text: bool) -> Why:
    """A page that the wiki's search lists: its names contain the query, or its text has all the words."""
    places: Places
    if in_text:
        by = t("every word of the query")
        places = (("content", tuple(fold(query).split())),)
    else:
        by = t("the whole query")
        folded = query.strip().casefold()
        names = (("title", page.title), ("name", page.name), ("path", page.path))
        there = [field for field, text in names if folded in text.casefold()]
        if len(there) > 1 and "path" in there:
            there.remove("path")  # the file's name is a part of it
        places = tuple((field, (query.strip(),)) for field in there)
    return Why(places_line(t, places), ((t("Found by"), by), *_place_facts(t, places)))


def page_reason(t: Translator, reason: str) -> str:
    """The hit reason of a page (seed §5.1) in words; an unknown one as it is."""
    return {
        "explicit": t("Named in the question"),
        "title": t("Title match"),
        "kb_meta": t("About this base"),
        "recent_synthesis": t("Recent digest"),
        "filename": t("File name match"),
        "body": t("Body match"),
    }.get(reason, reason)


def _place_facts(t: Translator, places: Iterable[tuple[str, Sequence[str]]]) -> list[tuple[str, str]]:
    names = {
        "title": t("In the title"),
        "tags": t("In the tags"),
        "name": t("In the file name"),
        "path": t("In the path"),
        "content": t.p("why", "In the text"),
    }
    return [(names.get(field, field), ", ".join(readable(terms))) for field, terms in places]


def _score_facts(t: Translator, score: float | None) -> list[tuple[str, str]]:
    if score is None:
        return []
    return [(t("Score"), t("{value}, the best has {best}", value=f"{score:.2f}", best="1.00"))]
