"""Enough is enough: intervals by hand, and places that are no longer given out."""

from __future__ import annotations

import math

import pytest

from fabula.studio.campaigns.definition import Stop
from fabula.studio.campaigns.stopping import RatedStory, is_settled, measure_intervals
from fakes.open_campaign import make_stories, open_campaign

MEAN = Stop("fluency", half_width=0.5)


def test_a_systems_interval_is_students_over_its_stories():
    rated = [RatedStory("a", str(item), mean) for item, mean in enumerate((1.0, 2.0, 3.0))]
    [interval] = measure_intervals(rated, MEAN)
    # t(.975, 2) = 4.302653, the deviation of 1, 2, 3 is 1.
    assert interval.half_width == pytest.approx(4.302653 / math.sqrt(3), abs=1e-5)
    assert (interval.mean, interval.stories) == (2.0, 3)


def test_a_difference_is_taken_item_by_item():
    stop = Stop("fluency", half_width=0.5, of="difference")
    rated = [
        RatedStory(system, str(item), item + shift)
        for item in range(4) for system, shift in (("a", 0.0), ("b", 1.0))
    ]  # fmt: skip
    [interval] = measure_intervals(rated, stop)
    # However far items are apart, b is 1 above a in each.
    assert (interval.systems, interval.mean, interval.half_width) == (("a", "b"), -1.0, 0.0)
    assert is_settled([interval], stop)


def test_too_few_stories_settle_nothing():
    [interval] = measure_intervals([RatedStory("a", "1", 3.0)], MEAN)
    assert math.isnan(interval.half_width) and not is_settled([interval], MEAN)
    assert not is_settled([], MEAN)


def test_once_all_is_narrow_enough_no_task_goes_beyond_the_least_and_none_stays_below(studio):
    stop = Stop("fluency", half_width=0.5, least_raters=2)
    opened = open_campaign(studio, make_stories(4, 2), raters=4, stop=stop)
    for _ in range(4):
        opened.enter().rate_all(3)
    assert sorted(opened.count_accepted().values()) == [2] * 8


def test_while_one_interval_is_wide_all_places_are_given(studio):
    stop = Stop("fluency", half_width=0.01, least_raters=2)
    opened = open_campaign(studio, make_stories(4, 2), raters=3, stop=stop)
    for _ in range(3):
        hand = opened.enter()
        while held := hand.take().assignment:
            hand.submit(held, 4 if "Story 1" in held.stories[0].text else 2)
    assert sorted(opened.count_accepted().values()) == [3] * 8
