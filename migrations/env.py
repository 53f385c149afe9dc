"""What alembic runs for every command. `devflow.store.migrate` opens the connection and its transaction.

One transaction holds a whole upgrade, so that a program killed within it leaves the database as it was.
"""

from __future__ import annotations

from typing import Any

from alembic import context

from devflow.store.schema import Base

SEARCH_PREFIX = "search_"
"""Tables of the search index are made by `devflow.store.search_index`, and the models know nothing of them."""


def main() -> None:
    context.configure(
        connection=context.config.attributes["connection"],
        target_metadata=Base.metadata,
        transactional_ddl=True,
        render_as_batch=True,
        include_name=_belongs_to_the_models,
    )
    with context.begin_transaction():
        context.run_migrations()


def _belongs_to_the_models(name: str | None, kind: str, parents: Any) -> bool:
    return kind != "table" or not (name or "").startswith(SEARCH_PREFIX)


main()
