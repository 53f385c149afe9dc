"""python -m tests.extraction_conformance [--rounds 200] [--examples]

Prints what became of broken answers, fault by fault, and of secrets among look-alikes, format by format.
"""

from __future__ import annotations

import argparse

from tests.extraction_conformance.measure import Row, one_fault_at_a_time, several_at_once
from tests.extraction_conformance.secrets import Tally, tally


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.extraction_conformance")
    parser.add_argument("--rounds", type=int, default=200, help="answers a fault")
    parser.add_argument("--examples", action="store_true", help="print an answer of which an item was lost")
    args = parser.parse_args()
    print(f"{'fault':32} {'answers':>8} {'whole':>7} {'salvaged':>9} {'invented':>9}")
    for row in (*one_fault_at_a_time(args.rounds), several_at_once(args.rounds * 10)):
        print_row(row, examples=args.examples)
    print_secrets(tally(args.rounds))


def print_row(row: Row, *, examples: bool) -> None:
    print(f"{row.name:32} {row.answers:8} {row.whole:7} {row.share:9.1%} {row.invented:9}", flush=True)
    if examples and row.examples:
        print("    " + min(row.examples, key=len).replace("\n", "\n    "))


def print_secrets(found: Tally) -> None:
    print(f"\n{'secret':72} {'planted':>8} {'found':>7}")
    for name, (seen, times) in found.by_name.items():
        print(f"{name:72} {times:8} {seen / times:7.1%}")
    print(f"\n{found.planted} secrets among look-alikes: recall {found.recall:.4f}, precision {found.precision:.4f}")
    if found.wrong:
        print("taken for a secret:", *sorted(set(found.wrong))[:12], sep="\n    ")


main()
