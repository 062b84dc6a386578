from __future__ import annotations

import random

import pytest

from fabula.core.errors import InputError
from fabula.learned.negatives.corpus import Bag, Corpus, tag_word, write_words
from fakes.small_stories import CORPUS


@pytest.mark.parametrize(
    ("word", "written"),
    [("old", "an old"), ("cat", "a cat"), ("hour", "an hour"), ("unit", "a unit"),
     ("unhappy", "an unhappy"), ("one", "a one"), ("onion", "an onion"), ("user", "a user")],
)  # fmt: skip
def test_an_article_fits_the_word_after_it(word, written):
    assert write_words("He saw a dog.", {(9, 12): word}) == f"He saw {written}."
    assert write_words("An egg", {(3, 6): word}) == written[:1].upper() + written[1:]


def test_a_corpus_knows_words_by_tag_and_not_by_the_capital_of_a_beginning():
    assert CORPUS.tags["boat"] == "NN" and CORPUS.counts["boat"] == 3
    assert CORPUS.tags["June"] == "NNP"
    assert "Her" not in CORPUS.tags and "the" not in CORPUS.tags
    (first, *_) = CORPUS.content_words("Boat people.")
    assert (first.written, first.known, first.tag) == ("Boat", "boat", "NN")
    assert CORPUS.word_like(first, random.Random(1))[0].isupper()
    with pytest.raises(InputError):
        Corpus.of([])


def test_words_are_drawn_by_frequency():
    bag = Bag.of([("rare", 1), ("frequent", 9)])
    rng = random.Random(0)
    assert sum(bag.draw(rng) == "rare" for _ in range(5000)) / 5000 == pytest.approx(0.1, abs=0.02)


@pytest.mark.parametrize(
    "pair",
    "walked:VBD went:VBD running:VBG king:NN quickly:RB dogs:NNS glass:NN careful:JJ the: "
    "Anna:NNP know:VB takes:VBZ 7: bed:NN".split(),
)
def test_tags_go_by_the_shape_of_a_word(pair):
    word, tag = pair.split(":")
    assert tag_word(word) == tag
