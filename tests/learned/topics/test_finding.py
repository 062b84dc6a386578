from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from fabula.core.errors import InputError, SettingError
from fabula.learned.topics.corpus import Corpus, WordRules, gather_words
from fabula.learned.topics.dictionary import TopicRecipe
from fabula.learned.topics.finding import (
    embed_passages,
    find_dictionary,
    find_lda,
    name_by_passages,
)
from fabula.learned.topics.passages import Passage, split_stories
from fabula.models.word_vectors import VectorTable, first_places
from fakes.planted_topics import THEMES, plant_stories, plant_vectors

RULES = WordRules(lemmas=False)
RECIPE = TopicRecipe(topics=4, rows=40)
PLANTED = {frozenset(theme.split()) for theme in THEMES}


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return gather_words(split_stories(plant_stories()), RULES)


@pytest.fixture(scope="module")
def vectors() -> VectorTable:
    known = plant_vectors()
    return VectorTable("planted", first_places(list(known)), np.array(list(known.values())))


@pytest.mark.parametrize("naming", ["passages", "cosine", "softmax"])
def test_planted_themes_are_found_whatever_names_them(corpus, vectors, naming):
    found = find_dictionary(*embed_passages(corpus, vectors), recipe=RECIPE, naming=naming)
    named = {frozenset(words[:8]) for words in found.run.words}
    assert named == PLANTED
    assert found.stability == pytest.approx(1, abs=0.35)
    assert found.run.shares == pytest.approx((0.25,) * 4)
    assert found.empty == 0


def test_all_passages_of_a_theme_have_its_topic(corpus, vectors):
    kept, means, rows = embed_passages(corpus, vectors)
    run = find_dictionary(kept, means, rows, recipe=RECIPE, runs=1).run
    by_theme = {passage.id[-1]: set() for passage in kept.passages}
    for passage, topic in zip(kept.passages, run.assigned.tolist(), strict=True):
        by_theme[passage.id[-1]].add(topic)
    assert sorted(map(len, by_theme.values())) == [1, 1, 1, 1]
    assert run.model is not None
    assert (run.model.weigh(means).argmax(axis=1) == run.assigned).all()


def test_topics_come_by_their_share(vectors):
    uneven = [story for story in plant_stories() if story.id[-1] == "2" or story.id[:1] < "2"]
    kept = embed_passages(gather_words(split_stories(uneven), RULES), vectors)
    run = find_dictionary(*kept, recipe=RECIPE, runs=1).run
    assert run.shares == tuple(sorted(run.shares, reverse=True))
    assert set(run.words[0]) <= set(THEMES[2].split())


def test_lda_finds_the_same_themes_by_either_naming(corpus):
    for naming in ("likeliest", "passages"):
        found = find_lda(corpus, 4, runs=2, naming=naming)
        assert {frozenset(words[:8]) for words in found.run.words} == PLANTED
        assert found.mean_coherence.n == 8
        low, high = found.mean_coherence.interval
        assert low <= found.mean_coherence.value <= high


def test_one_run_has_no_stability(corpus, vectors):
    found = find_dictionary(*embed_passages(corpus, vectors), recipe=RECIPE, runs=1)
    assert math.isnan(found.stability)


def test_words_are_those_by_which_a_topics_passages_are_told_from_others():
    texts = ["bad bed bid bod", "bad bed bid", "bad cab cob cub"]
    filler = " ".join(f"{a}{b}ord" for a in "dfghk" for b in "aeiou")
    passages = [Passage(str(n), f"{text} {filler}", str(n)) for n, text in enumerate(texts)]
    corpus = gather_words(passages, WordRules(lemmas=False, least_count=1, least_stories=1))
    words = name_by_passages(corpus, np.array([0, 0, 1]), 3)
    # log(1 / (2/3)) for bed and bid; half of log(½ / ⅓) for bod; bad, in all texts, gains nothing.
    assert words[0] == ("bed", "bid", "bod")
    assert words[1] == ("cab", "cob", "cub")
    assert words[2] == ()


def test_passages_of_unknown_words_are_left_out_and_no_known_word_is_an_error(corpus, vectors):
    odd = Corpus(corpus.passages, corpus.vocabulary, corpus.counts.tolil(), corpus.named)
    odd.counts[0, :] = 0
    kept, means, _ = embed_passages(replace(odd, counts=odd.counts.tocsr()), vectors)
    assert (len(kept.passages), kept.left_out) == (159, 1)
    assert np.isfinite(means).all()
    empty = VectorTable("none", {}, np.zeros((0, 3)))
    with pytest.raises(InputError, match="no word of the stories has a vector"):
        embed_passages(corpus, empty)


def test_an_unknown_naming_is_refused(corpus, vectors):
    with pytest.raises(SettingError, match="none of passages, cosine, softmax"):
        find_dictionary(*embed_passages(corpus, vectors), recipe=RECIPE, naming="likeliest")
