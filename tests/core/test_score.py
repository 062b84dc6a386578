from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.core.score import Missing, Reading, Score, Status, Summary

MISSING = [status for status in Status if status is not Status.OK]


@given(st.floats(), st.sampled_from(Status))
def test_a_value_is_there_exactly_when_the_status_is_ok(value, status):
    score = Score("s", "toy", value=value, status=status)
    assert score.ok == math.isfinite(score.value) == (score.status is Status.OK)
    assert score.ok or math.isnan(score.value)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_value_that_is_no_number_is_undefined(value):
    score = Score("s", "toy", value=value)
    assert score.status is Status.UNDEFINED
    assert math.isnan(score.value)


def test_a_score_without_a_value_is_undefined():
    assert Score("s", "toy").status is Status.UNDEFINED


@pytest.mark.parametrize("status", MISSING)
def test_a_missing_score_keeps_its_reason_and_loses_its_value(status):
    score = Score("s", "toy", value=0.5, status=status, note="why")
    assert (score.status, score.note) == (status, "why")
    assert math.isnan(score.value)


def test_a_status_may_be_given_by_its_name():
    assert Score("s", "toy", value=1.0, status="too_long").status is Status.TOO_LONG


def test_a_status_nobody_knows_is_refused():
    with pytest.raises(ValueError, match="sleepy"):
        Score("s", "toy", value=1.0, status="sleepy")


def test_zero_is_a_value():
    assert Score("s", "toy", value=0.0).ok


def test_only_what_a_machine_lacks_may_be_asked_again():
    assert [status for status in Status if not status.lasting] == [
        Status.MISSING_IMAGES,
        Status.MISSING_MODEL,
        Status.FAILED,
    ]


def test_a_missing_reading_has_no_value_for_any_aspect_and_read_nothing():
    reading = Reading.missing(3, Status.TOO_LONG, "limit 7")
    assert len(reading.values) == 3
    assert all(map(math.isnan, reading.values))
    assert (reading.coverage, reading.note) == (0.0, "limit 7")


def test_a_metric_may_raise_a_status_by_its_name():
    assert Missing("undefined", "why").status is Status.UNDEFINED


def test_summaries_of_parts_merge_into_that_of_the_whole():
    import random

    chance = random.Random(1)
    made = [
        ("ab"[n % 2], Score(str(n), "m", "", chance.gauss(5, 2)) if n % 7 else _missing(n))
        for n in range(200)
    ]
    whole, merged = Summary(), Summary()
    for start in (0, 13, 120):
        part = Summary()
        for system, score in made[start : {0: 13, 13: 120, 120: 200}[start]]:
            whole.add(system, score)
            part.add(system, score)
        merged.merge(part)
    for one, other in zip(whole.rows(), merged.rows(), strict=True):
        for name in ("mean", "deviation"):
            assert one.pop(name) == pytest.approx(other.pop(name), rel=1e-12)
        assert one == other
    assert merged.notes == whole.notes


def _missing(number: int) -> Score:
    return Score(str(number), "m", status=Status.UNDEFINED, note=f"note {number}")
