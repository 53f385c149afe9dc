"""Batch digests: one row for a batch, one for each of its files.

A file is claimed before its model is asked, its page's name is written down before the page is, and it is finished
after: whatever a kill leaves behind, the rows say what there is to do.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from devflow.domain.conversation import ModelChoice
from devflow.domain.digest import UNFINISHED, BatchState, DigestBatch, DigestFile, FileState, Trouble
from devflow.domain.errors import NotFound
from devflow.domain.events import Aggregate
from devflow.domain.ids import new_id
from devflow.domain.messages import N_
from devflow.store import tolerant
from devflow.store.database import Unit
from devflow.store.schema import DigestBatchRow, DigestFileRow

WHAT = N_("digest")


def add(
    unit: Unit,
    kb_id: str,
    paths: Sequence[str],
    *,
    owner: str,
    concurrency: int,
    force: bool,
    choice: ModelChoice,
) -> DigestBatch:
    """A new batch that this process carries out, with every file waiting."""
    row = DigestBatchRow(
        id=new_id(),
        kb_id=kb_id,
        state=BatchState.RUNNING.value,
        owner=owner,
        concurrency=concurrency,
        force=force,
        provider_id=choice.provider_id,
        model=choice.model,
        created_at=unit.at,
        updated_at=unit.at,
    )
    unit.session.add(row)
    unit.session.flush()
    unit.session.add_all(
        DigestFileRow(
            id=new_id(),
            batch_id=row.id,
            position=position,
            path=path,
            state=FileState.WAITING.value,
            updated_at=unit.at,
        )
        for position, path in enumerate(paths)
    )
    unit.session.flush()
    unit.changed(Aggregate.DIGEST, row.id)
    return get(unit.session, row.id)


def get(session: Session, id: str) -> DigestBatch:
    """The batch with its files; raises `NotFound`."""
    row = session.get(DigestBatchRow, id)
    if row is None:
        raise NotFound(WHAT, id)
    return _to_batch(session, row)


def of_base(session: Session, kb_id: str, limit: int = 20) -> tuple[DigestBatch, ...]:
    """The batches of a knowledge base, the newest first."""
    chosen = select(DigestBatchRow).where(DigestBatchRow.kb_id == kb_id)
    rows = session.scalars(chosen.order_by(DigestBatchRow.created_at.desc(), DigestBatchRow.id).limit(limit))
    return tuple(_to_batch(session, row) for row in rows)


def running(session: Session) -> tuple[DigestBatch, ...]:
    """Every batch that is being carried out, or was cut off; the newest first."""
    chosen = select(DigestBatchRow).where(DigestBatchRow.state == BatchState.RUNNING.value)
    rows = session.scalars(chosen.order_by(DigestBatchRow.created_at.desc(), DigestBatchRow.id))
    return tuple(_to_batch(session, row) for row in rows)


def files(session: Session, ids: Collection[str]) -> tuple[DigestFile, ...]:
    """Those files, in no order; one that is gone is left out."""
    return tuple(map(_to_file, session.scalars(select(DigestFileRow).where(DigestFileRow.id.in_(ids)))))


def wait_again(unit: Unit, id: str, owner: str, file_ids: Collection[str]) -> bool:
    """Let failed files of a batch that `owner` carries out wait once more; False where it has ended already."""
    row = unit.session.get(DigestBatchRow, id)
    if row is None:
        raise NotFound(WHAT, id)
    if row.state != BatchState.RUNNING.value or row.owner != owner:
        return False
    _wait(unit, id, (FileState.FAILED,), file_ids)
    return True


def take(
    unit: Unit,
    id: str,
    owner: str,
    is_alive: Callable[[str | None], bool],
    choice: ModelChoice,
    again: Collection[FileState] = (),
    only: Collection[str] | None = None,
) -> DigestBatch | None:
    """Take over a batch whose process is gone or that has ended: what is unfinished waits again, and so does `again`.

    It is asked of `choice` from now on. `only`: no other files than these begin to wait.

    None where a living process is at it. Raises `NotFound`.
    """
    row = unit.session.get(DigestBatchRow, id)
    if row is None:
        raise NotFound(WHAT, id)
    if row.state == BatchState.RUNNING.value and row.owner is not None and is_alive(row.owner):
        return None
    row.state, row.owner, row.updated_at = BatchState.RUNNING.value, owner, unit.at
    row.provider_id, row.model = choice.provider_id, choice.model
    _wait(unit, id, (*UNFINISHED, *again), only)
    return get(unit.session, id)


def _wait(unit: Unit, id: str, states: Collection[FileState], only: Collection[str] | None) -> None:
    wanted = [DigestFileRow.batch_id == id, DigestFileRow.state.in_([state.value for state in states])]
    if only is not None:
        wanted.append(DigestFileRow.id.in_(only))
    waiting = {"state": FileState.WAITING.value, "trouble": None, "updated_at": unit.at}
    unit.session.execute(update(DigestFileRow).where(*wanted).values(**waiting))
    unit.session.flush()
    unit.changed(Aggregate.DIGEST, id)


def save(unit: Unit, file_id: str, **values: Any) -> DigestFile:
    """Change a file's fields (`state`, `sha256`, `page`, `title`, `trouble`, …)."""
    row = unit.session.get(DigestFileRow, file_id)
    if row is None:
        raise NotFound(WHAT, file_id)
    for name, value in values.items():
        setattr(row, name, _stored(value))
    row.updated_at = unit.at
    unit.session.flush()
    unit.changed(Aggregate.DIGEST, row.batch_id)
    return _to_file(row)


