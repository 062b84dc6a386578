from __future__ import annotations

import math

import pytest

from fabula.core.errors import SettingError
from fabula.core.score import Status
from fabula.metrics.repetition import Repetition
from fakes.factories import make_story, value_of


@pytest.mark.parametrize(
    ("n", "text", "share"),
    [
        (1, "a b a c", 1 / 3),  # a, of the kinds a b c
        (1, "a a a a", 1.0),
        (1, "a b c", 0.0),
        (2, "a b a b", 1 / 2),  # ab twice, ba once
        (2, "The cat. the CAT!", 1 / 2),  # the cat twice, cat the once
        (3, "a b c a b c a", 2 / 3),  # abc and bca twice, cab once
        (1, "漢字漢", 1 / 2),
    ],
)
def test_a_share_by_hand(n, text, share):
    assert value_of(Repetition(n), text) == pytest.approx(share)


def test_it_counts_kinds_and_not_occurrences():
    assert value_of(Repetition(1), "a a b") == value_of(Repetition(1), "a a a a a a b") == 0.5


@pytest.mark.parametrize(("n", "text"), [(3, "two words"), (1, "!!!"), (2, "one")])
def test_a_text_without_n_grams_is_undefined_not_zero(n, text):
    [score] = Repetition(n).score([make_story(text)])
    assert score.status is Status.UNDEFINED
    assert math.isnan(score.value)
    assert score.note


def test_compat_keeps_case_and_counts_marks_and_the_final_newline():
    pytest.importorskip("spacy")
    # Tokens: The cat . the cat . and a newline; cat and . come back, of The cat . the newline.
    assert value_of(Repetition(1, compat=True), "The cat. the cat.") == pytest.approx(2 / 5)
    # Pairs: The-cat, cat-. twice, .-the, the-cat, .-newline.
    assert value_of(Repetition(2, compat=True), "The cat. the cat.") == pytest.approx(1 / 5)


@pytest.mark.parametrize("n", [0, -1, 1.5, "2", True])
def test_n_must_be_a_whole_number_from_one(n):
    with pytest.raises(SettingError, match="repetition: n="):
        Repetition(n)
