"""What is looked for in a candidate before a human lets it in: secrets, hidden characters, contradictions."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from devflow.domain.knowledge import Entry
from devflow.domain.messages import Translator
from devflow.domain.redaction import find_secrets
from devflow.domain.text.hidden import hidden_characters
from devflow.ui.models.words import listed


@dataclass(frozen=True, slots=True)
class Check:
    """One finding beside an entry; `details` stand in the tooltip."""

    text: str
    good: bool
    details: str = ""


async def checks(t: Translator, entry: Entry, conflicts: Sequence[Entry]) -> tuple[Check, ...]:
    """Read the whole entry, away from the window's thread."""
    text = "\n".join((entry.title, entry.content, *entry.tags))
    secrets, hidden = await asyncio.to_thread(lambda: (find_secrets(text), hidden_characters(text)))
    found: list[Check] = []
    if secrets:
        labels = dict.fromkeys(secret.label for secret in secrets)
        words = t.n(
            "{count} possible secret: {labels}",
            "{count} possible secrets: {labels}",
            len(secrets),
            labels=listed(t, labels),
        )
        found.append(Check(words, False))
    if hidden:
        names = "\n".join(dict.fromkeys(each.name for each in hidden))
        found.append(Check(t.n("{count} hidden character", "{count} hidden characters", len(hidden)), False, names))
    if not found:
        found.append(Check(t("No secrets or hidden characters"), True))
    if conflicts:
        words = t("May contradict “{title}”", title=conflicts[0].title)
        found.append(Check(words, False, "\n".join(entry.title for entry in conflicts)))
    else:
        found.append(Check(t("No contradiction found"), True))
    return tuple(found)
