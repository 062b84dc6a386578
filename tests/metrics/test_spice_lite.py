"""SPICE's idea on a small parser: tuples, matches and F of captions made up here."""

from __future__ import annotations

import math

import pytest

from fabula.core.score import Status
from fabula.metrics import spice_lite
from fabula.metrics.spice_lite import SpiceLite, share_matched
from fakes.assets import need_asset
from fakes.factories import make_story, values_of


@pytest.fixture
def parser():
    pytest.importorskip("spacy")
    need_asset("spacy_small")
    need_asset("wordnet")


# Words that share a number mean the same.
MEANINGS = {"bike": {1}, "bicycle": {1, 2}, "cycle": {2}, "ride": {3}, "drive": {3}}


def meanings(word):
    return frozenset(MEANINGS.get(word, ()))


def test_tuples_match_word_by_word_or_by_a_common_meaning():
    mine = [("bike",), ("bike", "old"), ("man", "ride", "bike"), ("man",)]
    theirs = [("bicycle",), ("bicycle", "new"), ("man", "drive", "bicycle")]
    assert share_matched(mine, theirs) == 0.0
    # The things and the ride match; old is not new, and there is no man by himself.
    assert share_matched(mine, theirs, meanings) == 2 / 4
    assert share_matched(theirs, mine, meanings) == 2 / 3


def test_sharing_a_meaning_is_not_handed_on():
    assert share_matched([("bike",)], [("cycle",)], meanings) == 0.0
    assert share_matched([("bike",)], [("bike", "old")], meanings) == 0.0


@pytest.mark.assets
@pytest.mark.usefixtures("parser")
class TestWithTheParser:
    """Values that come of a real parse."""

    def test_a_value_by_hand(self):
        # (dog) (dog, brown) (dog, sleep) (dog, on, sofa) (sofa) beside
        # (dog) (dog, black) (dog, sleep) (dog, on, bed) (bed): two of five.
        values = values_of(
            SpiceLite(synonyms=False),
            "A brown dog sleeps on the sofa.",
            "The black dog sleeps on a bed.",
        )
        assert values == pytest.approx((2 / 5, 2 / 5, 2 / 5))

    def test_references_are_one_set(self):
        # With (sofa), (dog, on, sofa) and (dog, brown) of the second, 4 of 5 are met, of 7.
        values = values_of(
            SpiceLite(synonyms=False),
            "A brown dog sleeps on the sofa.",
            "The black dog sleeps on a bed.",
            "A dog sits on the sofa.",
        )
        # References: dog, bed, sofa; (dog, black), (dog, sleep), (dog, sit); on bed, on sofa.
        assert values == pytest.approx((4 / 8, 4 / 5, 2 * 0.5 * 0.8 / 1.3))

    def test_synonyms_match_by_wordnet(self):
        text, reference = "A man repairs the car.", "A man fixes the automobile."
        assert values_of(SpiceLite(), text, reference) == pytest.approx((1.0, 1.0, 1.0))
        # (man) alone of three.
        alone = values_of(SpiceLite(synonyms=False), text, reference)
        assert alone == pytest.approx((1 / 3, 1 / 3, 1 / 3))

    def test_objects_attributes_and_relations_can_be_had_alone(self):
        text, reference = "An old man holds a red cup.", "An old man holds a small cup."
        assert values_of(SpiceLite(kinds="objects"), text, reference)[2] == 1.0
        assert values_of(SpiceLite(kinds="attributes"), text, reference)[2] == 0.5
        assert values_of(SpiceLite(kinds="relations"), text, reference)[2] == 1.0

    def test_who_does_what_to_whom_counts(self):
        value = values_of(
            SpiceLite(kinds="relations"), "The dog bites the man.", "The man bites the dog."
        )
        assert value == (0.0, 0.0, 0.0)
        passive = values_of(
            SpiceLite(kinds="relations"), "The man is bitten by the dog.", "The dog bites the man."
        )
        assert passive == (1.0, 1.0, 1.0)

    def test_a_text_without_things_is_typed(self):
        [*scores] = SpiceLite().score([make_story("A dog ran.", "It was so.")])
        assert {score.status for score in scores} == {Status.UNDEFINED}
        assert "no tuple was found in the references" in scores[0].note
        recall, precision, f = values_of(SpiceLite(), "It was so.", "A dog ran.")
        assert (recall, f) == (0.0, 0.0)
        assert math.isnan(precision)

    def test_a_long_story_says_so(self):
        [*scores] = SpiceLite().score([make_story("A dog ran. " * 6_000, "A dog ran.")])
        assert {score.status for score in scores} == {Status.TOO_LONG}


def test_what_is_lacking_is_named(monkeypatch, tmp_path):
    pytest.importorskip("spacy")
    monkeypatch.setenv("FABULA_HOME", str(tmp_path))
    monkeypatch.delenv("FABULA_ASSETS", raising=False)
    [score, *_] = SpiceLite().score([make_story("A dog ran.", "A dog ran.")])
    assert score.status is Status.MISSING_MODEL
    assert "models pull spacy_small" in score.note
    assert "models pull wordnet" in score.note
    [score, *_] = SpiceLite(synonyms=False).score([make_story("A dog ran.", "A dog ran.")])
    assert "wordnet" not in score.note
    assert spice_lite.SpiceLite.card.title != "SPICE"
