"""Character and block formats of the type scale, and the properties by which the view finds what it underlays."""

from __future__ import annotations

from PySide6.QtGui import QFont, QTextBlockFormat, QTextCharFormat, QTextFormat, QTextFrameFormat, QTextLength

from devflow.ui.theme import ThemeController

_BASE = int(QTextFormat.Property.UserProperty.value)
CODE = _BASE + 1
"""Char property: inline code, painted on a rounded ground."""
REFERENCE = _BASE + 2
"""Char property: 1 a verified reference chip, 2 one that names nothing."""
QUOTE = _BASE + 3
"""Block property: depth of quotation, painted as a bar."""
RULE = _BASE + 4
"""Block property: a thematic break, painted as a hairline."""
FENCE = _BASE + 5
"""Frame property: the index of a code block in the renderer's list."""
TITLE = _BASE + 6
"""Char property: what a link's tooltip says before its address."""

BULLET = _BASE + 7
"""Block property: the depth of an unordered item; the view paints its mark."""

HEADER = 31
"""px of a code block's head: 30 and its hairline."""
CODE_PAD = 12
_PAD_Y = 7
DROP = 4
"""A line of fixed height stands on its descent: px below the last line that make the block look even."""
PAD = "\u2007"
"""A no-break space inside a painted ground, 4 px wide in `pad_font`; it is taken out of what is copied."""
FIXED = QTextBlockFormat.LineHeightTypes.FixedHeight.value


def char(theme: ThemeController, role: str = "body", color: str = "text") -> QTextCharFormat:
    """A role's font in a colour."""
    made = QTextCharFormat()
    made.setFont(theme.font(role))
    made.setForeground(theme.color(color))
    return made


def paragraph(theme: ThemeController, role: str = "body", *, top: int = 0, bottom: int = 8) -> QTextBlockFormat:
    """A block with the role's line height, in px."""
    made = QTextBlockFormat()
    made.setLineHeight(theme.line_height(role), FIXED)
    made.setTopMargin(top)
    made.setBottomMargin(bottom)
    return made


def pad(of: QTextCharFormat) -> QTextCharFormat:
    """The format of `PAD` beside a span of that format."""
    made = QTextCharFormat(of)
    font = QFont(of.font())
    font.setPixelSize(7)
    made.setFont(font)
    return made


def hidden_block() -> tuple[QTextBlockFormat, QTextCharFormat]:
    """Qt keeps an empty paragraph before and after a frame; this one takes no room."""
    block = QTextBlockFormat()
    block.setLineHeight(0, FIXED)
    font = QFont()
    font.setPixelSize(1)
    text = QTextCharFormat()
    text.setFont(font)
    return block, text


def code_frame(index: int, *, left: int = 0) -> QTextFrameFormat:
    """The room of a code block: its head lies in the top margin, its border is painted by the view."""
    made = QTextFrameFormat()
    made.setProperty(FENCE, index)
    made.setBorder(0)
    made.setTopMargin(HEADER + 8)
    made.setBottomMargin(8 + DROP)
    made.setLeftMargin(left)
    made.setPadding(_PAD_Y)
    made.setWidth(QTextLength(QTextLength.Type.PercentageLength, 100))
    return made
