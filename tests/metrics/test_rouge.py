from __future__ import annotations

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer
from rouge_score.tokenizers import DefaultTokenizer

from fabula.core.errors import SettingError
from fabula.core.score import Status
from fabula.metrics.rouge import Rouge
from fakes.factories import make_story, values_of

VOCABULARY = "the cats ran running runner happily flies flying dying a generously 42 it's".split()
prose = st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=40).map(" ".join)
printable = st.text(st.characters(min_codepoint=32, max_codepoint=126), min_size=1)
lines = (prose | printable).filter(str.strip)

# Lin (2004), section 3: S1 is the reference.
S1 = "police killed the gunman"
S2 = "police kill the gunman"
S3 = "the gunman kill police"
S4 = "the gunman police killed"
S5 = "gunman the killed police"


@pytest.mark.parametrize("n", [1, 2, 3, "L"])
@given(text=lines, reference=lines)
def test_one_line_texts_score_as_with_rouge_score_0_1_2(n, text, reference):
    grams = 1 if n == "L" else n
    assume(len(DefaultTokenizer(use_stemmer=True).tokenize(reference)) >= grams)
    expected = RougeScorer([f"rouge{n}"], use_stemmer=True).score(reference, text)[f"rouge{n}"]
    found = values_of(Rouge(n), text, reference)
    short = len(DefaultTokenizer(use_stemmer=True).tokenize(text)) < grams
    check_beside_rouge_score(found, expected, short)


@pytest.mark.parametrize("n", [1, 2, "L"])
@given(text=lines, reference=lines)
def test_without_stems_it_is_rouge_score_without_its_stemmer(n, text, reference):
    assume(len(DefaultTokenizer(use_stemmer=False).tokenize(reference)) >= (2 if n == 2 else 1))
    expected = RougeScorer([f"rouge{n}"], use_stemmer=False).score(reference, text)[f"rouge{n}"]
    found = values_of(Rouge(n, stem=False), text, reference)
    short = len(DefaultTokenizer(use_stemmer=False).tokenize(text)) < (2 if n == 2 else 1)
    check_beside_rouge_score(found, expected, short)


