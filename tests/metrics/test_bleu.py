from __future__ import annotations

import math

import pytest
import sacrebleu
from hypothesis import given
from hypothesis import strategies as st

from fabula.core.errors import SettingError
from fabula.core.score import Status
from fabula.metrics.bleu import Bleu
from fakes.factories import make_story, value_of

words = st.lists(st.sampled_from("the cat sat on a mat , . and The".split()), min_size=1)
texts = words.map(" ".join)
unicode_texts = st.text(min_size=1).filter(str.strip)


@given(texts | unicode_texts, st.lists(texts | unicode_texts, min_size=1, max_size=3))
def test_a_value_is_sacrebleus_sentence_score(text, references):
    [score] = Bleu().score([make_story(text, *references)])
    if score.ok:
        expected = sacrebleu.sentence_bleu(text, references).score
        assert score.value == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("order", [1, 2, 3, 4])
@pytest.mark.parametrize("tokenize", ["13a", "intl", "zh", "char", "none"])
@pytest.mark.parametrize("lowercase", [False, True])
def test_the_settings_are_sacrebleus(order, tokenize, lowercase):
    text, reference = "The cat sat, happily 漢字.", "A cat SAT on the mat, 漢字 happily."
    expected = sacrebleu.BLEU(
        lowercase=lowercase, tokenize=tokenize, max_ngram_order=order, effective_order=True
    ).sentence_score(text, [reference])
    assert value_of(Bleu(order, tokenize, lowercase), text, reference) == expected.score


def test_the_value_printed_by_summeval(summeval):
    text, reference = summeval["CANDS"][0].lower(), summeval["REFS"][0].lower()
    expected = summeval["bleu_sentence(lower(CANDS[0]),lower(REFS[0]))"]
    assert value_of(Bleu(), text, reference) == pytest.approx(expected, rel=1e-12)


def test_a_short_text_pays_the_penalty():
    # All of "a b" is in the reference: 100 · exp(1 − 4/2), the orders 3 and 4 left out.
    assert value_of(Bleu(), "a b", "a b c d") == pytest.approx(100 * math.exp(-1), rel=1e-12)


def test_the_kth_order_without_a_match_counts_half_as_much_as_the_one_before():
    # 4 of 5 words, 2 of 4 pairs; no triple of 3, no four of 2: 1/(2·3) and 1/(4·2).
    expected = 100 * (4 / 5 * 2 / 4 * 1 / 6 * 1 / 8) ** (1 / 4)
    assert value_of(Bleu(), "a b x c d", "a b c d e") == pytest.approx(expected, rel=1e-12)


def test_a_text_beside_itself_has_a_hundred_and_not_more():
    assert value_of(Bleu(), "the cat sat on the mat", "the cat sat on the mat") == pytest.approx(
        100
    )
    assert value_of(Bleu(), "the cat sat on the mat", "the cat sat on the mat") <= 100.0


def test_references_that_are_blank_do_not_count():
    assert value_of(Bleu(), "a b c", "a b x", " ", "") == value_of(Bleu(), "a b c", "a b x")


def test_a_text_without_tokens_is_undefined_not_zero():
    [score] = Bleu().score([make_story("<skipped>", "a b")])
    assert score.status is Status.UNDEFINED
    assert "story has no tokens" in score.note


@pytest.mark.parametrize("settings", [{"order": 5}, {"order": "4"}, {"tokenize": "flores"}])
def test_settings_sacrebleu_does_not_share_with_us_are_refused(settings):
    with pytest.raises(SettingError, match="bleu:"):
        Bleu(**settings)


def test_the_signature_names_sacrebleus_version():
    assert f"sacrebleu:{sacrebleu.__version__}" in Bleu().signature()
