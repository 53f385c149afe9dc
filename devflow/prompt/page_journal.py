"""What the log says of a lookup, in the seed's field names (§5.7), and of the answer that came of it (§10.1)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from devflow.domain.ids import now
from devflow.domain.receipt import Phase
from devflow.domain.redaction import redact
from devflow.domain.request import Injected, LookupFailed, NothingFound, NotUsed
from devflow.prompt.page_lookup import PagesFound
from devflow.prompt.pages import shown_path
from devflow.retrieval.answers import asks_back, named_pages, unverified_pages
from devflow.retrieval.journal import preview


def journal_line(conversation_id: str, question: str, phase: Phase, pages: PagesFound) -> dict[str, Any]:
    """One lookup; `ts` is in milliseconds since the epoch, `wrappedCharCount` counts the message with its context."""
    block = pages.lookup.block if isinstance(pages.lookup, Injected | NothingFound) else ""
    items = pages.lookup.items if isinstance(pages.lookup, Injected) else ()
    found = pages.found
    return {
        "ts": round(now().timestamp() * 1_000),
        "sessionId": conversation_id,
        "kbPath": shown_path(pages.base, Path.home()) if pages.base is not None else "",
        "messagePreview": preview(redact(question).text),
        "triggered": not isinstance(pages.lookup, NotUsed),
        "explicitRefs": list(pages.references),
        "results": [{"path": item.ref, "hitReason": item.reason, "score": item.score} for item in items],
        "wrappedCharCount": len(question) + len(block) + 2 if block else len(question),
        "error": redact(pages.stack or pages.lookup.message).text if isinstance(pages.lookup, LookupFailed) else None,
        "phase": phase.value,
        "durationMs": pages.took_ms,
        "pages": pages.pages,
        "skipped": list(found.skipped) if found is not None else [],
    }


def judged(answer: str, given: Sequence[str]) -> dict[str, Any]:
    """What the answer did with the pages it was given."""
    named = named_pages(answer)
    return {
        "cited": [path for path in named if path in given],
        "unverified": list(unverified_pages(answer, given)),
        "askedBack": bool(given) and asks_back(answer),
    }
