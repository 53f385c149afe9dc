"""Does a string look drawn by chance, like a key, or written by a person, like a word or a placeholder?"""

from __future__ import annotations

import math
import re
from collections import Counter

_STAND_IN = re.compile(r"your[-_ ]?[a-z]|placeholder|redacted|xxxx|\*\*\*|\.\.\.|…|[<>{}]|\$\(", re.IGNORECASE)


def is_stand_in(value: str) -> bool:
    """`your-api-key`, `sk-xxxx`, `<token>`, `${TOKEN}`: written where a secret would stand."""
    return _STAND_IN.search(value) is not None or len(set(value)) <= 2


def looks_random(value: str, *, bits: float = 3.0) -> bool:
    """Key-like: its characters are spread (Shannon entropy in bits a character) and it is not a chain of words.

    Letters alone count only when they run too long for a word (SiliconFlow's keys are 48 lower-case letters).
    """
    if is_stand_in(value) or entropy(value) < bits:
        return False
    runs = re.findall(r"[A-Za-z0-9]+", value)
    if any(char.isdigit() for char in value):
        return any(_dense(run) for run in runs)
    longest = max(runs, key=len, default="")
    return len(longest) >= 32 or (len(longest) >= 20 and not longest.islower() and not _words_in_camel_case(longest))


def is_cloud_secret(value: str) -> bool:
    """40 characters of base64, as AWS gives them: digits and both cases, which a commit's hash and a path lack."""
    if re.fullmatch(r"[A-Za-z0-9+/]{40}", value) is None:
        return False
    return sum(char.isdigit() for char in value) >= 2 and not value.islower() and not value.isupper()


def entropy(value: str) -> float:
    """Shannon entropy of the characters, in bits a character."""
    if not value:
        return 0.0
    total = len(value)
    return -sum(count / total * math.log2(count / total) for count in Counter(value).values())


def _dense(run: str) -> bool:
    """Letters and digits in one unbroken run, as in a key: `sk-learn-0-24-2` has none."""
    digits = sum(char.isdigit() for char in run)
    return digits < len(run) and (len(run) >= 12 and digits >= 2 or len(run) >= 16 and digits >= 1)


def _words_in_camel_case(value: str) -> bool:
    """`AbstractSingletonProxyFactoryBean`: humps of three letters and more on average."""
    humps = re.findall(r"[A-Z]?[a-z]+|[A-Z]+", value)
    return bool(humps) and sum(map(len, humps)) / len(humps) >= 3.5
