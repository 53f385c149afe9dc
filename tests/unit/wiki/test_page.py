"""Reading a page: its encoding, its title, and what of it is content."""

import pytest

from devflow.wiki.decoding import decode
from devflow.wiki.page import fingerprint, read

PATH = "wiki/topics/agent-notes.md"


def title_of(text: str) -> str:
    return read(PATH, text).title


@pytest.mark.parametrize(
    "text, title",
    [
        ("# Agents\n\ntext", "Agents"),
        ("  # Agents #\n", "Agents"),
        ("text\n\n" + "x" * 1_024 + "\n\n# Agents\n", "Agents"),
        ('---\ntitle: "About: agents"\n---\n# Other\n', "About: agents"),
        ("---\n# comment\nkind: x\n---\n# Agents\n", "Agents"),
        ("```sh\n# comment\n```\n# Agents\n", "Agents"),
        ("~~~\n# comment\n```\n# still\n~~~\n# Agents\n", "Agents"),
        ("<!-- # hidden -->\n# Agents\n", "Agents"),
        ("Agents\n======\n", "Agents"),
        ("# **Agents** and [links](wiki/x.md)\n", "Agents and links"),
    ],
)
def test_the_title_is_the_front_matters_or_the_first_real_heading(text: str, title: str) -> None:
    assert title_of(text) == title


@pytest.mark.parametrize("text", ["", "#无空格\n", "## Second\n", "#\n\ntext", "text"])
def test_without_a_title_the_files_name_is_one(text: str) -> None:
    assert title_of(text) == "agent-notes"


def test_front_matter_and_comments_are_no_content() -> None:
    page = read(PATH, "---\nsecret: yes\n---\n# A\n\n<!-- to do:\nwrite -->\nkept\n\n```\n<!-- code -->\n```\n")
    assert "secret" not in page.content
    assert "to do" not in page.content
    assert "kept" in page.content
    assert "<!-- code -->" in page.content


def test_a_front_matter_that_never_ends_is_content() -> None:
    assert "kind: x" in read(PATH, "---\nkind: x\n# A\n").content


def test_a_page_of_headings_alone_is_bare() -> None:
    assert read(PATH, "# A\n\n## B\n").is_bare
    assert not read(PATH, "# A\n\ntext\n").is_bare


def test_a_page_counts_as_untouched_until_its_content_changes() -> None:
    head = f"---\nmade_by: init\nuntouched: {fingerprint('# A')}\n---\n"
    assert read(PATH, f"{head}# A\n").origin == "init"
    assert read(PATH, f"{head}# A\n\nmore\n").origin == ""


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "gb18030"])
def test_a_page_is_read_in_whatever_encoding_it_was_saved(encoding: str) -> None:
    text = "# 检索增强\r\n\r\n多 agent 团队"
    raw = text.encode(encoding)
    if encoding == "utf-16-le":
        raw = b"\xff\xfe" + raw
    assert decode(raw) == "# 检索增强\n\n多 agent 团队"


@pytest.mark.parametrize("raw", [b"\x00\x01\x02binary", b"\x89PNG\r\n\x1a\n\x00\x00", bytes(range(128, 256))])
def test_what_is_no_text_is_not_read_as_one(raw: bytes) -> None:
    assert decode(raw) is None
