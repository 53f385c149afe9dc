"""Whether a message is worth a search of the knowledge base (seed §5.3): yes, unless it is plainly about nothing in it.

A search too many costs a few tokens; one too few makes the model ask back for what stands on the shelf.
"""

from __future__ import annotations

import re

from devflow.domain.commands import command_of
from devflow.domain.text.scripts import CJK
from devflow.retrieval.greetings import is_greeting
from devflow.retrieval.references import parse_explicit_page_refs

MIN_CHARS = 3

_CHAT = r"(?:这个|当前|本次|整个|我们的?)?(?:对话|会话|聊天(?:记录)?)"
_EXPORT = (
    rf"(?:请|帮我|麻烦)*把?{_CHAT}(?:导出|另存|保存)(?:为|成|到)?\w{{0,12}}",
    rf"(?:请|帮我|麻烦)*导出{_CHAT}(?:为|成|到)?\w{{0,12}}",
    r"(?:please )?export (?:this|the|our) (?:conversation|chat)(?: (?:to|as) (?:a |an )?\w{2,12})?",
)
_THING = (
    r"(?:api ?key|密钥|快捷键|(?:主|当前|默认)?模型|主题|深色模式|浅色模式|界面(?:语言|字体)?"
    r"|语言|设置|代理|服务商|provider)"
)
_ACT = r"(?:设置|配置|修改|更改|更换|切换|添加|输入|填写?|打开|关闭|换|改|用)"
_DO = r"(?:put|enter|set|set up|change|switch|configure|add|paste|find|use)"
_OURS = r"(?:api key|(?:keyboard )?shortcuts?|theme|language|model|provider|proxy|settings|devflow|this app)"
_APP = r"(?:这个|本)?(?:软件|应用|程序|工具|devflow)"
_ABOUT_THE_APP = (
    r"(?:你|当前|现在|目前)?(?:用的?|使用的?|在用)?(?:是)?(?:什么|哪个|哪一个)?模型(?:是什么|是哪个|叫什么|名字)?",
    rf"我?(?:怎么|怎样|如何|在哪里?|哪里|哪儿)(?:可以|能)?{_ACT}(?:我的|一下)?{_THING}",
    rf"{_THING}(?:要|应该|可以)?(?:怎么|如何|在哪里?|哪里|哪儿){_ACT}?",
    rf"{_APP}(?:要|应该)?(?:怎么|如何)(?:用|使用|登录)",
    rf"(?:怎么|如何)(?:用|使用|登录)(?:{_APP})?",
    r"(?:which|what) (?:model|provider) (?:are you|is this|am i using|do you use|is (?:in use|active|selected))",
    r"what(?: is|'s) (?:the|your) (?:current )?(?:model|provider)",
    rf"(?:where|how) (?:do|can|should|would) i {_DO} (?:the |my |an? )?{_OURS}",
)
_TAIL = re.compile(r"[\s?？!！。.，,~～呢啊呀吗]+$")
_BESIDE_HAN = re.compile(rf"(?<=[{CJK}])\s+|\s+(?=[{CJK}])")
_REPEATED = re.compile(r"(.)\1+")


def should_use_knowledge_base(message: str, kb_selected: bool) -> bool:
    """The seed's blacklist in its order: no knowledge base, a command, an export, a reference (yes), too short, a
    greeting, a question about this application; everything else is searched for.
    """
    text = message.strip()
    if not kb_selected or command_of(text) is not None or _is_one_of(_EXPORT, text):
        return False
    if parse_explicit_page_refs(message):
        return True
    if len(text) < MIN_CHARS or is_greeting(text) or is_greeting(_REPEATED.sub(r"\1", text)):
        return False
    return not _is_one_of(_ABOUT_THE_APP, text)


def _is_one_of(patterns: tuple[str, ...], text: str) -> bool:
    """Whether the whole message is such a sentence; punctuation and spaces beside Han do not matter."""
    plain = _BESIDE_HAN.sub("", _TAIL.sub("", text).casefold())
    return any(re.fullmatch(pattern, plain) for pattern in patterns)
