from __future__ import annotations

import math
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.core.score import Status, Summary, SummaryCell
from fabula.core.table import ScoreTable
from fakes.factories import make_score, make_story

values = st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=50)


def filled(numbers) -> SummaryCell:
    cell = SummaryCell()
    for number in numbers:
        cell.add(make_score(value=number))
    return cell


@given(values)
def test_mean_and_deviation_are_those_of_the_statistics_module(numbers):
    cell = filled(numbers)
    assert cell.mean == pytest.approx(statistics.fmean(numbers), rel=1e-9, abs=1e-6)
    assert cell.deviation == pytest.approx(statistics.stdev(numbers), rel=1e-9, abs=1e-6)


def test_the_deviation_of_large_close_numbers_is_not_lost():
    numbers = [1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16]
    assert filled(numbers).deviation == pytest.approx(statistics.stdev(numbers), rel=1e-12)


def test_nothing_has_no_mean_and_one_value_no_deviation():
    assert math.isnan(SummaryCell().mean)
    assert filled([3.0]).mean == 3.0
    assert math.isnan(filled([3.0]).deviation)


def test_missing_scores_are_left_out_and_counted_by_reason():
    cell = filled([1.0, 3.0])
    for status in (Status.EMPTY_TEXT, Status.TOO_LONG, Status.EMPTY_TEXT):
        cell.add(make_score(status=status, coverage=0.0))
    assert (cell.mean, cell.count) == (2.0, 2)
    assert cell.left_out == {"empty_text": 2, "too_long": 1}
    assert cell.coverage == 1.0


def test_the_least_coverage_is_that_of_the_scores_that_count():
    cell = SummaryCell()
    for coverage in (0.9, 0.4, 1.0):
        cell.add(make_score(value=1.0, coverage=coverage))
    assert cell.coverage == 0.4


def test_a_summary_parts_scorers_aspects_and_systems():
    summary = Summary()
    summary.add("B", make_score(value=1.0))
    summary.add("A", make_score(value=2.0, aspect="f"))
    summary.add(None, make_score(status=Status.FAILED))
    summary.add(None, make_score(status=Status.FAILED, aspect="f"))
    assert summary.systems == ["B", "A", ""]
    # Two aspects of one story are one story left out.
    assert summary.left_out() == {("toy", "failed"): 1}
    assert set(summary.cells) == {("toy", ""), ("toy", "f")}


def test_rows_say_none_where_there_is_no_mean():
    stories = [make_story(id=name, system="A") for name in "xyz"]
    scores = [
        make_score("x", "p", 1.0),
        make_score("y", "p", 2.0),
        make_score("z", "p", status=Status.UNDEFINED),
        make_score("x", "q", status=Status.UNDEFINED),
        make_score("y", "q", status=Status.EMPTY_TEXT),
    ]
    first, second = ScoreTable(stories, scores).summary().rows()
    assert first == {
        "scorer": "p",
        "aspect": "",
        "system": "A",
        "mean": 1.5,
        "deviation": pytest.approx(math.sqrt(0.5)),
        "scored": 2,
        "left_out": 1,
        "why": {"undefined": 1},
        "least_coverage": 1.0,
    }
    assert (second["mean"], second["deviation"], second["least_coverage"]) == (None, None, None)
    assert second["why"] == {"empty_text": 1, "undefined": 1}
