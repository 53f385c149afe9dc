"""Conversations as PDF: what can be copied from one is what was written, and a long one holds nobody up."""

import asyncio
import re
import time
from datetime import UTC, datetime
from pathlib import Path

import pypdf
import pytest

from devflow.domain.conversation import Role
from devflow.domain.messages import english
from devflow.sharing.conversation import SharedConversation, SharedMessage
from devflow.sharing.style import read_sheet
from devflow.ui.export_pdf import Pages, Stopped, write_pdf
from devflow.ui.pdf_text import name_glyphs_as_written
from tests.ui.conftest import Look

AT = datetime(2026, 11, 30, tzinfo=UTC)
RESOURCES = Path(__file__).parents[2] / "resources"
HELD_S = 0.05
CODE = "```python\ndef f(x):\n    return x\n```"
ANSWER = f"先读、后写：\n\n{CODE}\n\n- 甲\n- 乙\n\n" + "多写一些内容，English too. " * 12


def pages(look: Look) -> Pages:
    return Pages(read_sheet(RESOURCES), look.theme.font("body"), look.theme.font("code"))


def conversation(*texts: str) -> SharedConversation:
    """Questions and answers by turns."""
    messages = tuple(
        SharedMessage((Role.USER, Role.ASSISTANT)[place % 2], place // 2 + 1, text, AT)
        for place, text in enumerate(texts)
    )
    return SharedConversation("Title", AT, messages=messages)


def text_of(file: Path) -> str:
    return re.sub(r"\s", "", "".join(page.extract_text() for page in pypdf.PdfReader(file).pages))


@pytest.mark.parametrize(
    "text",
    [
        "一二三人力刀又口土士大女子寸小山工己巾广弓心戈手支文斗方无日月木水火父片牛犬玉瓜瓦甘生用田白皮目矛石示禾立竹米羊老而耳肉",
        "马上见到长短的页面，门外有风，飞鸟与鱼，骨头、黄麦、青龙、食车贝角",
        "A-B – C — D … 〈书〉 • 点",
        "1:30 -> 12x5 fi fl office 100%",
        "tabs\tand  spaces",
    ],
)
def test_every_character_can_be_copied_as_it_was_written(look: Look, tmp_path: Path, text: str) -> None:
    file = tmp_path / "talk.pdf"
    write_pdf(conversation("Question", f"```\n{text}\n```\n\n{text}"), english(), pages(look), file)
    assert text_of(file).count(re.sub(r"\s", "", text)) == 2


def test_a_glyph_is_named_by_what_was_written_where_fonts_draw_two_alike() -> None:
    raw = b"x begincmap [<2F00> <0009> <4E8C> ] <0001> <0001> <2EDA> endcmap [<2F00> ]"
    named = name_glyphs_as_written(raw, set("一 页二"))
    assert named == b"x begincmap [<4E00> <0020> <4E8C> ] <0001> <0001> <9875> endcmap [<2F00> ]"
    assert name_glyphs_as_written(raw, set("二")) == raw


async def test_a_long_conversation_holds_nobody_up(look: Look, tmp_path: Path) -> None:
    """No step keeps Python's lock for longer than the window may stand still, by the time it takes itself."""
    file, shared, made = tmp_path / "talk.pdf", conversation(*["问题？", ANSWER] * 150), pages(look)
    steps: list[float] = []
    clock = [0.0]

    def stopped() -> bool:
        now = time.thread_time()
        steps.append(now - clock[0])
        clock[0] = now
        return False

    def work() -> None:
        clock[0] = time.thread_time()
        write_pdf(shared, english(), made, file, stopped)

    await asyncio.to_thread(work)
    assert len(steps) > 50
    assert sorted(steps)[-3] < HELD_S  # the first ones load fonts
    assert text_of(file).count("问题？") == 150


def test_what_was_stopped_leaves_no_file(look: Look, tmp_path: Path) -> None:
    with pytest.raises(Stopped):
        write_pdf(conversation("a", "b"), english(), pages(look), tmp_path / "talk.pdf", lambda: True)
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == []
