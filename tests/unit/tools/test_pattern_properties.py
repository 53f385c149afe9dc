"""Whatever a command or a file is called: a pattern that is offered covers it, and nothing beside it."""

from hypothesis import assume, given
from hypothesis import strategies as st

from devflow.tools.patterns import choices, matches

WORDS = st.lists(
    st.one_of(
        st.sampled_from(
            ["git", "status", "*", "?", "[a]", "-x", "--exec=a b", "", "'", '"', "\\", "a b", "* *", "#", ";"]
        ),
        st.text(max_size=6),
    ),
    min_size=1,
    max_size=5,
)
NAMES = st.text(st.characters(blacklist_characters="/\x00", blacklist_categories=["Cs"]), min_size=1, max_size=8)
PATHS = st.lists(NAMES, min_size=1, max_size=4)


@given(words=WORDS, others=WORDS)
def test_the_exact_pattern_of_a_command_covers_its_words_alone(words: list[str], others: list[str]) -> None:
    offered = choices("", words, is_path=False)
    assume(offered and words != others)
    assert matches(offered[0], "", words, is_path=False)
    assert not matches(offered[0], "", others, is_path=False)
    assert not matches(offered[0], "", [*words, "more"], is_path=False)


@given(words=WORDS, others=WORDS)
def test_a_wider_pattern_of_a_command_keeps_its_program(words: list[str], others: list[str]) -> None:
    for pattern in choices("", words, is_path=False):
        assert matches(pattern, "", words, is_path=False)
        if others[0] != words[0]:
            assert not matches(pattern, "", others, is_path=False)


@given(path=PATHS, other=PATHS)
def test_the_patterns_of_a_file_cover_it_and_at_most_its_own_folder(path: list[str], other: list[str]) -> None:
    target, elsewhere = "/".join(path), "/".join(other)
    offered = choices(target, (), is_path=True)
    for pattern in offered:
        assert matches(pattern, target, (), is_path=True)
        if other[:-1] != path[:-1]:
            assert not matches(pattern, elsewhere, (), is_path=True)
    if offered and offered[0] != f"{'/'.join(path[:-1])}/*" and other != path:
        assert not matches(offered[0], elsewhere, (), is_path=True)


@given(words=st.lists(st.text(min_size=1, max_size=4), min_size=1, max_size=4))
def test_nothing_is_offered_for_what_cannot_be_shown(words: list[str]) -> None:
    if not all(word.isprintable() for word in words):
        assert choices("", words, is_path=False) == ()
