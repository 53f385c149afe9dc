"""Knowledge bases to measure on: pages of 6 KB, Chinese, English and both, with a seed."""

from __future__ import annotations

from pathlib import Path

from .texts import Words

PAGE_BYTES = 6_000
_FOLDERS = ("topics", "entities", "sources", "comparisons", "synthesis/sessions", "queries")


def make_base(root: Path, pages: int) -> Path:
    """A knowledge base of so many pages below `root`."""
    words = Words()
    for folder in _FOLDERS:
        (root / "wiki" / folder).mkdir(parents=True, exist_ok=True)
    (root / ".wiki-schema.md").write_text("", encoding="utf-8")
    for number in range(pages):
        file = root / "wiki" / _FOLDERS[number % len(_FOLDERS)] / f"page-{number:05}.md"
        file.write_bytes(_page(words))
    return root


def _page(words: Words) -> bytes:
    parts = [f"# {words.text().title}\n"]
    size = 0
    while size < PAGE_BYTES:
        text = words.text().content
        parts.append(f"{text}\n")
        size += len(text.encode())
    return "\n".join(parts).encode()[:PAGE_BYTES].decode(errors="ignore").encode()
