"""Names of pages: readable in their own script, safe on every file system, safe in references."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devflow.digest.slug import SLUG_BYTES, slug_of, stamp_of
from devflow.retrieval.answers import named_pages
from devflow.retrieval.references import parse_explicit_page_refs


@pytest.mark.parametrize(
    "name,slug",
    [
        ("我的 文章.v2.md", "我的-文章-v2"),
        ("👩‍👩‍👧 家.txt", "👩‍👩‍👧-家"),
        ("Report (final) #3.pdf", "Report-final-3"),
        ("《标题》：副题？.md", "标题-副题"),
        ("a\u202eb\u200b.md", "ab"),
        ("café.md", "café"),
        ("...", "digest"),
        ("？？.md", "digest"),
    ],
)
def test_a_name_stays_readable(name: str, slug: str) -> None:
    assert slug_of(name) == slug


@given(st.text(min_size=1, max_size=300))
def test_no_name_makes_an_unsafe_page(name: str) -> None:
    slug = slug_of(name)
    assert slug
    assert len(slug.encode()) <= SLUG_BYTES
    assert not set(slug) & set('<>:"/\\|?*[]#^ \n\t.')
    page = f"wiki/synthesis/sessions/{slug}-2026-11-30T19-45-12-345Z.md"
    assert parse_explicit_page_refs(f"看 [[{page}]] 吧") == (page,)
    assert named_pages(f"- 《标题》：{page}") == (page,)


def test_a_long_name_is_cut_between_characters_as_they_are_seen() -> None:
    family = "👩‍👩‍👧"
    assert slug_of(family * 20) == family * (SLUG_BYTES // len(family.encode()))


def test_the_stamp_is_iso_in_utc_without_colons_and_dots() -> None:
    at = datetime(2026, 11, 30, 21, 45, 12, 345_678, timezone(timedelta(hours=2)))
    assert stamp_of(at) == "2026-11-30T19-45-12-345Z"
    assert stamp_of(at.astimezone(UTC)) == stamp_of(at)
