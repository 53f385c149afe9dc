"""Questions about the knowledge base as a whole, and about what was put into it last (spec 02, Order)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from devflow.retrieval.query import parse

_SUMMARY = re.compile(
    r"总结|總結|概括|归纳|歸納|梳理|汇总|彙總|概述|综述|盘点|概览|summari[sz]e|summary|overview|recap|sum up",
    re.IGNORECASE,
)
_ELSEWHERE = re.compile(
    r"```|代码|程式碼|函数|报错|日志|对话|對話|会话|聊天|讨论|这段|上面|刚才(?:说|讲|聊)|我们(?:刚|说|聊)"
    r"|\b(?:code|function|conversation|chat|discussion|error|log|email|paragraph|above)\b|\w\(.*\)",
    re.IGNORECASE,
)
_PAGES = (
    r"文章|页面|資料|资料|笔记|筆記|内容|內容|文档|文檔|材料|知识库|知識庫|库里|素材"
    r"|articles?|pages?|notes?|documents?|docs|knowledge base|wiki|material"
)
_THESE = re.compile(
    rf"(?:这|這|那)(?:些|批|几篇|幾篇|组)\s*(?:{_PAGES})?|(?:所有|全部|全库)的?\s*(?:{_PAGES})?"
    rf"|\b(?:these|those|all(?: of)?(?: the| these)?|my) (?:{_PAGES})",
    re.IGNORECASE,
)
_JUST = re.compile(
    r"(?:刚刚?|最近|新)(?:消化|导入|添加|加入|收录|写)的?|(?:just|recently) (?:digested|added|imported)"
    r"|(?:latest|newest) (?:articles?|pages?|notes?)",
    re.IGNORECASE,
)
_WHOLE = re.compile(
    r"(?:这个|当前|本)?(?:知识库|知識庫|库)(?:里)?(?:都)?(?:有|讲|是|关于|包含)(?:了|的)?(?:些)?(?:什么|哪些|啥)"
    r"|what(?: is|'s) (?:in )?(?:this|the|my) (?:knowledge base|wiki)(?: about)?"
    r"|what do (?:these|the) (?:articles|pages|notes) say",
    re.IGNORECASE,
)
_GENERIC = re.compile(
    rf"{_SUMMARY.pattern}|{_THESE.pattern}|{_JUST.pattern}|{_PAGES}|主要|全部|所有|一遍|一番|简要|简单|详细|请|給我|给我|都"
    r"|\b(?:briefly|short|main|points?|key|everything|give|brief|in)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Overview:
    """`whole`: it asks about the knowledge base as such, and about nothing in particular. `recent`: about the articles,
    or what was digested last. `rest` is the question without the words that say so."""

    whole: bool
    recent: bool
    rest: str


def overview_of(question: str) -> Overview:
    """How far the question is about the knowledge base itself; one with code in it, or about the chat, never is."""
    if _ELSEWHERE.search(question):
        return Overview(whole=False, recent=False, rest=question)
    asks_whole = _WHOLE.search(question) is not None
    recent = asks_whole or any(pattern.search(question) for pattern in (_SUMMARY, _THESE, _JUST))
    if not recent:
        return Overview(whole=False, recent=False, rest=question)
    rest = _GENERIC.sub(" ", _WHOLE.sub(" ", question))
    parsed = parse(rest)
    nothing_else = parsed.only_common or not parsed.terms
    return Overview(whole=nothing_else, recent=True, rest="" if nothing_else else rest)
