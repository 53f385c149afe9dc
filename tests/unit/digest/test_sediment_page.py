"""Whatever is said in a conversation stays inside its page's transcript."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from devflow.digest.sediment_page import page_text
from devflow.digest.sediment_summary import Summary, parse_note
from devflow.digest.sediment_talk import Said, Talk, UsedPage, shown_to_model
from devflow.domain.conversation import Conversation, Draft, Origin, Role
from devflow.domain.tokens import estimate_tokens
from devflow.wiki.page import read

AT = datetime(2026, 11, 30, 19, 45, tzinfo=UTC)
PIECES = (
    *(
        "---",
        "===",
        "```",
        "~~~~",
        "# A",
        "## Transcript",
        "> q",
        "- item",
        "1. one",
        "    code",
        "<!--",
        "-->",
        "<pre>",
    ),
    *("<script>", "<![CDATA[", "<?php", "made_by: init", "untouched: 1", "| a | b |", "|---|---|", "[[wiki/a.md]]"),
    *("\t", "", " ", "text", "emoji 🔒", "\u2028", "**", "`", "\\", "<details>", "$$", "[a]: b", "```` x", "end"),
)
TEXT = st.lists(st.sampled_from(PIECES), min_size=1, max_size=8).map("\n".join)


def talk(*texts: str) -> Talk:
    conversation = Conversation(
        id="c",
        title="Locks",
        title_by_user=False,
        origin=Origin.WINDOW,
        project=None,
        kb_id="kb",
        leaf_id="m",
        pinned=False,
        retrieval=True,
        model=None,
        draft=Draft(),
        queued="",
        created_at=AT,
        updated_at=AT,
    )
    said = tuple(Said((Role.USER, Role.ASSISTANT)[number % 2], text, AT) for number, text in enumerate(texts))
    return Talk(conversation, said, frozenset({"m"}), "m", (UsedPage("wiki/topics/wal.md", "WAL"),))


def outline(page: str) -> list[str]:
    """What stands at the top level of the page: headings by their words, other blocks by their kind."""
    body = page.partition("\n---\n")[2]
    tokens = MarkdownIt("commonmark").parse(body)
    found: list[str] = []
    for place, token in enumerate(tokens):
        if token.level == 0 and token.type == "heading_open":
            found.append(tokens[place + 1].content)
        elif token.level == 0 and token.nesting != -1:
            found.append(token.type.removesuffix("_open"))
    return found


@given(TEXT, TEXT, TEXT)
def test_no_message_leaves_its_quotation(first: str, second: str, third: str) -> None:
    page = page_text(talk(first, second, third), Summary("Locks", "Take them early.", "m"), created="x")
    assert outline(page) == [
        *("Locks", "paragraph", "Pages used", "bullet_list", "Transcript"),
        *("paragraph", "blockquote") * 3,
    ]
    known = read("wiki/a.md", page)
    assert (known.title, known.origin) == ("Locks", "sediment")
    assert known.content.rstrip().split("\n")[-1].startswith(">"), "no comment hides the end"


@given(TEXT)
def test_no_summary_swallows_what_stands_below_it(summary: str) -> None:
    note = parse_note(f"# Locks\n\nIn short:\n\n{summary}")
    if isinstance(note, str):
        return
    page = page_text(talk("a", "b"), note, created="x")
    below = ["Pages used", "bullet_list", "Transcript", *("paragraph", "blockquote") * 2]
    assert outline(page)[0] == "Locks"
    assert outline(page)[-len(below) :] == below
    known = read("wiki/a.md", page)
    assert (known.title, known.origin) == ("Locks", "sediment")
    assert "[[wiki/topics/wal.md]]" in known.content


@given(st.lists(st.text("abc 文字", max_size=4_000), min_size=2, max_size=30), st.integers(400, 5_000))
def test_what_the_model_is_shown_has_the_first_question_the_newest_answer_and_fits(texts: list[str], room: int) -> None:
    texts = ["FIRST " + texts[0], *texts[1:-1], texts[-1] + " LAST"]
    shown = shown_to_model(talk(*texts), room)
    assert "FIRST" in shown
    assert shown.endswith("LAST")
    assert estimate_tokens(shown) <= room + 500
