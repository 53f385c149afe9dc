"""Secrets in text that is about to be sent or kept: found by their format or by the name beside them, and blotted out.

Own patterns rather than a detector library. The candidate was detect-secrets (Apache-2.0, last release 2024): it reads
files line by line and tells the line, not the place in it, brings PyYAML and a second HTTP client, and knows neither
the Chinese providers nor `密码：…`. What counts here is a replacement at exact places within prose.

Everything is found on the original text, so that no rule sees another's placeholder, and a redacted text stays as it
is when it is redacted again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from devflow.domain.knowledge import CONTENT_MAX, TAG_MAX, TITLE_MAX, EntryDraft
from devflow.domain.redaction.formats import by_format
from devflow.domain.redaction.named import by_name

_IMAGE = re.compile(r"data:[\w.+-]{1,40}/[\w.+-]{1,60}(?:;[\w=.-]{1,40}){0,3};base64,[A-Za-z0-9+/=]+")


@dataclass(frozen=True, slots=True)
class Secret:
    """Where a secret stands in the text, and what it is called in the placeholder."""

    start: int
    end: int
    label: str


@dataclass(frozen=True, slots=True)
class Redacted:
    """The text without its secrets; `labels` names each one taken out, in order."""

    text: str
    labels: tuple[str, ...]


def redact(text: str) -> Redacted:
    """Replace every secret by `[redacted: <label>]`."""
    secrets = find_secrets(text)
    if not secrets:
        return Redacted(text, ())
    parts: list[str] = []
    done = 0
    for secret in secrets:
        parts += (text[done : secret.start], f"[redacted: {secret.label}]")
        done = secret.end
    return Redacted("".join([*parts, text[done:]]), tuple(secret.label for secret in secrets))


def find_secrets(text: str) -> tuple[Secret, ...]:
    """The secrets in `text`, in order, never overlapping. Embedded images are not looked into."""
    images = [match.span() for match in _IMAGE.finditer(text)] if ";base64," in text else []
    found = [Secret(*hit) for rule in (by_format, by_name) for hit in rule(text)]
    return _disjoint(secret for secret in found if not any(start <= secret.start < end for start, end in images))


def redact_draft(draft: EntryDraft) -> EntryDraft:
    """The draft as it may be stored: title, content, tags and the quoted evidence without secrets.

    A placeholder can be longer than what it replaces; a field that would pass its limit by that is cut.
    """
    evidence = draft.evidence
    return replace(
        draft,
        title=redact_title(draft.title),
        content=redact_content(draft.content),
        tags=redact_tags(draft.tags),
        evidence=replace(evidence, quote=redact(evidence.quote).text) if evidence else None,
    )


def redact_title(title: str) -> str:
    return _within(redact(title).text, TITLE_MAX)


def redact_content(content: str) -> str:
    return _within(redact(content).text, CONTENT_MAX)


def redact_tags(tags: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_within(redact(tag).text, TAG_MAX) for tag in tags))


def _disjoint(found: Iterable[Secret]) -> tuple[Secret, ...]:
    """Overlapping finds become one, named by the one that starts first (of equals: the longest, then the format's)."""
    merged: list[Secret] = []
    for secret in sorted(found, key=lambda item: (item.start, -item.end)):
        if merged and secret.start < merged[-1].end:
            merged[-1] = replace(merged[-1], end=max(merged[-1].end, secret.end))
        else:
            merged.append(secret)
    return tuple(merged)


def _within(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
