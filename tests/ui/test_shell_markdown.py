"""Rendered Markdown: safe, copyable, and the same text however it arrives."""

import re

import pytest
from PySide6.QtCore import QMimeData
from PySide6.QtGui import QGuiApplication, QTextCursor
from PySide6.QtWidgets import QToolButton
from pytestqt.qtbot import QtBot

from devflow.sharing.highlight import highlight
from devflow.ui.theme import ThemeMode
from devflow.ui.widgets import CodeBlock, MarkdownView
from devflow.ui.widgets.markdown.stream import open_fence, safe_cut
from tests.support.waiting import until
from tests.ui.conftest import Look

WHOLE = """\
写事务从一开始就取锁，`busy_timeout` 不参与 [K1]。

```python
with engine.connect() as conn:
\tyield conn
```

# A heading

| Where | Change |
|---|---|
| `a.py` | none |

1. one

2. two

   and more of two

- last

> quoted
> text

---

The end, with **bold** and a [link](https://example.org)."""


@pytest.fixture
def view(qtbot: QtBot, look: Look) -> MarkdownView:
    made = MarkdownView(look)
    qtbot.addWidget(made)
    made.resize(600, 10)
    made.set_references({"K1": ("devflow:entry/1", "Take the write lock first")})
    return made


@pytest.mark.parametrize("size", [1, 3, 17, 400])
async def test_a_stream_ends_as_the_text_that_is_set_at_once(view: MarkdownView, look: Look, size: int) -> None:
    view.set_markdown(WHOLE)
    wanted = view.toHtml()
    view.set_markdown("")
    for at in range(0, len(WHOLE), size):
        view.append(WHOLE[at : at + size])
        if at % 5 == 0:
            view._render_open()
    view.finish()
    assert view.source == WHOLE
    assert not view.streaming
    assert view.toPlainText().split("\n") == _plain(look, WHOLE)
    assert ("font-weight" in view.toHtml()) == ("font-weight" in wanted)


async def test_streamed_text_is_drawn_in_one_go_within_a_frame(view: MarkdownView) -> None:
    for word in ("One ", "two ", "three"):
        view.append(word)
    assert view.toPlainText() == ""
    await until(lambda: view.toPlainText() == "One two three", view.height_changed)


def test_finished_blocks_are_not_touched_again(view: MarkdownView) -> None:
    view.append("First paragraph.\n\nSecond")
    view._render_open()
    first = view.document().firstBlock()
    marked = QTextCursor(first)
    view.append(" paragraph grows")
    view._render_open()
    assert marked.block() == view.document().firstBlock()
    assert view._open_at > 0
    assert view.toPlainText() == "First paragraph.\nSecond paragraph grows"


@pytest.mark.parametrize(
    "href",
    ["javascript:alert(1)", "file:///etc/passwd", "data:text/html,x", "vbscript:x", "../../secret", "\tjavascript:x"],
)
def test_only_harmless_addresses_become_links(view: MarkdownView, href: str) -> None:
    view.set_markdown(f"[read this]({href}) and <{href}>")
    assert 'href="' not in view.toHtml()
    assert "read this" in view.toPlainText()


def test_html_is_text_and_pictures_are_never_loaded(view: MarkdownView) -> None:
    view.set_markdown("<script>x()</script> <b>bold</b>\n\n![a map](https://example.org/map.png)")
    assert "<script>x()</script> <b>bold</b>" in view.toPlainText()
    assert "<img" not in view.toHtml()
    assert "a map" in view.toPlainText()


def test_a_reference_is_a_link_and_an_unknown_one_says_so(view: MarkdownView) -> None:
    view.set_markdown("See [K1] and [K9], but not `[K1]` in code, nor array[1].")
    html = view.toHtml()
    assert re.findall(r'href="([^"]*)"><span[^>]*>(\w+)<', html) == [("devflow:entry/1", "K1")]
    assert view.toPlainText() == "See K1 and K9?, but not [K1] in code, nor array[1]."


