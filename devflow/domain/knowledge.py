"""The library's entry: kinds, statuses, the table of transitions, and the rules its fields obey (spec 01)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from devflow.domain.errors import InvalidInput, InvalidTransition
from devflow.domain.messages import N_
from devflow.domain.text.storable import is_storable

TITLE_MAX = 200
CONTENT_MAX = 20_000
TAGS_MAX = 20
TAG_MAX = 50


class Kind(StrEnum):
    PITFALL = "pitfall"
    REVIEW_RULE = "review_rule"
    PROMPT_TEMPLATE = "prompt_template"
    ARCHITECTURE_PATTERN = "architecture_pattern"
    DIAGNOSIS = "diagnosis"
    DEPLOYMENT_NOTE = "deployment_note"
    WORKFLOW_OPTIMIZATION = "workflow_optimization"


class Status(StrEnum):
    CANDIDATE = "candidate"
    PENDING_REVIEW = "pending_review"
    PUBLISHED = "published"
    ARCHIVED = "archived"


INBOX = frozenset({Status.CANDIDATE, Status.PENDING_REVIEW})
LIBRARY = frozenset({Status.PUBLISHED})
NOT_ARCHIVED = frozenset(Status) - {Status.ARCHIVED}

TRANSITIONS: Mapping[Status, frozenset[Status]] = {
    Status.CANDIDATE: frozenset({Status.PENDING_REVIEW, Status.ARCHIVED}),
    Status.PENDING_REVIEW: frozenset({Status.PUBLISHED, Status.ARCHIVED}),
    Status.PUBLISHED: frozenset({Status.ARCHIVED}),
    Status.ARCHIVED: frozenset(),
}


def check_transition(id: str, current: Status, wanted: Status) -> None:
    """Raise `InvalidTransition` unless `current → wanted` is one of the five edges (seed, 状态机)."""
    if wanted not in TRANSITIONS[current]:
        raise InvalidTransition(id, current.value, wanted.value)


class EmbeddingStatus(StrEnum):
    NONE = "none"
    PENDING = "pending"
    READY = "ready"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Embedding:
    """Where the entry's vector stands. `dimension` is the number of components; `attempts` counts failed tries."""

    status: EmbeddingStatus = EmbeddingStatus.NONE
    model: str | None = None
    dimension: int | None = None
    error: str | None = None
    attempts: int = 0


@dataclass(frozen=True, slots=True)
class Evidence:
    """What an extracted entry rests on: the messages it came from and the words that were said."""

    message_ids: tuple[str, ...]
    quote: str
    role: str = ""  # who said it: "user" or "assistant"; empty when unknown


@dataclass(frozen=True, slots=True)
class Project:
    """A workspace folder that entries may hold for. `path` is absolute."""

    id: str
    name: str
    path: str


@dataclass(frozen=True, slots=True)
class Entry:
    """One row of the library. Instants are aware UTC datetimes; `content` is Markdown, byte for byte as given."""

    id: str
    kind: Kind
    title: str
    content: str
    tags: tuple[str, ...]
    status: Status
    confidence: float
    reuse_count: int
    project: Project | None
    source_ref: str
    created_at: datetime
    updated_at: datetime
    published_at: datetime | None
    archived_at: datetime | None
    version: int
    evidence: Evidence | None = None
    embedding: Embedding = field(default_factory=Embedding)


@dataclass(frozen=True, slots=True)
class EntryDraft:
    """What a new entry is made of. Build it with `draft()`, which applies the rules."""

    kind: Kind
    title: str
    content: str
    tags: tuple[str, ...] = ()
    confidence: float = 1.0
    project_id: str | None = None
    source_ref: str = "manual"
    evidence: Evidence | None = None


