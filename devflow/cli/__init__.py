"""The command line over the same services as the window: names and shapes in spec 06.

Nothing heavy is imported here: `devflow --version` must not pay for a database or a window.
"""

from devflow.cli.main import main

__all__ = ["main"]
