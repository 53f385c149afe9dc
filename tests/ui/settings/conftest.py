"""The whole window with its real dialogs, as `tests/e2e` starts it."""

from tests.e2e.conftest import server, start

__all__ = ["server", "start"]
