"""A reference reaches only what lies below `wiki/`."""

from pathlib import Path

import pytest

from devflow.wiki.paths import OutsideWiki, page_path, resolve_wiki_page_path


@pytest.fixture
def base(tmp_path: Path) -> Path:
    (tmp_path / "kb" / "wiki" / "topics").mkdir(parents=True)
    (tmp_path / "kb" / "wiki" / "topics" / "agent.md").write_text("# Agent\n", encoding="utf-8")
    (tmp_path / "outside.md").write_text("secret", encoding="utf-8")
    return tmp_path / "kb"


@pytest.mark.parametrize("reference", ["wiki/topics/agent.md", "./wiki/topics/agent.md", "x/../wiki/topics/agent.md"])
def test_a_path_below_wiki_is_the_page(base: Path, reference: str) -> None:
    assert resolve_wiki_page_path(base, reference) == base / "wiki" / "topics" / "agent.md"
    assert page_path(base, reference) == "wiki/topics/agent.md"


@pytest.mark.parametrize(
    "reference",
    ["wiki/../purpose.md", "raw/source.md", "wiki/../../outside.md", "wiki/a\x00.md", "wiki", "wiki/" + "a" * 2_000],
)
def test_a_path_that_leads_out_is_refused(base: Path, reference: str) -> None:
    with pytest.raises(OutsideWiki, match="inside wiki"):
        resolve_wiki_page_path(base, reference)
    assert page_path(base, reference) is None


@pytest.mark.parametrize("reference", ["/etc/passwd", "C:\\x.md", "\\\\host\\share\\x.md"])
def test_an_absolute_path_is_refused(base: Path, reference: str) -> None:
    with pytest.raises(OutsideWiki, match="relative"):
        resolve_wiki_page_path(base, reference)


def test_a_link_that_leaves_the_folder_is_refused_and_one_that_stays_is_not(base: Path) -> None:
    (base / "wiki" / "out.md").symlink_to(base.parent / "outside.md")
    (base / "wiki" / "in.md").symlink_to(base / "wiki" / "topics" / "agent.md")
    assert page_path(base, "wiki/out.md") is None
    assert page_path(base, "wiki/in.md") == "wiki/topics/agent.md"
