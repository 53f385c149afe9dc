"""What an answer cites counts as reuse, once per (message, entry); what was merely injected does not (spec 01)."""

from __future__ import annotations

from devflow.domain.citations import cited_numbers
from devflow.domain.conversation import Message, MessageState
from devflow.domain.ids import new_id
from devflow.domain.run import Run
from devflow.store import citations, conversations, entries, receipts, runs
from devflow.store.database import Unit


def record_citations(unit: Unit, run: Run, message_id: str) -> None:
    """Note which entries the run's last message cites, in the transaction that completes it.

    A number that belongs to no entry of the conversation is nobody's; an entry that is no longer published is noted as
    cited but not counted.
    """
    numbers = receipts.numbers(unit.session, run.conversation_id)
    operation = new_id()
    for number in cited_numbers(_whole_answer(unit, run, message_id)):
        entry_id = numbers.get(number)
        if entry_id is None or not citations.record(unit, message_id, entry_id):
            continue
        detail = {"conversation": run.conversation_id, "message": message_id}
        entries.bump_reuse(unit, entry_id, actor="ai", operation=operation, detail=detail)


def _whole_answer(unit: Unit, run: Run, message_id: str) -> str:
    """The message's text after that of the cut answers it continues."""
    parts: list[Message] = [conversations.message(unit.session, message_id)]
    for message in reversed(runs.transcript(unit.session, run.id).messages[:-1]):
        if message.state is not MessageState.PARTIAL:
            break
        parts.append(message)
    return "".join(message.content for message in reversed(parts))
