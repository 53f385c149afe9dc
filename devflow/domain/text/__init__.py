"""Text: folding, terms, and cutting. Pure; one definition for the index, the ranking and the window."""

from devflow.domain.text.folding import duplicate_key, fold, fold_term, normalised
from devflow.domain.text.graphemes import ELLIPSIS, cut, cut_at_sentence, is_boundary
from devflow.domain.text.needle import Needle, needle
from devflow.domain.text.signs import sign_terms
from devflow.domain.text.terms import Segment, run_terms, segments, terms, whole_words, word_terms

__all__ = [
    "ELLIPSIS",
    "Needle",
    "Segment",
    "cut",
    "cut_at_sentence",
    "duplicate_key",
    "fold",
    "fold_term",
    "is_boundary",
    "needle",
    "normalised",
    "run_terms",
    "segments",
    "sign_terms",
    "terms",
    "whole_words",
    "word_terms",
]
