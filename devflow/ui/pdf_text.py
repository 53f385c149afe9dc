"""The text behind the glyphs of a PDF made by Qt: so that what is copied or searched is what was written.

Qt names each glyph by the lowest character that the font draws with it. A font that has one glyph for 一 and for the
radical U+2F00, or for a space and a tab, then yields the wrong one. The maps stand uncompressed in the file, and every
character in them has four digits, so they are put right in place.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection

_RADICALS = (
    "⺂⺃⺅⺉⺋⺎⺏⺐⺒⺓⺔⺕⺖⺘⺙⺛⺞⺠⺡⺣⺤⺦⺨⺫⺭⺯⺰⺱⺲⺳⺹⺺⺾⺿⻂⻃⻄⻅"
    "⻆⻈⻉⻋⻌⻍⻎⻐⻑⻒⻓⻔⻖⻘⻙⻚⻛⻜⻝⻟⻠⻢⻣⻤⻥⻦⻧⻨⻩⻪⻫⻬⻭⻮⻯⻰⻱⻲"
)
_LETTERS = (
    "乛乚亻刂㔾兀尣尢巳幺彑彐忄扌攵旡歺民氵灬爫丬犭罒礻糹纟罓罒㓁耂肀艹艹衤覀西见"
    "角讠贝车辶辶辶钅長镸长门阝青韦页风飞食飠饣马骨鬼鱼鸟卤麦黄黾斉齐歯齿竜龙龜亀"
)
"""What fonts draw with the glyph of each; for U+2F00 and after Unicode itself says it (NFKC)."""
_ALIKE = (
    "\t ",
    "-\u00ad\u2011",
    "\u00b7\u2022\u2027\u30fb",
    "\u2012\u2013",
    "\u2026\u22ef",
    "\u2329\u3008",
    "\u232a\u3009",
    "\u2003\u3000",
    "\u27a1\u2b95",
    "㬵胶",
    "㫚曶",
    "㮣槩",
    "⼾户戸戶",
    *(f"{radical}{letter}" for radical, letter in zip(_RADICALS, _LETTERS, strict=True)),
    *(chr(code) + unicodedata.normalize("NFKC", chr(code)) for code in range(0x2F00, 0x2FD6) if code != 0x2F3E),
)
"""Characters that fonts draw alike, the one that Qt would name first."""

_MAP = re.compile(rb"begincmap.*?endcmap", re.DOTALL)
_NAMES = re.compile(rb"\[[^\]]*\]|<([0-9A-F]{4})> <\1> <[0-9A-F]{4}>")
"""Of a row of glyphs, or of one; the characters stand last."""
_CODE = re.compile(rb"<([0-9A-F]{4})>")


def name_glyphs_as_written(pdf: bytes, written: Collection[str]) -> bytes:
    """The file with glyphs named by the characters that stand in it; `written`: every one of them."""
    there = frozenset(written)
    instead = {alike[0]: other for alike in _ALIKE if (other := _meant(alike, there)) is not None}

    def code(found: re.Match[bytes]) -> bytes:
        other = instead.get(chr(int(found[1], 16)))
        return b"<%04X>" % ord(other) if other is not None else found[0]

    def names(found: re.Match[bytes]) -> bytes:
        glyphs, last = found[0][:-6], found[0][-6:]
        return glyphs + _CODE.sub(code, last) if found[1] else _CODE.sub(code, found[0])

    return _MAP.sub(lambda found: _NAMES.sub(names, found[0]), pdf)


def _meant(alike: str, there: Collection[str]) -> str | None:
    """The character of these that was written in place of the first; None where that itself was."""
    first, others = alike[0], [char for char in alike[1:] if char in there]
    seldom = first == "\t" or "\u2e80" <= first <= "\u2fdf"
    return others[0] if others and (seldom or first not in there) else None
