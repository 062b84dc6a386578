"""Facts about a story's craft, and the human stories that they are compared with."""

from __future__ import annotations

import math

import pytest

from fabula.text.craft.facts import CHECKS, find_facts
from fabula.text.craft.reference import (
    BANDS,
    LEVELS,
    Distribution,
    band_of,
    compare_with_humans,
    describe_share,
    describe_values,
    read_reference,
)

HABIT = (
    "He walked to the gate. He looked at the sky. He listened to the rain. He turned to the house. "
    "He opened the old door. He went up the stairs. He lay down on the bed. "
)
REST = (
    "Morning came with frost on every window, and the kettle was already singing when his sister, "
    "who never slept past five, put the letter beside his plate without a word. Outside a cart "
    "went by. Neither of them touched the bread, though there was honey for once, and after a "
    "while the clock in the hall struck seven as if nothing had happened. Then she laughed. "
)


def test_the_rarest_comes_first_with_its_places_and_a_comparison():
    text = HABIT + REST
    facts = find_facts(text)
    assert [fact.share for fact in facts] == sorted(fact.share for fact in facts)
    openings = next(fact for fact in facts if fact.check == "repeated_openings.sentences")
    assert openings.value == 7
    assert text[slice(*openings.passage)] == HABIT.strip()
    assert [text[start:end] for start, end in openings.spots] == ["He"] * 7
    # Of 386 stories of 75 to 150 words hardly one has a run of seven.
    assert openings.share < 0.01
    assert openings.text == (
        "Seven sentences in a row begin with “He”; fewer than 1 in 200 human stories of this "
        "length have as much."
    )
    assert openings.advice


def test_what_most_stories_do_is_no_fact():
    assert find_facts(REST) == []
    assert {fact.check for fact in find_facts(HABIT + REST, most_usual=1.0)} > {
        fact.check for fact in find_facts(HABIT + REST)
    }


@pytest.mark.parametrize("text", ["", "He ran.", "今日は雨だ。" * 60, "x = [1, 2]\n" * 60])
def test_texts_that_nothing_can_be_said_of_have_no_facts(text):
    assert find_facts(text) == []


def test_quantiles_by_hand():
    known = describe_values([float(number) for number in range(201)])
    assert known.count == 201
    assert known.quantiles[LEVELS.index(0.5)] == 100.0
    # Between two levels shares are drawn as a line: 191 of the 200 steps lie below.
    assert known.share_below(191.0) == pytest.approx(0.955, abs=0.005)
    assert known.share_above(191.0) == pytest.approx(0.045, abs=0.005)
    assert (known.share_below(-1.0), known.share_below(500.0)) == (0.0, 1.0)
    assert (known.share_above(-1.0), known.share_above(500.0)) == (1.0, 0.0)


def test_ties_are_never_called_rarer_than_they_are():
    # Nine of ten have 1, one of ten has 2.
    known = describe_values([1.0] * 90 + [2.0] * 10)
    assert known.share_below(1.0) == 0.0
    assert known.share_below(2.0) <= 0.9
    assert 1 - known.share_below(2.0) > 0.0999
    assert known.share_above(1.0) <= 0.1001
    assert known.share_above(2.0) == 0.0


@pytest.mark.parametrize(
    ("share", "low", "said"),
    [
        (0.9, False, "most human stories of this length have as much"),
        (0.26, False, "about 1 in 4 human stories of this length has as much"),
        (0.024, False, "about 1 in 40 human stories of this length has as much"),
        (0.05, True, "about 1 in 20 human stories of this length has as little"),
        (0.001, False, "fewer than 1 in 200 human stories of this length have as much"),
    ],
)
def test_a_share_is_written_as_people_say_it(share, low, said):
    assert describe_share(share, low=low) == said


def test_a_story_is_compared_with_those_of_its_length():
    assert [band_of(words) for words in (10, 75, 149, 150, 5000)] == [None, 75, 75, 150, 1000]
    assert compare_with_humans("adverbs", 3.0, 50) is None
    assert compare_with_humans("adverbs", math.nan, 500) is None
    assert compare_with_humans("no_such_check", 3.0, 500) is None
    short, long = (compare_with_humans("adverbs", 3.0, words) for words in (100, 800))
    assert short is not None and long is not None
    # A short story comes to three in a hundred by chance, a long one hardly.
    assert short.share > long.share


def test_every_check_knows_human_stories_of_the_usual_lengths():
    reference = read_reference()
    for check in CHECKS:
        bands = reference[check.name]
        assert {300, 600} <= bands.keys() <= set(BANDS)
        for known in bands.values():
            assert known.count >= 100
            assert len(known.quantiles) == len(LEVELS)
            assert list(known.quantiles) == sorted(known.quantiles)


def test_a_distribution_knows_nothing_beyond_its_ends():
    known = Distribution(3, (1.0,) * len(LEVELS))
    assert known.share_below(1.0) == 0.0
    assert known.share_below(1.1) == 1.0
