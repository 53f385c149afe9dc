"""A model server that answers from what it is sent alone: it digests files, and answers questions from pages.

    with DigestServer() as server:
        ... digest at server.base_url ...

`trouble` may give another answer to a request for a digest: it is told the request, the file's name and how often that
file was asked about before. Every request for a digest is kept in `digests`.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from typing import Any

from tests.fakes.openai_server import OpenAIServer, Request, Turn

Trouble = Callable[[Request, str, int], Turn | None]

_NAME = re.compile(r"^(?:文件名：|File name: )(.*)$", re.MULTILINE)
_FILE = re.compile(r"<<<file (\w+)>>>\n(.*?)\n<<<end file \1>>>", re.DOTALL)
_PAGE = re.compile(r"^\[\d+\] (.+)\n\s+(?:路径|path): (\S+)$", re.MULTILINE)
_QUESTION_OF_PAGES = ("系统检索上下文", "Retrieved context")


class DigestServer(OpenAIServer):
    def __init__(self, trouble: Trouble = lambda request, name, before: None, **options: Any) -> None:
        super().__init__(**options)
        self._trouble = trouble
        self._asked: dict[str, int] = {}
        self._counting = threading.Lock()
        self.digests: list[Request] = []
        self.answered: list[str] = []
        """Names of the files for which a whole page was sent, in order."""

    def accept(self, request: Request) -> Turn:
        name = _NAME.search(request.last_user) or _NAME.search(first_user(request))
        if name is None or not request.system.strip():
            with self._changed:
                self.kept(request.purpose).append(request)
                self._changed.notify_all()
            return Turn("", usage=None) if request.purpose == "title" else self.chat(request)
        with self._counting:
            before = self._asked.get(name[1], 0)
            self._asked[name[1]] = before + 1
        with self._changed:
            self.digests.append(request)
            self._changed.notify_all()
        turn = self._trouble(request, name[1], before)
        if turn is None:
            turn = Turn(page_for(file_text(request), chinese="核心摘要" in request.system), usage=(1000, 100))
            with self._counting:
                self.answered.append(name[1])
        return turn

    def chat(self, request: Request) -> Turn:
        """The answer to what is no request for a digest."""
        return Turn(answer_from_pages(request.last_user))

    def wait_digests(self, count: int, timeout: float = 30.0) -> None:
        """Block until so many requests for digests have come."""
        with self._changed:
            if not self._changed.wait_for(lambda: len(self.digests) >= count, timeout):
                raise TimeoutError(f"{len(self.digests)} requests for digests of {count}")

    def asked(self, name: str) -> int:
        """How often a file was asked about."""
        return self._asked.get(name, 0)


def first_user(request: Request) -> str:
    return next((m["content"] for m in request.messages if m["role"] == "user"), "")


def file_text(request: Request) -> str:
    """Everything of the file that the request holds, in the order in which it was shown."""
    shown = "\n".join(str(m["content"]) for m in request.messages if m["role"] in ("user", "tool"))
    return "\n".join(text for _, text in _FILE.findall(shown))


def page_for(text: str, *, chinese: bool = True, title: str = "") -> str:
    """The page that an honest model would write about the text: its first line is the title, its lines are details."""
    lines = [line.strip("# ") for line in text.split("\n") if line.strip()]
    title = title or lines[0][:60]
    details = "\n".join(f"- {line}" for line in lines[1:6]) or "- 无"
    if chinese:
        return (
            f"# {title}\n\n## 核心摘要\n{lines[-1][:200]}\n\n## 关键细节\n{details}\n\n"
            "## 与知识库目的的关系\n直接相关。\n\n## 待解问题\n无"
        )
    return (
        f"# {title}\n\n## Core summary\n{lines[-1][:200]}\n\n## Key details\n{details}\n\n"
        "## Relation to the purpose\nDirect.\n\n## Open questions\nNone"
    )


def answer_from_pages(asked: str) -> str:
    """An answer that rests on the pages in the message, and asks for the articles where there are none."""
    pages = _PAGE.findall(asked)
    if not pages or not any(mark in asked for mark in _QUESTION_OF_PAGES):
        return "请先把文章发给我，我再总结。"
    about = "；".join(title for title, _ in pages)
    listed = "\n".join(f"- 《{title}》：{path}" for title, path in pages)
    return f"这些文章讲的是：{about}。\n\n参考页面\n{listed}"