class Unset:
    """The type of `UNSET`: "leave this field as it is", where None is a value of its own."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "UNSET"


UNSET = Unset()


@dataclass(frozen=True, slots=True)
class EntryEdit:
    """A change of fields, checked when it is applied. `version` is the one the editor read."""

    version: int
    kind: str | Unset = UNSET
    title: str | Unset = UNSET
    content: str | Unset = UNSET
    tags: Iterable[str] | Unset = UNSET
    confidence: float | Unset = UNSET
    project_id: str | None | Unset = UNSET


class EventKind(StrEnum):
    """What a timeline event says happened."""

    CREATED = "created"
    UPDATED = "updated"
    STATUS_CHANGED = "status_changed"
    RESTORED = "restored"
    REUSED = "reused"
    SEEN_AGAIN = "seen_again"
    MERGED = "merged"
    DISMISSED = "dismissed"
    UNDONE = "undone"
    REDONE = "redone"
    ERASED = "erased"


@dataclass(frozen=True, slots=True)
class TimelineEvent:
    """One line of an entry's timeline.

    `actor` is `user`, `ai`, `system` or `mcp:<client>`. `changes` maps a field to its `[before, after]` pair in JSON
    terms; `detail` holds what else the event knows (conversation, message, reason, similar entry).
    """

    id: int
    entry_id: str
    event: EventKind
    actor: str
    at: datetime
    operation: str
    changes: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)
    detail: Mapping[str, Any] = field(default_factory=dict)


def draft(
    *,
    kind: str,
    title: str,
    content: str,
    tags: Iterable[str] = (),
    confidence: float = 1.0,
    project_id: str | None = None,
    source_ref: str = "manual",
    evidence: Evidence | None = None,
) -> EntryDraft:
    """Apply the entry's rules and return a draft; raises `InvalidInput` naming the field."""
    return EntryDraft(
        kind=check_kind(kind),
        title=check_title(title),
        content=check_content(content),
        tags=check_tags(tags),
        confidence=check_confidence(confidence),
        project_id=project_id,
        source_ref=source_ref,
        evidence=evidence,
    )


def check_kind(value: str) -> Kind:
    try:
        return Kind(value)
    except ValueError:
        raise InvalidInput(
            "kind",
            N_("There is no kind {value}."),
            N_("Kinds: {kinds}."),
            value=repr(value),
            kinds=", ".join(Kind),
        ) from None


def check_status(value: str) -> Status:
    try:
        return Status(value)
    except ValueError:
        raise InvalidInput(
            "status",
            N_("There is no status {value}."),
            N_("Statuses: {statuses}."),
            value=repr(value),
            statuses=", ".join(Status),
        ) from None


def check_title(value: str) -> str:
    """1–200 characters after trimming, on one line."""
    title = value.strip()
    if not title:
        raise InvalidInput("title", N_("The title is empty."), N_("Give it a title of 1 to 200 characters."))
    if len(title.splitlines()) > 1:
        raise InvalidInput("title", N_("The title has more than one line."), N_("Put the details into the content."))
    if len(title) > TITLE_MAX:
        raise InvalidInput(
            "title",
            N_("The title has {length} characters; at most {limit} fit."),
            N_("Shorten it and put the details into the content."),
            length=len(title),
            limit=TITLE_MAX,
        )
    return _storable("title", title)


def check_content(value: str) -> str:
    """1–20,000 characters, kept byte for byte; white space alone counts as empty."""
    if not value.strip():
        raise InvalidInput("content", N_("The content is empty."), N_("Write what someone should know."))
    if len(value) > CONTENT_MAX:
        raise InvalidInput(
            "content",
            N_("The content has {length} characters; at most {limit} fit."),
            N_("Split it into several entries."),
            length=len(value),
            limit=CONTENT_MAX,
        )
    return _storable("content", value)


def check_tags(values: Iterable[str]) -> tuple[str, ...]:
    """Trimmed, empty and (case-insensitively) repeated ones dropped, order kept; ≤ 20 of ≤ 50 characters, one line."""
    kept: list[str] = []
    seen: set[str] = set()
    for value in values:
        tag = " ".join(line.strip() for line in value.splitlines()).strip()
        key = tag.casefold()
        if not tag or key in seen:
            continue
        if len(tag) > TAG_MAX:
            raise InvalidInput(
                "tags",
                N_("The tag {tag} has {length} characters; at most {limit} fit."),
                N_("Shorten it."),
                tag=repr(tag[:TAG_MAX]),
                length=len(tag),
                limit=TAG_MAX,
            )
        seen.add(key)
        kept.append(_storable("tags", tag))
        if len(kept) > TAGS_MAX:
            raise InvalidInput(
                "tags", N_("There are more than {limit} tags."), N_("Keep the telling ones."), limit=TAGS_MAX
            )
    return tuple(kept)


def check_confidence(value: float) -> float:
    """A number from 0.0 to 1.0 (NaN is not one)."""
    number = float(value)
    if not 0.0 <= number <= 1.0:
        raise InvalidInput(
            "confidence", N_("A confidence of {value} is not from 0.0 to 1.0."), N_("Use 0.5 if unsure."), value=value
        )
    return number


def _storable(field_name: str, text: str) -> str:
    """NUL and lone surrogates cannot be stored or shown by every tool that reads the database."""
    if not is_storable(text):
        raise InvalidInput(
            field_name,
            N_("The {field} holds a character that cannot be stored (NUL or half of a surrogate pair)."),
            N_("Remove it; it is often left by a broken copy or a binary file."),
        )
    return text
