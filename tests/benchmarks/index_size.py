"""How much room the search index takes."""

from __future__ import annotations

from typing import Any

from devflow.store.database import Database

from .report import Line


def sizes(database: Database, name: str) -> list[Line]:
    """How large the index is beside the text, in bytes of UTF-8."""

    def work(session: Any) -> tuple[int, int]:
        connection = session.connection()
        text = connection.exec_driver_sql(
            "SELECT sum(length(CAST(title AS BLOB)) + length(CAST(content AS BLOB)) + length(CAST(tags AS BLOB))) "
            "FROM entries"
        ).scalar_one()
        index = connection.exec_driver_sql("SELECT sum(pgsize) FROM dbstat WHERE name LIKE 'search_%'").scalar_one()
        return int(text), int(index)

    text, index = database.run_read(work)
    detail = f"text {text / 1e6:.1f} MB, index {index / 1e6:.1f} MB"
    return [Line(f"index, {name}", index / text, "× text", "size", 3.0, detail)]
