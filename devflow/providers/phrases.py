"""What the offline assistant says in its own words: `resources/providers/offline.<language>.json`.

The language is the question's, not the window's: so these are no strings of the catalogue.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

Phrases = Mapping[str, str]

_HAN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")
_LATIN_WORD = re.compile(r"[A-Za-z]{2,}")


def phrases_for(question: str, resources: Path) -> Phrases:
    """Chinese where the question has Chinese words, unless they are a few among many English ones."""
    return _phrases(resources, language_of(question))


def language_of(text: str) -> str:
    han, words = len(_HAN.findall(text)), len(_LATIN_WORD.findall(text))
    return "zh" if han and han * 2 >= words else "en"


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