def test_a_reference_never_begins_a_line_alone(view: MarkdownView) -> None:
    view.set_markdown(" ".join(["word"] * 40) + " [K1]")
    for width in range(300, 600, 7):
        view.resize(width, 10)
        block = view.document().begin()
        lines = [block.layout().lineAt(number) for number in range(block.layout().lineCount())]
        shown = [block.text()[line.textStart() : line.textStart() + line.textLength()] for line in lines]
        assert all("word" in line for line in shown), shown
    assert view.toPlainText().endswith("word K1"), "the space that holds it is copied as an ordinary one"


def test_links_are_given_on_and_nothing_is_opened(qtbot: QtBot, view: MarkdownView) -> None:
    followed: list[str] = []
    view.link_activated.connect(followed.append)
    view.set_markdown("[K1]")
    from PySide6.QtCore import QUrl

    view.anchorClicked.emit(QUrl("devflow:entry/1"))
    view.anchorClicked.emit(QUrl("file:///etc/passwd"))
    assert followed == ["devflow:entry/1"]


def test_what_is_copied_is_what_was_read(view: MarkdownView) -> None:
    view.set_markdown("Use `put_nowait` never, see [K1].")
    view.selectAll()
    copied: QMimeData = view.createMimeDataFromSelection()
    assert copied.text() == "Use put_nowait never, see K1."
    assert not copied.hasHtml()


def test_a_code_block_is_copied_as_it_was_written(qtbot: QtBot, look: Look) -> None:
    block = CodeBlock(look, "def f():\n\treturn '```'", "python")
    qtbot.addWidget(block)
    block.show()
    button = block.findChild(QToolButton, "copyCodeButton")
    assert button is not None
    button.click()
    assert QGuiApplication.clipboard().text() == "def f():\n\treturn '```'"
    assert button.accessibleName() == "Copied"


def test_the_view_is_as_high_as_its_text(view: MarkdownView) -> None:
    view.show()
    view.set_markdown("one line")
    low = view.height()
    view.set_markdown("\n\n".join(["one line"] * 5))
    assert low == 22
    assert view.height() >= 5 * 22


def test_a_new_theme_recolours_what_is_shown(view: MarkdownView, look: Look) -> None:
    view.set_markdown(WHOLE)
    before, text = view.toHtml(), view.toPlainText()
    look.theme.set_mode(ThemeMode.DARK)
    assert view.toHtml() != before
    assert view.toPlainText() == text


@pytest.mark.parametrize("language", ["python", "sql", "no-such-language", ""])
def test_highlighting_never_changes_the_code(language: str) -> None:
    code = "# 注释\r\nSELECT 'x' -- y\n\n"
    assert "".join(text for text, _ in highlight(code, language)) == code


@pytest.mark.parametrize(
    "text, cut",
    [
        ("one", 0),
        ("one\n", 0),
        ("one\n\n", 0),
        ("one\n\ntwo", 5),
        ("```\na\n\nb", 0),
        ("```\na\n```\nnext", 10),
        ("- a\n\n- b", 0),
        ("- a\n\n  more", 0),
        ("1. a\n\n2", 0),
        ("- a\n\nafter", 5),
        ("a\n\n    code", 0),
    ],
)
def test_a_text_is_cut_only_where_more_text_changes_nothing(text: str, cut: int) -> None:
    assert safe_cut(text) == cut


def test_a_growing_fence_is_known_by_its_language() -> None:
    assert open_fence("```python\nx = 1\ny") == ("python", "x = 1\ny")
    assert open_fence("```python\nx = 1\n```") is None
    assert open_fence("```python") is None
    assert open_fence("text") is None


def _plain(look: Look, text: str) -> list[str]:
    other = MarkdownView(look)
    other.set_references({"K1": ("devflow:entry/1", "Take the write lock first")})
    other.set_markdown(text)
    lines = other.toPlainText().split("\n")
    other.deleteLater()
    return lines
