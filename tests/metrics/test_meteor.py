from __future__ import annotations

import ast
import csv
import gzip
import json
import sys
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.core.score import Status
from fabula.metrics import meteor
from fabula.metrics.meteor import EXACT, STEM, SYNONYM, Matcher, Meteor, align, count_chunks
from fakes.assets import need_asset
from fakes.factories import make_story, value_of

STEP = 8  # every eighth of 960 machine stories: 120


@pytest.fixture
def wordnet():
    pytest.importorskip("snowballstemmer")
    need_asset("wordnet")


def mean(precision, recall):
    """F with alpha .85 (Denkowski and Lavie, 2014, table 1)."""
    return precision * recall / (0.85 * precision + 0.15 * recall)


def penalty(chunks, matches):
    return 0.6 * (chunks / matches) ** 0.2


# A content word weighs .75, a function word .25. Words by WordNet 3.0 and Snowball: generously and
# generous share a stem and no synset, car and automobile a synset.
BY_HAND = [
    # "the cat" is one chunk of two; .25 + .75 of .25 + .75 + .75 on both sides.
    ("the cat slept", "the cat barked", (1 - penalty(1, 2)) * mean(1 / 1.75, 1 / 1.75)),
    # Recall counts more: all of the text, but half of the reference, and the other way round.
    ("cat", "cat barked", (1 - penalty(1, 1)) * mean(1, 1 / 2)),
    ("cat barked", "cat", (1 - penalty(1, 1)) * mean(1 / 2, 1)),
    # Both words in two chunks.
    ("river stone", "stone river", 1 - penalty(2, 2)),
    # A stem counts .6: .75 + .6 · .75 of 3 · .75 and of 2 · .75.
    ("dragon generously slept", "dragon generous", (1 - penalty(1, 2)) * mean(1.6 / 3, 1.6 / 2)),
    # A synonym counts .8: .25 + .8 · .75 + .75 = 1.6 of 2.5 and of 1.75.
    (
        "the car stopped quietly",
        "the automobile stopped",
        (1 - penalty(1, 3)) * mean(1.6 / 2.5, 1.6 / 1.75),
    ),
    # A function word alone: .25 of 1.
    ("the river", "the stone", (1 - penalty(1, 1)) * mean(1 / 4, 1 / 4)),
    # Marks are function words: .75 + .25 in two chunks, of .75 + .25 and of .75 + .75 + .25.
    ("cat.", "cat slept.", (1 - penalty(2, 2)) * mean(1, 1 / 1.75)),
    # Case does not count, and contractions are parted: do, n't, and a content word.
    ("DON’T river", "don't stone", (1 - penalty(1, 2)) * mean(0.5 / 1.25, 0.5 / 1.25)),
    # The word stands twice in the text and once in the reference: it is matched once.
    ("cat cat", "cat slept", (1 - penalty(1, 1)) * mean(1 / 2, 1 / 2)),
]


@pytest.mark.assets
@pytest.mark.parametrize(("text", "reference", "value"), BY_HAND)
def test_an_example_by_hand(wordnet, text, reference, value):
    assert value_of(Meteor(), text, reference) == pytest.approx(value, rel=1e-12)


@pytest.mark.assets
@pytest.mark.parametrize("text", ["cat", "The cat slept.", "Once upon a time, a dragon slept."])
def test_a_text_beside_itself_has_one(wordnet, text):
    assert value_of(Meteor(), text, text) == 1.0


@pytest.mark.assets
@pytest.mark.parametrize(
    ("text", "reference", "value"),
    [
        ("generously", "generous", 0.6),
        ("the car", "the automobile", 0.25 + 0.8 * 0.75),
    ],
)
def test_one_chunk_of_all_words_has_no_penalty_but_its_weights(wordnet, text, reference, value):
    # As in METEOR 1.5: fragmentation is 0 when both texts are matched whole and in one chunk.
    assert value_of(Meteor(), text, reference) == pytest.approx(value, rel=1e-12)


@pytest.mark.assets
def test_nothing_in_common_is_zero(wordnet):
    [score] = Meteor().score([make_story("a river flows", "some candle")])
    assert (score.value, score.ok) == (0.0, True)


@pytest.mark.assets
def test_the_best_of_several_references_counts(wordnet):
    text = "the cat slept"
    alone = [value_of(Meteor(), text, one) for one in ("a river", "the cat barked")]
    assert value_of(Meteor(), text, "a river", " ", "the cat barked") == max(alone) > min(alone)


@pytest.mark.assets
def test_compat_gives_the_same_numbers(wordnet):
    text, reference = "the car stopped quietly", "the automobile stopped"
    assert value_of(Meteor(compat=True), text, reference) == value_of(Meteor(), text, reference)


def nothing(word):
    """No synonyms."""
    return set()


def test_the_aligner_goes_on_with_the_chunk_at_hand():
    # From "a" at 3 the longest chunk begins, though the "a" at 0 is nearer.
    text, reference = "a b c".split(), "a x y a b c".split()
    found = align(text, Matcher(reference, str, nothing))
    assert found == [(0, 3, EXACT), (1, 4, EXACT), (2, 5, EXACT)]
    assert count_chunks(found) == 1


