"""The words of prompts: files in resources/prompts, one folder a language."""

from __future__ import annotations

from pathlib import Path

from devflow.domain.text.language import Language as Language  # the room's other modules know it from here


class Templates:
    """Reads each file once. `get("en", "system")` is resources/prompts/en/system.md without its last line break."""

    def __init__(self, resources: Path) -> None:
        self._folder = resources / "prompts"
        self._read: dict[tuple[str, str], str] = {}

    def get(self, language: Language, name: str) -> str:
        key = (language, name)
        if key not in self._read:
            self._read[key] = (self._folder / language / f"{name}.md").read_text(encoding="utf-8").rstrip("\n")
        return self._read[key]

    def fill(self, language: Language, template: str, /, **values: object) -> str:
        """The template with its `{placeholders}` filled in."""
        return self.get(language, template).format(**values)
