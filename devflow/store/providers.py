"""The model servers that the user set up. Keys are not here: they are in the keychain."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from devflow.domain.errors import NotFound
from devflow.domain.events import Aggregate
from devflow.domain.messages import N_
from devflow.domain.provider import LineState, Probe, ProviderConfig, ProviderDraft, TestLine, TestReport
from devflow.store.database import Unit
from devflow.store.schema import ProviderRow

WHAT = N_("provider")


def all_providers(session: Session) -> tuple[ProviderConfig, ...]:
    """Every provider, in the order in which they were added."""
    rows = session.scalars(select(ProviderRow).order_by(ProviderRow.position, ProviderRow.created_at))
    return tuple(to_config(row) for row in rows)


def get(session: Session, id: str) -> ProviderConfig:
    return to_config(_row(session, id))


def insert(unit: Unit, id: str, draft: ProviderDraft) -> ProviderConfig:
    """Add one at the end."""
    last = unit.session.scalar(select(func.max(ProviderRow.position)))
    row = ProviderRow(
        id=id, position=0 if last is None else last + 1, last_test=None, created_at=unit.at, updated_at=unit.at
    )
    _fill(row, draft)
    unit.session.add(row)
    unit.session.flush()
    unit.changed(Aggregate.PROVIDER, id)
    return to_config(row)


def update(unit: Unit, id: str, draft: ProviderDraft) -> ProviderConfig:
    """Replace what the user sets; a test of what it was before no longer says anything and is forgotten."""
    row = _row(unit.session, id)
    if (row.base_url, row.models) != (draft.base_url, list(draft.models)):
        row.last_test = None
    _fill(row, draft)
    row.updated_at = unit.at
    unit.session.flush()
    unit.changed(Aggregate.PROVIDER, id)
    return to_config(row)


def remove(unit: Unit, id: str) -> None:
    unit.session.delete(_row(unit.session, id))
    unit.changed(Aggregate.PROVIDER, id)


def save_test(unit: Unit, id: str, report: TestReport) -> ProviderConfig:
    row = _row(unit.session, id)
    row.last_test = _report_to_json(report)
    unit.session.flush()
    unit.changed(Aggregate.PROVIDER, id)
    return to_config(row)


def to_config(row: ProviderRow) -> ProviderConfig:
    return ProviderConfig(
        id=row.id,
        name=row.name,
        adapter=row.adapter,
        preset=row.preset,
        base_url=row.base_url,
        models=tuple(str(model) for model in row.models) if isinstance(row.models, list) else (),
        settings=dict(row.settings) if isinstance(row.settings, dict) else {},
        last_test=_report_from_json(row.last_test),
    )


def _row(session: Session, id: str) -> ProviderRow:
    row = session.get(ProviderRow, id)
    if row is None:
        raise NotFound(WHAT, id)
    return row


def _fill(row: ProviderRow, draft: ProviderDraft) -> None:
    row.name = draft.name
    row.adapter = draft.adapter
    row.preset = draft.preset
    row.base_url = draft.base_url
    row.models = list(draft.models)
    row.settings = dict(draft.settings)


def _report_to_json(report: TestReport) -> dict[str, Any]:
    lines = [
        {"what": line.what.value, "state": line.state.value, "message": line.message, "params": dict(line.params)}
        for line in report.lines
    ]
    return {"at": report.at.isoformat(), "duration_ms": report.duration_ms, "lines": lines}


def _report_from_json(value: Mapping[str, Any] | None) -> TestReport | None:
    """None for a report of a newer version that cannot be read: it is only shown, and the next test makes another."""
    if value is None:
        return None
    try:
        lines = tuple(
            TestLine(Probe(line["what"]), LineState(line["state"]), line["message"], line["params"])
            for line in value["lines"]
        )
        return TestReport(datetime.fromisoformat(value["at"]), value["duration_ms"], lines)
    except (KeyError, TypeError, ValueError):
        return None
