"""Where an entry comes from, in words and as an address inside the window."""

from __future__ import annotations

from dataclasses import dataclass

from devflow.domain.errors import NotFound
from devflow.domain.knowledge import Entry
from devflow.ui.context import UiContext
from devflow.ui.models.words import source_name


@dataclass(frozen=True, slots=True)
class Provenance:
    """`address` opens the message it came from, or the conversation; empty where there is none (any more).

    `number` is that message's place in the conversation's active path, from 1; 0 where it is not on it.
    """

    words: str
    address: str = ""
    number: int = 0


async def provenance(ctx: UiContext, entry: Entry) -> Provenance:
    """Look the conversation up; without one the source's own words."""
    kind, _, conversation_id = entry.source_ref.partition(":")
    if kind != "conv":
        return Provenance(source_name(ctx.t, entry.source_ref))
    try:
        path = await ctx.services.conversations.path(conversation_id)
    except NotFound:
        return Provenance(ctx.t("Chat, deleted since"))
    if path.conversation.deleted_at is not None:
        return Provenance(ctx.t("Chat, deleted since"))
    title = path.conversation.title or ctx.t("New conversation")
    words = ctx.t("Chat: {title}", title=title)
    if entry.evidence is None or not entry.evidence.message_ids:
        return Provenance(words, f"devflow:conversation/{conversation_id}")
    message_id = entry.evidence.message_ids[0]
    places = {message.id: place for place, message in enumerate(path.messages, 1)}
    return Provenance(words, f"devflow:message/{conversation_id}/{message_id}", places.get(message_id, 0))