def check_beside_rouge_score(found, expected, short):
    """A text too short for an n-gram has a precision of 0 / 0, which rouge-score calls 0."""
    precision = math.nan if short else expected.precision
    wanted = (expected.recall, precision, expected.fmeasure)
    assert found == pytest.approx(wanted, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize(
    ("n", "text", "share"),
    [
        (2, S2, 1 / 3),  # "the gunman" of three pairs
        (2, S3, 1 / 3),  # the same pair: ROUGE-2 cannot tell S2 from S3
        ("L", S2, 3 / 4),  # police … the gunman
        ("L", S3, 2 / 4),  # the gunman
        ("L", S4, 2 / 4),
        ("S*", S2, 3 / 6),  # police the, police gunman, the gunman
        ("S*", S3, 1 / 6),  # the gunman
        ("S*", S4, 2 / 6),  # the gunman, police killed
        ("S*", S5, 0.0),
        ("SU*", S2, (3 + 3) / (6 + 4)),
        ("SU*", S4, (2 + 4) / (6 + 4)),
        ("SU*", S5, (0 + 4) / (6 + 4)),  # no pair, but all four words
    ],
)
def test_the_examples_of_lins_paper(n, text, share):
    assert values_of(Rouge(n, stem=False), text, S1) == pytest.approx((share, share, share))


@pytest.mark.parametrize(("text", "share"), [("A B C D H I K", 4 / 7), ("A H B K C I D", 2 / 7)])
def test_the_weighted_example_of_lins_paper(text, share):
    # f(k) = k²: √(16/49) = 0.571 for the run and √(4/49) = 0.286 for the four words apart.
    values = values_of(Rouge("W", weight=2), text, "A B C D E F G")
    assert values == pytest.approx((share, share, share))


def test_stems_make_killed_and_kill_one_word():
    assert values_of(Rouge(2), S2, S1) == pytest.approx((1, 1, 1))


def test_recall_and_precision_have_bases_of_their_own():
    # One word of the two in the text, of the four in the reference; f = 2·½·¼ / ¾.
    assert values_of(Rouge(1), "police ran", S1) == pytest.approx((1 / 4, 1 / 2, 1 / 3))


def test_a_word_matches_as_often_as_the_rarer_side_has_it():
    assert values_of(Rouge(1), "the the the", "the the cat")[0] == pytest.approx(2 / 3)


def test_of_several_references_the_one_with_the_best_f_counts():
    # Beside "police" alone recall is 1 but f 0.4; beside S1 recall is 3/4 and f 3/4.
    text = S2
    assert values_of(Rouge(1, stem=False), text, "police") == pytest.approx((1, 1 / 4, 0.4))
    best = values_of(Rouge(1, stem=False), text, "police", "", S1, "none at all")
    assert best == pytest.approx((3 / 4, 3 / 4, 3 / 4))


def test_a_reference_without_the_n_grams_is_undefined_not_zero():
    scores = Rouge(2).score([make_story("some words", "one")])
    assert {score.status for score in scores} == {Status.UNDEFINED}
    assert all("too short for ROUGE-2" in score.note for score in scores)


def test_a_reference_that_has_them_counts_before_one_that_has_not():
    assert values_of(Rouge(2), "x y", "one", "two words") == (0.0, 0.0, 0.0)


def test_a_text_without_the_n_grams_recalls_nothing_and_has_no_precision():
    recall, precision, f = Rouge(2).score([make_story("one", "two words")])
    assert (recall.value, f.value) == (0.0, 0.0)
    assert precision.status is Status.UNDEFINED and math.isnan(precision.value)
    assert precision.note == "the story is too short for ROUGE-2: no precision"
    assert [s.value for s in Rouge(2, compat=True).score([make_story("a", "b c")])] == [0.0] * 3


def test_words_of_other_scripts_count():
    assert values_of(Rouge(1), "Привет мир", "привет дом") == pytest.approx((0.5, 0.5, 0.5))
    assert values_of(Rouge(2), "漢字だ", "漢字") == pytest.approx((1, 1 / 2, 2 / 3))


@pytest.mark.parametrize("n", [0, 5, "l", "S", "1", 1.0, True])
def test_kinds_that_are_not_there_are_refused(n):
    with pytest.raises(SettingError, match="rouge: n="):
        Rouge(n)


@pytest.mark.parametrize("weight", [0.9, 2.1, "1.2"])
def test_weights_out_of_bounds_are_refused(weight):
    with pytest.raises(SettingError, match="rouge: weight="):
        Rouge("W", weight=weight)


# RoViST's ROUGE-L: that of the captioning toolkit.
CAPTIONS = Rouge(stem=False, beta=1.2, references="parts", tokenize="captions")


def test_the_captioning_toolkits_f_leans_to_recall():
    # All three words of the text, three of four of the reference: P = 1, R = 3/4, β² = 1.44.
    recall, precision, f = values_of(CAPTIONS, "The dogs ran!", "The dogs, they ran.")
    assert (recall, precision) == pytest.approx((3 / 4, 1.0))
    assert f == pytest.approx(2.44 * 0.75 / (0.75 + 1.44))
    assert values_of(Rouge(beta=1.2), "the dogs ran", "the dogs they ran")[2] == pytest.approx(f)


def test_the_best_precision_and_the_best_recall_may_come_of_two_references():
    text = "a man rides a horse"
    # Beside the first all five words of a longer text; beside the second all two of its own.
    references = ("a man rides a horse on the beach at noon", "a man")
    recall, precision, f = values_of(CAPTIONS, text, *references)
    assert (recall, precision, f) == pytest.approx((1.0, 1.0, 1.0))
    alone = values_of(Rouge(stem=False, beta=1.2, tokenize="captions"), text, *references)
    assert alone == pytest.approx((0.5, 1.0, 2.44 * 0.5 / (0.5 + 1.44)))


def test_a_reference_without_words_takes_no_part_in_the_best_parts():
    assert values_of(CAPTIONS, "a man", "...", "a man ran")[:2] == pytest.approx((2 / 3, 1.0))
    [*scores] = CAPTIONS.score([make_story("a man", "...")])
    assert {score.status for score in scores} == {Status.UNDEFINED}


def test_a_contraction_is_two_words_of_a_caption():
    assert values_of(CAPTIONS, "He didn't.", "he did go")[:2] == pytest.approx((2 / 3, 2 / 3))


def test_compat_is_the_perl_tool_and_takes_none_of_these():
    for settings in ({"beta": 1.2}, {"references": "parts"}, {"tokenize": "captions"}):
        with pytest.raises(SettingError, match=r"ROUGE-1\.5\.5"):
            Rouge(compat=True, **settings)
