"""What the offline assistant says in its own words: `resources/providers/offline.<language>.json`.

The language is the question's, not the window's: so these are no strings of the catalogue.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from devflow.domain.text.language import language_of

Phrases = Mapping[str, str]


def phrases_for(question: str, resources: Path) -> Phrases:
    """In the language of the question, as the prompts are."""
    return _phrases(resources, language_of(question))


def is_greeting(question: str, resources: Path) -> bool:
    """Whether the text is nothing but a hello, a thank you, or a question for who is speaking."""
    text = re.sub(r"[\W_]+", " ", question.casefold()).strip()
    known = {word for language in ("en", "zh") for word in _phrases(resources, language)["greetings"].split("|")}
    return not text or text in known or all(word in known for word in text.split())


@cache
def _phrases(resources: Path, language: str) -> Phrases:
    path = resources / "providers" / f"offline.{language}.json"
    rows = json.loads(path.read_text(encoding="utf-8"))
    return {name: "\n".join(value) if isinstance(value, list) else value for name, value in rows.items()}