def test_the_aligner_takes_an_exact_match_before_others():
    text, reference = ["cats"], ["cat", "cats"]
    matcher = Matcher(reference, lambda word: word.rstrip("s"), nothing)
    assert align(text, matcher) == [(0, 1, EXACT)]


def test_the_aligner_goes_on_with_a_chunk_by_stem_and_leaves_what_is_used():
    text, reference = "the cats sat the".split(), "the cat sat".split()
    matcher = Matcher(reference, lambda word: word.rstrip("s"), nothing)
    assert align(text, matcher) == [(0, 0, EXACT), (1, 1, STEM), (2, 2, EXACT)]


def test_the_aligner_takes_the_nearest_of_equal_places():
    reference = "a x x x a x x x x a".split()
    assert align(["q", "q", "q", "a"], Matcher(reference, str, nothing)) == [(3, 4, EXACT)]


@given(
    st.lists(st.sampled_from("abcd"), max_size=12), st.lists(st.sampled_from("abcd"), max_size=12)
)
def test_the_aligner_matches_as_many_words_as_both_texts_have(text, reference):
    found = align(text, Matcher(reference, str, nothing))
    assert len(found) == (Counter(text) & Counter(reference)).total()
    assert len({place for _, place, _ in found}) == len(found)
    assert all(text[here] == reference[place] for here, place, _ in found)


def test_matches_say_which_matcher_found_them():
    matcher = Matcher(
        ["dogs", "auto", "hut"],
        lambda word: word.rstrip("s"),
        lambda word: {"auto", "machine"} if word == "car" else set(),
    )
    assert align(["hut", "car", "sky", "dog"], matcher) == [
        (0, 2, EXACT),
        (1, 1, SYNONYM),
        (3, 0, STEM),
    ]


@pytest.mark.parametrize(
    ("places", "chunks"),
    [
        ([], 0),
        ([(0, 0)], 1),
        ([(0, 0), (1, 1), (2, 2)], 1),
        ([(0, 0), (2, 1)], 2),  # not contiguous in the text
        ([(0, 0), (1, 2)], 2),  # not contiguous in the reference
        ([(0, 1), (1, 0)], 2),  # in another order
    ],
)
def test_chunks_are_contiguous_in_both_texts(places, chunks):
    assert count_chunks([(i, j, EXACT) for i, j in places]) == chunks


@pytest.fixture
def without_assets(tmp_path, monkeypatch):
    """A home without assets, and nothing remembered of the real one."""
    pytest.importorskip("snowballstemmer")
    monkeypatch.setenv("FABULA_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("FABULA_ASSETS", raising=False)
    for cached in (meteor._wordnet, meteor._matcher):
        cached.cache_clear()
    yield
    for cached in (meteor._wordnet, meteor._matcher):
        cached.cache_clear()


def test_without_wordnet_a_score_says_how_to_get_it(without_assets):
    [score] = Meteor().score([make_story("the cat", "the dog")])
    assert score.status is Status.MISSING_MODEL
    assert "fabula models pull wordnet" in score.note


def test_all_that_is_missing_is_said_at_once(without_assets, monkeypatch):
    monkeypatch.setattr(meteor, "find_spec", lambda name: None)
    [score] = Meteor().score([make_story("the cat", "the dog")])
    assert "fabula models pull wordnet; and snowballstemmer is not installed; run: " in score.note


@pytest.mark.assets
def test_values_agree_with_the_published_column_of_hanna(wordnet, shared):
    csv.field_size_limit(sys.maxsize)
    folder = shared / "data" / "hanna"
    with gzip.open(folder / "hanna_stories.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [row for row in map(json.loads, file) if row["model"] != "Human"][::STEP]
    with gzip.open(folder / "hanna_metric_scores_llm.csv.gz", "rt", encoding="utf-8") as file:
        table = {row["Model"]: row for row in csv.DictReader(file)}
    [column] = [name for name in next(iter(table.values())) if name.startswith("METEOR")]
    published = {model: ast.literal_eval(row[column]) for model, row in table.items()}
    expected = [published[row["model"]][row["prompt_id"]] for row in rows]
    stories = [make_story(row["story"], row["human"], id=str(row["story_id"])) for row in rows]
    found = [score.value for score in Meteor(compat=True).score(stories)]
    assert len(found) == 120
    assert np.corrcoef(found, expected)[0, 1] >= 0.96
    assert np.mean(found) == pytest.approx(np.mean(expected), abs=0.005)


@pytest.mark.assets
@pytest.mark.usefixtures("wordnet")
def test_marks_are_no_tokens_of_a_caption():
    captions = Meteor(tokenize="captions")
    assert value_of(captions, "The river, the stone!", "the river the stone") == 1.0
    assert value_of(Meteor(), "The river, the stone!", "the river the stone") < 1.0
