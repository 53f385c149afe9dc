"""Receipts of lookups, the numbers that entries have in a conversation, and what the user thought of a source."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict
from typing import Any, assert_never

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from devflow.domain.errors import NotFound
from devflow.domain.events import Aggregate
from devflow.domain.ids import new_id
from devflow.domain.messages import N_
from devflow.domain.receipt import Phase, Receipt
from devflow.domain.request import Injected, InjectedItem, Lookup, LookupFailed, NothingFound, NotUsed
from devflow.store import conversations
from devflow.store.database import Unit
from devflow.store.schema import EntryNumberRow, FeedbackRow, ReceiptRow

RECEIPT = N_("receipt")


def insert(
    unit: Unit, *, conversation_id: str, run_id: str, phase: Phase, nonce: str, library: Lookup, pages: Lookup
) -> Receipt:
    row = ReceiptRow(
        id=new_id(),
        conversation_id=conversation_id,
        run_id=run_id,
        seq=conversations.next_seq(unit, conversation_id),
        phase=phase.value,
        nonce=nonce,
        library=_to_json(library),
        pages=_to_json(pages),
        created_at=unit.at,
    )
    unit.session.add(row)
    unit.session.flush()
    unit.changed(Aggregate.CONVERSATION, conversation_id)
    return _to_receipt(row, {})


def newest_of_run(session: Session, run_id: str) -> Receipt | None:
    row = session.scalars(
        select(ReceiptRow).where(ReceiptRow.run_id == run_id).order_by(ReceiptRow.seq.desc()).limit(1)
    ).first()
    return _to_receipt(row, {}) if row else None


def of_conversation(session: Session, conversation_id: str, runs: Collection[str] | None = None) -> tuple[Receipt, ...]:
    """Its receipts, oldest first, with the feedback given; with `runs` only those of these runs."""
    chosen = select(ReceiptRow).where(ReceiptRow.conversation_id == conversation_id)
    if runs is not None:
        chosen = chosen.where(ReceiptRow.run_id.in_(runs))
    rows = session.scalars(chosen.order_by(ReceiptRow.seq)).all()
    given: dict[str, dict[str, int]] = {}
    verdicts = session.scalars(select(FeedbackRow).where(FeedbackRow.receipt_id.in_([row.id for row in rows])))
    for verdict in verdicts:
        given.setdefault(verdict.receipt_id, {})[verdict.ref] = verdict.verdict
    return tuple(_to_receipt(row, given.get(row.id, {})) for row in rows)


def set_feedback(unit: Unit, receipt_id: str, ref: str, verdict: int | None) -> None:
    """Helpful (+1), not helpful (-1), or no opinion any more (None)."""
    receipt = unit.session.get(ReceiptRow, receipt_id)
    if receipt is None:
        raise NotFound(RECEIPT, receipt_id)
    unit.session.execute(delete(FeedbackRow).where(FeedbackRow.receipt_id == receipt_id, FeedbackRow.ref == ref))
    if verdict is not None:
        unit.session.add(FeedbackRow(receipt_id=receipt_id, ref=ref, verdict=verdict, created_at=unit.at))
    unit.changed(Aggregate.CONVERSATION, receipt.conversation_id)


# entry numbers ------------------------------------------------------------------------------------------------------


def number_entries(unit: Unit, conversation_id: str, entry_ids: Iterable[str]) -> dict[str, int]:
    """The `[K…]` number of each entry in that conversation; a new entry gets the next, which no other ever gets."""
    known = numbers(unit.session, conversation_id)
    by_entry = {entry: number for number, entry in known.items()}
    highest = unit.session.execute(
        select(func.coalesce(func.max(EntryNumberRow.number), 0)).where(
            EntryNumberRow.conversation_id == conversation_id
        )
    ).scalar_one()
    for entry in entry_ids:
        if entry not in by_entry:
            highest += 1
            by_entry[entry] = highest
            unit.session.add(EntryNumberRow(conversation_id=conversation_id, entry_id=entry, number=highest))
    unit.session.flush()
    return by_entry


def numbers(session: Session, conversation_id: str) -> dict[int, str]:
    """Number → entry id, for every entry this conversation was ever given."""
    rows = session.execute(
        select(EntryNumberRow.number, EntryNumberRow.entry_id).where(EntryNumberRow.conversation_id == conversation_id)
    )
    return dict(rows.all())


# as JSON ------------------------------------------------------------------------------------------------------------


def _to_json(lookup: Lookup) -> dict[str, Any]:
    match lookup:
        case Injected(block, items, dropped):
            return {
                "is": "injected",
                "block": block,
                "items": [asdict(item) for item in items],
                "dropped": list(dropped),
            }
        case NothingFound(block):
            return {"is": "nothing_found", "block": block}
        case NotUsed(why):
            return {"is": "not_used", "why": why}
        case LookupFailed(message):
            return {"is": "failed", "message": message}
        case _:
            assert_never(lookup)


def _from_json(raw: object) -> Lookup:
    """A receipt that cannot be read counts as a lookup that failed: it is shown, and never sent again as it was."""
    try:
        return _lookup_of(raw)
    except (KeyError, TypeError, ValueError) as error:
        return LookupFailed(f"the receipt cannot be read ({type(error).__name__})")


def _lookup_of(raw: Any) -> Lookup:
    match raw["is"]:
        case "injected":
            return Injected(raw["block"], tuple(map(_item_of, raw["items"])), tuple(raw["dropped"]))
        case "nothing_found":
            return NothingFound(raw.get("block", ""))
        case "not_used":
            return NotUsed(raw["why"])
        case "failed":
            return LookupFailed(raw["message"])
        case unknown:
            raise ValueError(f"a receipt of an unknown kind: {unknown!r}")


def _item_of(raw: Any) -> InjectedItem:
    """Receipts of former versions have no `places`."""
    places = tuple((field, tuple(terms)) for field, terms in raw.get("places", ()))
    return InjectedItem(**{**raw, "matched": tuple(raw["matched"]), "places": places})


def _to_receipt(row: ReceiptRow, feedback: Mapping[str, int]) -> Receipt:
    return Receipt(
        id=row.id,
        conversation_id=row.conversation_id,
        run_id=row.run_id,
        seq=row.seq,
        phase=Phase(row.phase),
        nonce=row.nonce,
        library=_from_json(row.library),
        pages=_from_json(row.pages),
        created_at=row.created_at,
        feedback=feedback,
    )
