"""What a model answered, as candidates: strict item by item, and every one rests on words of a new message."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from devflow.domain.citations import without_marks
from devflow.domain.errors import InvalidInput
from devflow.domain.knowledge import EntryDraft, Evidence, draft
from devflow.extraction.loose_json import NotJson, find_json
from devflow.extraction.transcript import Line, find_quote

MOST_ITEMS = 10
"""More than this from six messages is a model running away; the rest is dropped."""

UNKNOWN_CONFIDENCE = 0.5
"""Where the model did not say (as for MCP, spec 01)."""

QUOTE_MAX = 1_000  # characters of evidence that are kept


@dataclass(frozen=True, slots=True)
class Parsed:
    """The drafts, and for each item that was dropped why (English, for the log)."""

    drafts: tuple[EntryDraft, ...]
    dropped: tuple[str, ...] = ()


def parse(answer: str, lines: Sequence[Line], *, source_ref: str, project_id: str | None = None) -> Parsed:
    """Read the model's answer against the transcript it was given; raises `NotJson` when there is nothing to read.

    An item that is unknown in kind, empty in title, over a limit, cut off, or whose evidence is not in a new message,
    is dropped; the others stay.
    """
    found = find_json(answer)
    items = _items(found.values)
    if items is None:
        raise NotJson
    drafts: list[EntryDraft] = []
    dropped: list[str] = ["the last one was cut off"] if found.cut else []
    seen: set[tuple[str, str]] = set()
    for item in items:
        try:
            made = _draft(item, lines, source_ref, project_id)
        except _Dropped as reason:
            dropped.append(str(reason))
            continue
        key = (made.title.casefold(), made.content)
        if key in seen:
            dropped.append(f"the same twice: {made.title!r}")
        elif len(drafts) == MOST_ITEMS:
            dropped.append(f"more than {MOST_ITEMS} items")
            break
        else:
            seen.add(key)
            drafts.append(made)
    return Parsed(tuple(drafts), tuple(dropped))


class _Dropped(Exception):
    """Why an item is not taken."""


def _kind(value: object) -> object:
    """`Review Rule` and `review-rule` are the kind `review_rule`; nothing else is guessed."""
    return value.strip().casefold().replace("-", "_").replace(" ", "_") if isinstance(value, str) else value


def _number(value: object) -> object:
    """`"0.8"` is 0.8; a boolean is no confidence."""
    if value is None:
        return UNKNOWN_CONFIDENCE
    if isinstance(value, bool):
        raise ValueError("a boolean is no confidence")  # noqa: TRY004  # pydantic reports ValueErrors
    return float(value) if isinstance(value, str) else value


def _not_blank(value: str) -> str:
    if not value.strip():
        raise ValueError("blank")
    return value


class _Item(BaseModel):
    """One item as the schema asks for it; fields it does not know are ignored."""

    model_config = ConfigDict(strict=True, extra="ignore")

    kind: Annotated[str, BeforeValidator(_kind)]
    title: Annotated[str, AfterValidator(_not_blank)]
    content: Annotated[str, AfterValidator(_not_blank)]
    tags: Annotated[list[str], BeforeValidator(lambda value: [] if value is None else value)] = []
    confidence: Annotated[float, BeforeValidator(_number), Field(ge=0, le=1)] = UNKNOWN_CONFIDENCE
    evidence: Annotated[str, AfterValidator(_not_blank)]


def _draft(item: object, lines: Sequence[Line], source_ref: str, project_id: str | None) -> EntryDraft:
    try:
        read = _Item.model_validate(item)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        raise _Dropped(f"{'.'.join(map(str, first['loc'])) or 'item'}: {first['msg']}") from None
    quote = find_quote(read.evidence, lines)
    if quote is None:
        raise _Dropped(f"evidence is not in a new message: {read.title[:80]!r}")
    try:
        return draft(
            kind=read.kind,
            title=" ".join(read.title.split()),
            content=without_marks(read.content).strip(),
            tags=read.tags,
            confidence=read.confidence,
            project_id=project_id,
            source_ref=source_ref,
            evidence=Evidence(quote.message_ids, quote.text[:QUOTE_MAX], quote.role),
        )
    except InvalidInput as error:
        raise _Dropped(f"{error.field}: {error}") from None


def _items(values: Iterable[Any]) -> list[Any] | None:
    """The items in what was found: an array, an object around one, single objects; None if nothing is of that shape."""
    items: list[Any] = []
    known = False
    for value in values:
        inner = _unwrap(value)
        if inner is not None:
            known = True
            items += inner
    return items if known else None


def _unwrap(value: Any, depth: int = 0) -> list[Any] | None:
    match value:
        case list():
            return value if not value or any(isinstance(item, dict) for item in value) else None
        case dict() if not value:
            return []
        case dict() if "title" in value or "evidence" in value:
            return [value]
        case dict() if depth < 3:
            for name in ("items", *value):
                inner = _unwrap(value.get(name), depth + 1)
                if inner is not None:
                    return inner
            return None
        case _:
            return None
