"""An entry as long as the rule allows."""

from devflow.domain.knowledge import CONTENT_MAX, Status
from tests.support.desk import Desk, at_the_desk
from tests.support.eventually import eventually


@at_the_desk
async def test_a_long_text_is_shown_whole_though_it_comes_in_pieces(desk: Desk) -> None:
    paragraphs = [f"Paragraph {number} says `why` and **what**, in so many words." for number in range(320)]
    content = "\n\n".join(paragraphs)
    assert 16_000 < len(content) <= CONTENT_MAX
    await desk.add("Long", Status.PUBLISHED, content=content)
    await desk.open_library()
    prose = desk.library.detail.text.prose
    await eventually(lambda: prose.source == content)
    words = prose.toPlainText()
    assert words.startswith("Paragraph 0 says why and what")
    assert words.rstrip().endswith("Paragraph 319 says why and what, in so many words.")
    assert words.count("Paragraph ") == 320


@at_the_desk
async def test_the_next_entry_ends_a_long_one_that_is_still_coming(desk: Desk) -> None:
    await desk.add("Long", Status.PUBLISHED, content="\n\n".join(["Many words that say why."] * 700))
    await desk.add("Short", Status.PUBLISHED, content="Short and done.")
    await desk.open_library()
    await eventually(lambda: desk.library.detail.entry is not None)
    desk.library.list.step(1)
    desk.library.list.step(-1)
    await eventually(lambda: desk.library.detail.text.prose.source == "Short and done.")
    await desk.desktop.tasks.settled()
    assert desk.library.detail.text.prose.source == "Short and done."
