"""BLEU on the words of the captioning toolkit, as RoViST's baselines have it."""

from __future__ import annotations

import math

import pytest
import sacrebleu

from fabula.core.score import Status
from fabula.metrics.bleu import Bleu
from fakes.factories import make_story, value_of


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_a_value_is_sacrebleus_on_tokens_parted_by_hand(order):
    text, tokens = "The man didn't stop, did he?", "the man did n't stop did he"
    references = ["A man did not stop!", "The man's dog didn't."]
    others = ["a man did not stop", "the man 's dog did n't"]
    scorer = sacrebleu.BLEU(max_ngram_order=order, tokenize="none", effective_order=True)
    expected = scorer.sentence_score(tokens, others).score
    assert value_of(Bleu(order, "captions"), text, *references) == pytest.approx(expected)


def test_punctuation_and_case_do_not_count():
    assert value_of(Bleu(tokenize="captions"), "The cat, it sat!", "the cat it sat") == 100.0
    assert value_of(Bleu(), "The cat, it sat!", "the cat it sat") < 50


def test_an_example_by_hand():
    # Words: a man rode a horse, of which a, man, a, horse are in "a man on a horse"; lengths equal.
    value = value_of(Bleu(1, "captions"), "A man rode a horse.", "A man on a horse")
    assert value == pytest.approx(100 * 4 / 5)
    # The nearest length counts: two words beside three of the nearest reference.
    value = value_of(Bleu(1, "captions"), "A man!", "A man rides", "A man rides a black horse")
    assert value == pytest.approx(100 * math.exp(1 - 3 / 2))


def test_a_reference_of_marks_alone_is_undefined_not_zero():
    [score] = Bleu(tokenize="captions").score([make_story("a man", "...")])
    assert score.status is Status.UNDEFINED
    assert "reference has no tokens" in score.note


def test_a_story_of_marks_alone_is_undefined_not_zero():
    [score] = Bleu(tokenize="captions").score([make_story("?!", "a man")])
    assert score.status is Status.UNDEFINED
    assert "story has no tokens" in score.note


def test_a_reference_without_words_beside_one_with_words_does_no_harm():
    alone = value_of(Bleu(tokenize="captions"), "a man rides", "a man rode")
    assert value_of(Bleu(tokenize="captions"), "a man rides", "a man rode", "...") == alone


def test_the_signature_names_the_tokeniser():
    assert "tok:captions" in Bleu(tokenize="captions").signature()
