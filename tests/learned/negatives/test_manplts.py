"""Keywords of a text repeated, replaced and turned, after MANPLTS."""

from __future__ import annotations

import random

import pytest

from fabula.learned.negatives import manplts
from fabula.learned.negatives.manplts import Rewriter, manipulate
from fakes.small_stories import ANTONYMS, BAKER, CORPUS

SEEDS = range(200)


def rewriter(seed: int) -> Rewriter:
    return Rewriter(CORPUS, random.Random(seed), ANTONYMS)


@pytest.mark.parametrize("way", ["repeat", "substitute", "contradict"])
def test_rewriting_changes_a_text_but_for_its_first_sentence(way):
    changed = [getattr(rewriter(seed), way)(list(BAKER)) for seed in SEEDS]
    told = [story for story in changed if story is not None]
    assert len(told) > 150
    for story in told:
        assert story[0] == BAKER[0] and story != list(BAKER)
        assert len(story) == 5


def test_a_contradiction_puts_an_antonym_in_a_words_place():
    told = {sentence for seed in SEEDS for sentence in rewriter(seed).contradict(list(BAKER))}
    assert told - set(BAKER) == {
        "Her oven was hot and would not light.",
        "A kind neighbour closed his warm kitchen.",
    }


def test_a_repeated_keyword_takes_the_place_of_one_of_its_tag():
    words = [word.strip(".").lower() for sentence in BAKER for word in sentence.split()]
    for seed in SEEDS:
        story = rewriter(seed).repeat(list(BAKER))
        new = [word.strip(".").lower() for sentence in story for word in sentence.split()]
        assert set(new) <= {*words, "an"}


def test_a_share_of_the_sentences_is_substituted(monkeypatch):
    monkeypatch.setattr(manplts, "SUBSTITUTED", 0.5)
    story = rewriter(1).substitute(list(BAKER))
    assert sum(new != old for new, old in zip(story, BAKER, strict=True)) == 2


@pytest.mark.parametrize("story", [(), ("Alone.",), ("First.", "今日は雨。")])
def test_a_text_that_does_not_admit_of_a_way_gives_none(story):
    for way in ("repeat", "substitute", "contradict"):
        assert getattr(rewriter(1), way)(list(story)) is None
    assert Rewriter(CORPUS, random.Random(1)).contradict(list(BAKER)) is None


def test_a_story_is_manipulated_in_several_ways_and_its_first_sentence_stays():
    ways = set()
    for seed in range(40):
        negative = manipulate(BAKER, others=CORPUS, seed=seed, antonyms=ANTONYMS)
        assert negative == manipulate(BAKER, others=CORPUS, seed=seed, antonyms=ANTONYMS)
        assert negative.changed and negative.sentences != tuple(BAKER)
        assert negative.sentences[0] == BAKER[0]
        assert len(negative.techniques) >= 2
        ways |= {frozenset(negative.techniques)}
    assert {"repeat", "substitute", "contradict"} in ways
    assert any(len(one) == 2 for one in ways)


def test_a_way_that_a_story_does_not_admit_of_is_named():
    negative = manipulate(BAKER, others=CORPUS, seed=1)
    assert "contradict" not in negative.techniques
    nothing = manipulate(BAKER[:1], others=CORPUS, seed=1, antonyms=ANTONYMS)
    assert not nothing.changed
    assert {*nothing.impossible} == {"repeat", "substitute", "contradict"}
