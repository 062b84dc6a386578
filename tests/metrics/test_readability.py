from __future__ import annotations

import pytest

from fabula.core.score import Status
from fabula.metrics.readability import Readability
from fakes.factories import make_story, values_of


def formulas(words, sentences, syllables):
    """Grade and ease: Kincaid et al. (1975) and Flesch (1948)."""
    grade = 0.39 * words / sentences + 11.8 * syllables / words - 15.59
    return grade, 206.835 - 1.015 * words / sentences - 84.6 * syllables / words


@pytest.mark.parametrize(
    ("text", "words", "sentences", "syllables"),
    [
        # One syllable each.
        ("The cat sat on the mat.", 6, 1, 6),
        # 1 1 1 1 1 1, 1 2 1 1 2.
        ("The cat sat on the mat. The dragon ate a table.", 11, 2, 13),
        # 2 2 1 1 2, 1 1 4.
        ("Happy dragon, sleep by winter! It was impossible.", 8, 2, 14),
        ("no end to this", 4, 1, 4),
    ],
)
def test_an_example_by_hand(text, words, sentences, syllables):
    expected = formulas(words, sentences, syllables)
    assert values_of(Readability(), text) == pytest.approx(expected, rel=1e-12)


def test_the_worked_numbers_of_one_sentence():
    # Six words, six syllables: 0.39 · 6 + 11.8 − 15.59 = −1.45; 206.835 − 6.09 − 84.6 = 116.145.
    assert values_of(Readability(), "The cat sat on the mat.") == pytest.approx((-1.45, 116.145))


def test_longer_words_and_sentences_are_harder():
    easy_grade, easy_ease = values_of(Readability(), "The cat sat. It ran.")
    hard_grade, hard_ease = values_of(
        Readability(), "Immediately afterwards the animal disappeared behind impossible mountains."
    )
    assert hard_grade > easy_grade
    assert hard_ease < easy_ease


def test_compat_parts_words_by_the_ascii_rule():
    # don't is one word of a syllable, or the two words don and t.
    assert values_of(Readability(), "I don't.") == pytest.approx(formulas(2, 1, 2))
    assert values_of(Readability(compat=True), "I don't.") == pytest.approx(formulas(3, 1, 3))


def test_a_story_without_words_is_undefined():
    scores = Readability().score([make_story("...")])
    assert {score.status for score in scores} == {Status.UNDEFINED}
    assert all(score.note for score in scores)
