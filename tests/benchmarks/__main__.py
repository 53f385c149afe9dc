"""`python3 dev.py bench [NAME…]`: measure, and print one table beside the bars of the specification.

Each name is measured in a process of its own. The homes it works on are made first, with a seed, through the product's
own intake; that takes minutes the first time, and `--keep DIR` keeps them for the next. `bench retrieval --data DIR` is
a program of its own: what searches find, on public question sets.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from .homes import Homes
from .options import Options
from .report import Line, from_json, machine, table, to_json

Measure = Callable[[Homes, Options], Iterable[Line]]
NAMES = {
    "start": "process start to a window that takes input; memory at rest; quitting",
    "search": "keyword search, look-up and prompt, the write of one entry",
    "meaning": "search by keywords and meaning at once, the query's own embedding left out (extra `vectors`)",
    "filling": "opening with an outdated search index, and searching while it is made anew",
    "command": "the command line as a whole process",
    "lists": "the Inbox with 500 candidates, the library with 50,000 entries",
    "conversation": "a conversation of 5,000 messages opens",
    "pages": "knowledge bases of 100 to 10,000 pages: first scan, turns, memory, the window meanwhile",
    "quit": "the window closes while an answer streams",
    "stream": "the loop's lag while 100,000 characters stream (minutes)",
    "bulk": "keyword search among a million entries loaded in bulk (an hour; only when named)",
}
WHEN_NAMED = {"bulk"}


def main(arguments: list[str] | None = None) -> int:
    words = sys.argv[1:] if arguments is None else arguments
    if words[:1] == ["retrieval"]:
        from .retrieval.__main__ import main as ask_the_sets

        return ask_the_sets(words[1:])
    parsed = _parse(words)
    options = Options(parsed.repeats, parsed.quick, parsed.large, parsed.keep, parsed.bulk)
    if parsed.child:
        print(to_json(_measure(parsed.child)(Homes(parsed.keep, _say), options)), flush=True)
        return 0
    began = time.perf_counter()
    print(f"On {machine()}. Times on a busy machine are upper bounds: compare those of one run.", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        keep = options.keep or Path(folder)
        lines = [line for name in parsed.names or _usual() for line in _in_a_process(name, words, keep)]
    print(f"\n{table(lines)}\n\n{machine()}; {time.perf_counter() - began:.0f} s in all.")
    return 0  # it reports and judges nothing: a busy machine is over many bars


def _usual() -> list[str]:
    return [name for name in NAMES if name not in WHEN_NAMED]


def _parse(words: list[str]) -> argparse.Namespace:
    known = "\n".join(f"  {name:<13} {what}" for name, what in NAMES.items())
    parser = argparse.ArgumentParser(
        prog="dev.py bench", epilog=f"names:\n{known}", formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", choices=[*NAMES, []], metavar="NAME", help="what to measure; default: all")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep the made homes there and use them again")
    parser.add_argument("--repeats", type=int, default=7, help="runs of which the median counts (7)")
    parser.add_argument("--quick", action="store_true", help="on less data, for a look while working")
    parser.add_argument(
        "--large", action="store_true", help="search among 100,000 entries too (makes them: 20 minutes)"
    )
    parser.add_argument("--bulk", type=int, default=1_000_000, metavar="COUNT", help="entries loaded in bulk")
    parser.add_argument("--child", choices=list(NAMES), help=argparse.SUPPRESS)
    return parser.parse_args(words)


def _in_a_process(name: str, words: list[str], keep: Path) -> list[Line]:
    _say(f"── {name}: {NAMES[name]}")
    flags = [word for word in words if word not in NAMES]
    command = [sys.executable, "-m", "tests.benchmarks", *flags, "--keep", str(keep), "--child", name]
    # Warm means that byte code is there; a variable that forbids it would have every start compile the application.
    environ = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    environ["PYTHONPYCACHEPREFIX"] = str(keep / "bytecode")
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=environ, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{name} ended with {done.returncode}")
    return from_json(done.stdout)


def _measure(name: str) -> Measure:
    """Imported here alone: no measurement shall carry the imports of another."""
    match name:
        case "start":
            from . import start

            return start.measure
        case "meaning":
            from . import meaning

            return meaning.measure
        case "filling":
            from . import filling

            return filling.measure
        case "bulk":
            from . import bulk

            return bulk.measure
        case "search":
            from . import search

            return search.measure
        case "command":
            from . import command

            return command.measure
        case "lists":
            from . import lists

            return lists.measure
        case "pages":
            from . import pages

            return pages.measure
        case "conversation":
            from . import talk

            return talk.measure_conversation
        case "quit":
            from . import talk

            return talk.measure_quit
        case _:
            from . import talk

            return talk.measure_stream


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