def begin(unit: Unit, file_id: str) -> DigestFile:
    """A file's turn has come."""
    row = unit.session.get(DigestFileRow, file_id)
    if row is None:
        raise NotFound(WHAT, file_id)
    return save(unit, file_id, state=FileState.RUNNING, attempts=tolerant.number(row.attempts) + 1)


def spend(unit: Unit, file_id: str, input_tokens: int, output_tokens: int) -> DigestFile:
    """What one more request for that file has cost."""
    row = unit.session.get(DigestFileRow, file_id)
    if row is None:
        raise NotFound(WHAT, file_id)
    return save(
        unit,
        file_id,
        input_tokens=tolerant.number(row.input_tokens) + input_tokens,
        output_tokens=tolerant.number(row.output_tokens) + output_tokens,
    )


def end(unit: Unit, id: str, owner: str | None, state: BatchState) -> DigestBatch:
    """End a running batch that is `owner`'s; what has not begun or was stopped half way is cancelled with it."""
    row = unit.session.get(DigestBatchRow, id)
    if row is None:
        raise NotFound(WHAT, id)
    if row.owner == owner and row.state == BatchState.RUNNING.value:
        row.state, row.owner, row.updated_at = state.value, None, unit.at
        unit.session.execute(
            update(DigestFileRow)
            .where(DigestFileRow.batch_id == id, DigestFileRow.state.in_([state.value for state in UNFINISHED]))
            .values(state=FileState.CANCELLED.value, updated_at=unit.at)
        )
        unit.session.flush()
        unit.changed(Aggregate.DIGEST, id)
    return get(unit.session, id)


def finish(unit: Unit, id: str, owner: str) -> DigestBatch | None:
    """End a batch as done; None where files have begun to wait again meanwhile."""
    waiting = select(DigestFileRow.id).where(
        DigestFileRow.batch_id == id, DigestFileRow.state == FileState.WAITING.value
    )
    if unit.session.scalars(waiting.limit(1)).first() is not None:
        return None
    return end(unit, id, owner, BatchState.DONE)


def leave(unit: Unit, id: str, owner: str) -> None:
    """The application closes: the batch stays as one that was cut off."""
    row = unit.session.get(DigestBatchRow, id)
    if row is not None and row.owner == owner:
        row.owner, row.updated_at = None, unit.at
        unit.session.execute(
            update(DigestFileRow)
            .where(DigestFileRow.batch_id == id, DigestFileRow.state == FileState.RUNNING.value)
            .values(state=FileState.WAITING.value, updated_at=unit.at)
        )
        unit.changed(Aggregate.DIGEST, id)


def _stored(value: Any) -> Any:
    match value:
        case FileState():
            return value.value
        case Trouble(code, message, hint, params):
            return {"code": code, "message": message, "hint": hint, "params": dict(params)}
        case _:
            return value


def _to_batch(session: Session, row: DigestBatchRow) -> DigestBatch:
    files = session.scalars(
        select(DigestFileRow).where(DigestFileRow.batch_id == row.id).order_by(DigestFileRow.position)
    )
    return DigestBatch(
        id=row.id,
        kb_id=row.kb_id,
        state=BatchState(row.state),
        owner=row.owner,
        concurrency=row.concurrency,
        force=row.force,
        choice=ModelChoice(row.provider_id, row.model),
        created_at=row.created_at,
        updated_at=row.updated_at,
        files=tuple(map(_to_file, files)),
    )


def _to_file(row: DigestFileRow) -> DigestFile:
    return DigestFile(
        id=row.id,
        batch_id=row.batch_id,
        position=row.position,
        path=row.path,
        state=FileState(row.state),
        sha256=row.sha256,
        page=row.page,
        title=row.title,
        trouble=_to_trouble(row.trouble),
        attempts=tolerant.number(row.attempts),
        read_percent=tolerant.number(row.read_percent),
        input_tokens=tolerant.number(row.input_tokens),
        output_tokens=tolerant.number(row.output_tokens),
    )


def _to_trouble(value: Mapping[str, Any] | None) -> Trouble | None:
    if not isinstance(value, Mapping):
        return None
    params = {str(name): str(given) for name, given in tolerant.mapping(value.get("params")).items()}
    return Trouble(
        tolerant.text(value.get("code")), tolerant.text(value.get("message")), tolerant.text(value.get("hint")), params
    )
