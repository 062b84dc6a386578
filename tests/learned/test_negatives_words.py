from __future__ import annotations

import random

import pytest

from fabula.core.errors import InputError
from fabula.learned.negatives.contrary import contrary, union_contrary
from fabula.learned.negatives.corpus import Corpus
from fabula.learned.negatives.draw import Bag, draw_order
from fabula.learned.negatives.edits import write_words
from fabula.learned.negatives.tags import light_tag, majority_tagger, wordnet_tagger
from learned.small_stories import CORPUS, STORIES


@pytest.mark.parametrize(
    ("word", "written"),
    [("old", "an old"), ("cat", "a cat"), ("hour", "an hour"), ("unit", "a unit"),
     ("unhappy", "an unhappy"), ("one", "a one"), ("onion", "an onion"), ("user", "a user")],
)  # fmt: skip
def test_an_article_fits_the_word_after_it(word, written):
    assert write_words("He saw a dog.", {(9, 12): word}) == f"He saw {written}."
    assert write_words("An egg", {(3, 6): word}) == written[:1].upper() + written[1:]


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("he did n't go .", "he did go ."),
        ("Ca n't you see ?", "Can you see ?"),
        ("they wo n’t come .", "they will come ."),
        ("He was late.", "He was not late."),
        ("Rain and more rain.", None),
    ],
)
def test_a_contrary_can_be_had_of_parted_words_too(sentence, expected):
    assert contrary(sentence) == expected


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("he did n't go .", {"he did go ."}),
        ("You can't stay.", {"You can stay."}),
        ("There was no room .", {"There was room ."}),
        ("he had a cat .", {"he had not a cat .", "he had n't a cat ."}),
        ("anna walked home .", {"anna did not walk home ."}),
        ("they know it .", {"they do not know it ."}),
        ("it takes time .", {"it does not take time ."}),
        ("birds singing loudly .", {"birds not singing loudly ."}),
        ("rain and more rain .", {None}),
    ],
)
def test_unions_own_rules_go_by_the_first_word_that_fits(sentence, expected):
    found = {union_contrary(sentence, random.Random(seed)) for seed in range(20)}
    assert found == expected


def test_a_corpus_knows_words_by_tag_and_not_by_the_capital_of_a_beginning():
    assert CORPUS.tags["boat"] == "NN" and CORPUS.counts["boat"] == 3
    assert CORPUS.tags["June"] == "NNP"
    assert "Her" not in CORPUS.tags and "the" not in CORPUS.tags
    (first, *_) = CORPUS.content_words("Boat people.")
    assert (first.written, first.known, first.tag) == ("Boat", "boat", "NN")
    assert CORPUS.word_like(first, random.Random(1))[0].isupper()
    with pytest.raises(InputError):
        Corpus.of([])


def test_only_concepts_are_replaced_where_there_is_a_list_of_them():
    corpus = Corpus.of(STORIES, concepts={"boat", "lemon"})
    assert set(corpus.tags) == {"boat", "lemon"}


def test_words_are_drawn_by_frequency():
    bag = Bag.of([("rare", 1), ("frequent", 9)])
    rng = random.Random(0)
    assert sum(bag.draw(rng) == "rare" for _ in range(5000)) / 5000 == pytest.approx(0.1, abs=0.02)


def test_draws_without_replacement_leave_out_what_weighs_nothing():
    assert sorted(draw_order(random.Random(0), {"a": 1, "b": 0, "c": 2})) == ["a", "c"]


@pytest.mark.parametrize(
    "pair",
    "walked:VBD went:VBD running:VBG king:NN quickly:RB dogs:NNS glass:NN careful:JJ the: "
    "Anna:NNP know:VB takes:VBZ 7: bed:NN".split(),
)
def test_light_tags_go_by_the_shape_of_a_word(pair):
    word, tag = pair.split(":")
    assert light_tag(word) == tag


def test_wordnets_counts_tell_parts_that_shape_does_not(tmp_path):
    # Sense key, sense number, count; 1 is a noun, 2 a verb, 3 and 5 adjectives.
    lines = ["tall%3:00:00:: 1 9", "cook%2:36:00:: 1 7", "cook%1:18:00:: 1 2", "tire%2:29:00:: 1 1"]
    lines += ["tired%3:00:00:: 1 30"]
    (tmp_path / "cntlist.rev").write_text("\n".join(lines), encoding="utf-8")
    tag = wordnet_tagger(tmp_path)
    found = [tag(one) for one in "tall taller cook cooks cooked tired the Ann spoon".split()]
    assert found == ["JJ", "JJR", "VB", "VBZ", "VBD", "JJ", "", "NNP", "NN"]
    with pytest.raises(InputError, match=r"cntlist\.rev"):
        wordnet_tagger(tmp_path / "none")


def test_tags_of_ones_own_tagger_are_taken_by_majority():
    tag = majority_tagger([("light", "NN"), ("light", "VB"), ("light", "VB"), ("the", "DT")])
    assert [tag("light"), tag("the"), tag("walked")] == ["VB", "", "VBD"]
