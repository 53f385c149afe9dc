"""Folding: matching only, character by character (spec 08)."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from devflow.domain.text import duplicate_key, fold, fold_term, normalised

TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=30)


@given(TEXT, TEXT)
def test_the_fold_of_a_part_is_part_of_the_fold(first: str, second: str) -> None:
    assert fold(first + second) == fold(first) + fold(second)
    assert fold_term(first + second) == fold_term(first) + fold_term(second)


@given(TEXT)
def test_folding_is_casefold_of_nfd_of_each_character(text: str) -> None:
    assert fold(text) == "".join(unicodedata.normalize("NFD", char).casefold() for char in text)


@given(TEXT)
def test_what_folds_alike_has_the_same_terms(text: str) -> None:
    assert fold_term(fold(text)) == fold_term(text)


def test_composed_and_decomposed_text_fold_alike() -> None:
    assert fold("Café") == fold("CAFE\u0301")
    assert fold("한국") == fold(unicodedata.normalize("NFD", "한국"))


def test_a_term_ignores_accents_and_width() -> None:
    assert fold_term("Café ＦＵＬＬ ﬁ") == "cafe full fi"


def test_texts_repeat_each_other_up_to_width_case_and_white_space() -> None:
    assert normalised("  Ａ  b\n\tC ") == "a b c"
    assert duplicate_key("Lock", "Set  an\nexpiry") == duplicate_key("LOCK ", "set an expiry")
    assert duplicate_key("Lock", "x") != duplicate_key("Lock x", "")
