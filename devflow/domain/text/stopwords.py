"""Words that weigh nothing: stop words, and the phrases questions are asked with, in English and Chinese."""

from __future__ import annotations

import re

STOP_WORDS = frozenset(
    """
    a an the of in on at to for from by with as is are was were be been being am do does did done doing has have had
    having can could may might must shall should will would i you he she it we they me him her us them my your his its
    our their this that these those there here and or but if then than so not no nor what which who whom whose when
    where why how about into onto over under between through during before after above below up down out off again
    further once also just only very too some any each other such own same both more most few all please s t d ll m re
    ve don doesn didn isn aren wasn won
    """.split()
)

# Chinese asks by phrase, and the phrase is no word of the answer.
_PHRASES = """
    是什么 什么是 是什麼 什麼是 为什么 為什麼 为何 為何 为啥 怎么样 怎麼樣 怎么办 怎麼辦 怎么 怎麼 怎样 怎樣
    如何 有什么 有什麼 什么 什麼 甚麼 有哪些 哪些 哪个 哪個 哪里 哪裡 哪儿 哪一 哪家 哪位 哪种 哪種 几个 幾個
    多少 多久 是否 有没有 有沒有 能不能 可不可以 是不是 要不要 何时 何時 何地 何处 何處 有何 谁 誰 吗 嗎 呢 请问
    請問 一下 介绍 介紹 告诉我 告訴我 帮我 幫我 我想 我要 哪
    """.split()
_QUESTION = re.compile("|".join(sorted(map(re.escape, _PHRASES), key=len, reverse=True)))

_FUNCTION_CHARACTERS = frozenset("的了是在和与與及之其也就都而被把于於从從以有这這那吧啊呀嘛我你您他她它们們")


def without_question_phrases(text: str) -> str:
    """The text with Chinese question phrases replaced by a space, so that no pair reaches across one."""
    return _QUESTION.sub(" ", text)


def function_characters(term: str) -> int:
    """How many characters of a Han pair only tie words together (的, 在, 和)."""
    return sum(char in _FUNCTION_CHARACTERS for char in term)
