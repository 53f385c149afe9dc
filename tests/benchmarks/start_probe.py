"""The application's own process, with a witness in it: `python -m tests.benchmarks.start_probe HOME STARTED [ASK]`.

Starts the window as `devflow --home HOME` does. Once it is shown, a letter is typed into the composer; the window is
interactive when that letter has been painted. Prints one JSON object and closes the window as a human does. STARTED is
the parent's `time.monotonic()` from before the process was made. With ASK the question is sent, and the window closed
in the middle of the answer.

Nothing is imported here that the application imports: in which order it does so is part of what is measured. The
witness is put beside the application's object when `make_application` has made it.
"""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

WATCHED = "devflow.app.desktop_run"
HOME, STARTED = sys.argv[1], float(sys.argv[2])
ASK = sys.argv[3] if len(sys.argv) > 3 else ""


class Finder:
    """Finds the one module whose function is wrapped; every other is found as ever."""

    def __init__(self) -> None:
        self.kept: list[object] = []

    def find_spec(
        self, name: str, path: list[str] | None = None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != WATCHED:
            return None
        spec = PathFinder.find_spec(name, path)
        assert spec is not None
        assert spec.loader is not None
        load = spec.loader.exec_module

        def load_and_wrap(module: ModuleType) -> None:
            load(module)
            make = module.make_application
            module.make_application = lambda *arguments: self._witnessed(make(*arguments))  # type: ignore[attr-defined]

        spec.loader.exec_module = load_and_wrap  # type: ignore[method-assign]
        return spec

    def _witnessed(self, application: object) -> object:
        from tests.benchmarks.witness import Witness

        self.kept.append(Witness(STARTED, ASK))
        return application


def main() -> int:
    sys.meta_path.insert(0, Finder())  # type: ignore[arg-type]
    from devflow.cli import main as devflow

    return devflow(["--home", HOME])


if __name__ == "__main__":
    sys.exit(main())
