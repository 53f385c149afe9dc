"""Do the migrations build exactly the tables of the models? Run by `dev.py check`."""

import sys
import tempfile
from pathlib import Path

from sqlalchemy import create_engine

from devflow.app.paths import app_paths
from devflow.domain.events import Hub
from devflow.store.migrate import open_database, pending_changes


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        paths = app_paths(Path(folder) / "home")
        open_database(paths, Hub()).close()
        engine = create_engine(f"sqlite:///{paths.database}")
        pending = pending_changes(engine)
        engine.dispose()
    for change in pending:
        print(f"the models differ from the migrations: {change}")
    print(f"{len(pending)} changes are missing a migration" if pending else "the migrations match the models")
    return 1 if pending else 0


if __name__ == "__main__":
    sys.exit(main())
