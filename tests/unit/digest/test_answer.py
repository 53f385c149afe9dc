"""What counts as a page: the five sections, however a model wraps them."""

import time

import pytest

from devflow.digest.answer import Digest, Missing, parse_answer, section_of_line
from devflow.digest.sediment_summary import parse_note
from tests.fakes.digest_server import page_for

CHINESE = page_for("怎样写标题\n细节一\n好标题只说一件事。")
ENGLISH = page_for("How to write titles\nOne detail\nA good title says one thing.", chinese=False)


@pytest.mark.parametrize("page,title", [(CHINESE, "怎样写标题"), (ENGLISH, "How to write titles")])
@pytest.mark.parametrize(
    "wrapped",
    [
        "{}",
        "\n\n{}\n\n",
        "```markdown\n{}\n```",
        "好的，以下是整理好的页面：\n\n{}",
        "<think># 不是标题\n想一想</think>\n\n{}",
    ],
)
def test_a_page_is_found_in_whatever_is_wrapped_around_it(page: str, title: str, wrapped: str) -> None:
    assert parse_answer(wrapped.format(page)) == Digest(
        title, "好标题只说一件事。" if page == CHINESE else "A good title says one thing.", page
    )


@pytest.mark.parametrize(
    "page",
    [
        CHINESE.replace("## ", "### "),
        CHINESE.replace("## 核心摘要", "## 1. **核心摘要**："),
        CHINESE.replace("## 待解问题", "## （四）待解问题").replace("（四）", "4、"),
        CHINESE.replace("\n", "\r\n"),
        CHINESE.replace("# 怎样写标题", "# 标题：怎样写标题"),
        ENGLISH.replace("Core summary", "CORE SUMMARY"),
    ],
)
def test_headings_may_be_numbered_marked_or_of_another_level(page: str) -> None:
    assert isinstance(parse_answer(page), Digest)


@pytest.mark.parametrize(
    "text,missing",
    [
        (CHINESE.replace("## 待解问题", ""), ("open questions",)),
        (CHINESE.replace("# 怎样写标题\n", "", 1), ("title",)),
        (CHINESE.replace("好标题只说一件事。", ""), ("core summary",)),
        (f"```\n{CHINESE}\n```\n\n好了", ("title", "core summary", "key details")),
        ("# 标题\n\n就这些。", ("core summary", "key details", "relation to the purpose", "open questions")),
        ("", ("title", "core summary", "key details", "relation to the purpose", "open questions")),
    ],
)
def test_what_is_missing_is_named(text: str, missing: tuple[str, ...]) -> None:
    found = parse_answer(text)
    assert isinstance(found, Missing)
    assert found.sections[: len(missing)] == missing


def test_a_long_summary_is_one_short_line_in_the_index() -> None:
    found = parse_answer(CHINESE.replace("好标题只说一件事。", "**长**" * 500))
    assert isinstance(found, Digest)
    assert len(found.summary) == 160
    assert "*" not in found.summary


@pytest.mark.parametrize("line", ["# a" + " " * 1_500 + "b", "# 1" + ". " * 20_000 + "b", "# a" + " #" * 20_000 + "b"])
def test_a_heading_of_many_spaces_is_read_in_linear_time(line: str) -> None:
    began = time.process_time()
    section_of_line(line)
    parse_answer(f"{line}\n\n{CHINESE}")
    parse_note(f"{line}\n\nA summary.")
    assert time.process_time() - began < 1.0


def test_a_sign_at_the_end_of_a_title_is_no_closing_mark() -> None:
    found = parse_answer(ENGLISH.replace("# How to write titles", "# What is new in C# ##"))
    assert isinstance(found, Digest)
    assert found.title == "What is new in C#"


@pytest.mark.parametrize("note", ["# A", "# A\n\n## B\n\n## C", "# A\n\n##\n\n"])
def test_headings_alone_are_no_summary(note: str) -> None:
    assert parse_note(note) == "it has no summary"
