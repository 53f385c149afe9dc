"""Messages that say nothing to look up: greetings, thanks, and "go on"."""

from __future__ import annotations

import re

from devflow.domain.text import normalised

_GREETINGS = frozenset(
    """
    hi|hello|hey|hi there|hello there|hey there|howdy|yo|good morning|good afternoon|good evening|good night|
    how are you|thanks|thank you|thank you very much|thanks a lot|thx|ty|cheers|ok|okay|k|yes|yep|no|nope|sure|
    fine|great|nice|cool|got it|i see|sounds good|looks good|lgtm|go on|go ahead|continue|please continue|bye|
    goodbye|see you|test|ping|你好|您好|嗨|哈喽|哈啰|早|早上好|上午好|下午好|晚上好|晚安|大家好|在吗|在么|
    你好吗|谢谢|谢谢你|多谢|感谢|非常感谢|好|好的|好吧|行|可以|嗯|嗯嗯|是|是的|对|对的|不是|不|没事|没问题|
    知道了|明白|明白了|收到|了解|继续|请继续|再见|拜拜|辛苦了|測試|测试|您好嗎|謝謝|感謝|繼續|請繼續|再見|
    好的谢谢|好的继续|hello world
    """.replace("\n", "")
    .replace("    ", "")
    .split("|")
)
_DECORATION = re.compile(r"[^\w\s]+|[啊呀哦噢呢吧啦哈~]+(?=\s|$)")


def is_greeting(message: str) -> bool:
    """Whether the whole message is small talk; punctuation, emoji, case and trailing particles do not matter."""
    words = " ".join(_DECORATION.sub(" ", normalised(message)).split())
    return not words or words in _GREETINGS or words.replace(" ", "") in _GREETINGS
