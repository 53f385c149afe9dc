"""What a run of the benchmarks is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from .homes import Recipe


@dataclass(frozen=True, slots=True)
class Options:
    """`quick` measures on less and is for a look while working; its figures stand beside no bar of the specification
    that asks for more. `large` adds 100,000 entries. `keep`: a folder in which the made homes stay.
    `bulk`: entries of the library that is loaded in bulk."""

    repeats: int = 7
    quick: bool = False
    large: bool = False
    keep: Path | None = None
    bulk: int = 1_000_000

    @property
    def full(self) -> Recipe:
        return Recipe(entries=1_000, conversations=500) if self.quick else Recipe(entries=10_000, conversations=5_000)

    @property
    def full_name(self) -> str:
        return f"{self.full.entries:,} entries + {self.full.conversations:,} conversations"

    @property
    def library_rows(self) -> int:
        return 5_000 if self.quick else 50_000

    @property
    def sizes(self) -> tuple[int, ...]:
        """Entries to search in."""
        return (1_000, *(() if self.quick else (10_000,)), *((100_000,) if self.large else ()))

    def library(self, entries: int) -> Recipe:
        """A home with so many entries; the full one where it has as many, for a home takes minutes to make."""
        return self.full if entries == self.full.entries else Recipe(entries=entries)

    @property
    def page_counts(self) -> tuple[int, ...]:
        """Pages of the knowledge bases."""
        return (100, 1_000) if self.quick else (100, 1_000, 5_000, 10_000)
