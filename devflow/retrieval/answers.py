"""What an answer says about the pages it was given: which it used, which it made up, whether it asked back."""

from __future__ import annotations

import re
from collections.abc import Collection

from devflow.domain.text.code import blank_code

_BORDER = r"\n|#\[\]()（）<>《》`\"”"
PATH = re.compile(rf"(?<![\w/])(?:wiki/[^{_BORDER}]{{0,400}}?[^\s/]\.md|(?:purpose|index|overview)\.md)(?![\w.])")
_ASKS_BACK = re.compile(
    r"(?:请|麻烦|烦请|需要|能否|能不能|可以|可否|把)(?:你|您)?(?:先|把)?(?:.{0,8}?)(?:提供|发给|发送|发一下|贴出|粘贴|贴上|贴一下|上传|分享)"
    r".{0,12}(?:文章|原文|内容|正文|链接|文本|资料|文档)"
    r"|(?:把|将)(?:文章|原文|内容|正文|链接|文本|资料).{0,8}(?:发给我|贴|粘贴|提供给我|上传|分享)"
    r"|(?:please|could you|can you|would you)\b.{0,20}\b(?:provide|share|paste|send|upload)\b.{0,30}"
    r"\b(?:articles?|text|content|link|documents?|pages?)\b",
    re.IGNORECASE,
)


def named_pages(answer: str) -> tuple[str, ...]:
    """The paths of pages that the answer names, wherever it does, each once; none in code."""
    return tuple(dict.fromkeys(PATH.findall(blank_code(answer))))


def unverified_pages(answer: str, given: Collection[str]) -> tuple[str, ...]:
    """Those that were not among what the model was given: never trusted silently (seed §10.5)."""
    return tuple(path for path in named_pages(answer) if path not in given)


def asks_back(answer: str) -> bool:
    """Whether the answer asks the user for the articles instead of answering from them (seed §10.1)."""
    return _ASKS_BACK.search(answer) is not None
