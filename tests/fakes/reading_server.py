"""A model server that reads: it answers a question from the hidden context below it, and knows nothing else.

    with ReadingServer() as server:
        ... ask with a provider at server.base_url ...

Of each page in the context it quotes the sentence that says most about the question, and lists the pages it quoted. It
does as a model does that was given nothing: without a context it asks for the articles. It digests files, too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tests.fakes.digest_server import DigestServer
from tests.fakes.openai_server import Request, Turn

FRAME = re.compile(r"\n\n---\n\[(?:系统检索上下文|Retrieved context)")
PAGE = re.compile(
    r"^<<<P(?P<number>\d+) (?P<nonce>\w+)>>>\n"
    r"\[(?P=number)\] (?P<title>.+)\n\s+(?:路径|path): (?P<path>\S.*)\n\s+(?:命中|found by): (?P<reason>\w+)\n"
    r"(?P<text>.*?)\n<<<end P(?P=number) (?P=nonce)>>>$",
    re.MULTILINE | re.DOTALL,
)
MISSING = re.compile(
    r"^- (?:用户引用了 |The user refers to )(.+?)(?:，但该页面不存在|, but that page does not exist)$", re.M
)
SENTENCE = re.compile(r"[^。！？.!?\n]+[。！？.!?]?")
HAN = re.compile(r"[\u4e00-\u9fff]")


@dataclass(frozen=True)
class Shown:
    """A page as it stands in the hidden context."""

    title: str
    path: str
    reason: str
    text: str


def context_of(message: str) -> str | None:
    """What stands below the user's own words; None where that is nothing."""
    found = FRAME.search(message)
    return None if found is None else message[found.start() :].lstrip("\n")


def pages_in(message: str) -> list[Shown]:
    """The pages of the hidden context, in their order."""
    found = PAGE.finditer(context_of(message) or "")
    return [Shown(page["title"], page["path"], page["reason"], page["text"]) for page in found]


class ReadingServer(DigestServer):
    """`lies` is added to every answer: what a model makes up."""

    lies = ""

    def chat(self, request: Request) -> Turn:
        return Turn(answer(request.last_user) + self.lies)


def answer(message: str) -> str:
    """What an honest model makes of the message, whatever was said before it."""
    context = context_of(message)
    question = message if context is None else message[: FRAME.search(message).start()]  # type: ignore[union-attr]
    chinese = HAN.search(question) is not None
    if context is None:
        return "请把文章的内容发给我，我再来总结。" if chinese else "Please share the articles with me first."
    pages = pages_in(message)
    named = [f"{path}：没有这一页。" if chinese else f"There is no {path}." for path in MISSING.findall(context)]
    if not pages:
        nothing = (
            "当前知识库未找到相关内容。" if chinese else "Nothing relevant was found in the current knowledge base."
        )
        return "\n".join([nothing, *named])
    said = [f"《{page.title}》：{telling(page.text, question)}" for page in pages]
    heading = "参考页面" if chinese else "Reference pages"
    listed = [f"- 《{page.title}》：{page.path}" if chinese else f'- "{page.title}": {page.path}' for page in pages]
    return "\n\n".join(["\n".join([*said, *named]), "\n".join([f"{heading}", *listed])])


def telling(text: str, question: str) -> str:
    """The sentence of the text that shares most with the question; the first where none does. Headings are none."""
    lines = [line for line in text.split("\n") if not line.startswith(("#", "|", "```"))]
    found = [sentence.strip(" -*…") for line in lines for sentence in SENTENCE.findall(line) if sentence.strip(" -*…")]
    wanted = pairs(question)
    return max(found, key=lambda sentence: len(wanted & pairs(sentence)), default="")


def pairs(text: str) -> set[str]:
    plain = "".join(char for char in text.casefold() if char.isalnum())
    return {plain[at : at + 2] for at in range(len(plain) - 1)}
