from __future__ import annotations

import random

import pytest
import sacrebleu
from hypothesis import given
from hypothesis import strategies as st

from fabula.core.errors import SettingError
from fabula.core.score import Status
from fabula.core.story import Story
from fabula.metrics import self_bleu
from fabula.metrics.self_bleu import SelfBleu
from fabula.scoring.evaluate import evaluate
from fakes.factories import usual_text

words = st.lists(st.sampled_from("the cat sat on a mat , . The cat!".split()), min_size=1)


def made(texts, system="a"):
    return [Story(f"{system}{i}", text, system=system) for i, text in enumerate(texts)]


def direct(texts, order=4):
    """Sentence BLEU of sacrebleu 2.6 with all other texts as references."""
    scorer = sacrebleu.BLEU(max_ngram_order=order, effective_order=True)
    return [
        min(scorer.sentence_score(text, [*texts[:i], *texts[i + 1 :]]).score, 100.0)
        for i, text in enumerate(texts)
    ]


def values(metric, stories):
    return [score.value for score in metric.score(stories)]


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_a_value_is_sacrebleus_with_the_other_stories_as_references(order):
    texts = [usual_text(100 + 37 * (seed % 5), seed) for seed in range(12)]
    found = values(SelfBleu(order), made(texts))
    assert found == pytest.approx(direct(texts, order), rel=1e-9)
    assert min(found) > 0


@given(st.lists(words.map(" ".join), min_size=2, max_size=6))
def test_small_batches_with_many_ties_have_sacrebleus_values(texts):
    # Few words, so that several stories hold the highest count of an n-gram, and equal lengths.
    assert values(SelfBleu(), made(texts)) == pytest.approx(direct(texts), rel=1e-9)


def test_two_stories_that_tie_for_the_highest_count_lend_it_to_each_other():
    # "a" twice in both: all of each story is in the other.
    assert values(SelfBleu(1), made(["a a", "a a", "b"]))[:2] == pytest.approx([100, 100])


def test_the_holder_of_the_highest_count_has_the_second_highest_of_the_others():
    # Three a against at most one elsewhere: 1 of 3; the nearest other length is 1, no penalty.
    # From "a" both of its others have an a: 1 of 1, but the nearest of 3 and 1 is 1.
    assert values(SelfBleu(1), made(["a a a", "a", "a"])) == pytest.approx([100 / 3, 100, 100])


def test_the_nearest_length_decides_on_the_penalty():
    # Lengths 2, 3 and 5 of the others: for 4 tokens 3 and 5 are equally near, the shorter counts.
    texts = ["a b c d", "a b", "a b c", "a b c d e"]
    found = values(SelfBleu(), made(texts))
    assert found == pytest.approx(direct(texts), rel=1e-9)
    assert found[0] == pytest.approx(100)


@pytest.mark.parametrize("texts", [["a b", "a c"], ["a", "a"], ["a", "b c d"]])
def test_systems_whose_stories_are_all_too_short_for_four_grams_have_values(texts):
    assert values(SelfBleu(), made(texts)) == pytest.approx(direct(texts), rel=1e-9)


def test_the_same_story_again_and_again_has_a_hundred():
    assert values(SelfBleu(), made(["Once upon a time."] * 3)) == pytest.approx([100] * 3)


def test_stories_without_a_word_in_common_are_near_zero():
    found = values(SelfBleu(), made(["a b c d e", "f g h i j", "k l m n o"]))
    assert all(value < 10 for value in found)


def test_systems_are_not_compared_with_one_another():
    ours = [usual_text(150, seed) for seed in range(4)]
    theirs = [usual_text(150, seed) for seed in range(10, 15)]
    stories = made(ours, "a") + made(theirs, "b")
    random.Random(1).shuffle(stories)
    found = dict(zip([s.id for s in stories], values(SelfBleu(), stories), strict=True))
    expected = direct(ours) + direct(theirs)
    ids = [s.id for s in made(ours, "a") + made(theirs, "b")]
    assert [found[id] for id in ids] == pytest.approx(expected, rel=1e-9)


def test_one_story_is_undefined_not_zero():
    stories = [*made(["a b c"], "a"), *made(["a b", "a c"], "b"), Story("e", " ", system="a")]
    scores = SelfBleu().score(stories)
    assert scores[0].status is Status.UNDEFINED
    assert "no other story" in scores[0].note
    assert scores[1].ok and scores[2].ok
    assert scores[3].status is Status.EMPTY_TEXT


def test_a_story_without_tokens_is_undefined():
    [odd, fine, _] = SelfBleu().score(made(["<skipped>", "a b", "a c"]))
    assert odd.status is Status.UNDEFINED
    assert odd.note
    assert fine.ok


@pytest.mark.parametrize("heap", [50, 2_000_000])
def test_chunks_of_the_engine_give_the_same(monkeypatch, heap):
    # With a heap of 50 kinds the counts are sorted in many times, as with a million stories.
    texts = [usual_text(60 + seed % 7, seed) for seed in range(70)]
    expected = direct(texts)
    monkeypatch.setattr(self_bleu, "_HEAP", heap)
    found = [score.value for score in evaluate(made(texts), "self_bleu")]
    assert found == pytest.approx(expected, rel=1e-9)
    assert found == values(SelfBleu(), made(texts))


@pytest.mark.parametrize("order", [0, 5, "4"])
def test_orders_that_are_not_there_are_refused(order):
    with pytest.raises(SettingError, match="self_bleu: order="):
        SelfBleu(order)
