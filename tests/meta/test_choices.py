"""How far metrics choose between two stories as people do, counted by hand."""

from __future__ import annotations

import math

import pytest

from fabula.core.dataset import Dataset, DatasetCard, Preference, ScorerCard
from fabula.core.score import Score, Status
from fabula.core.story import Story
from fabula.core.table import ScoreTable
from fabula.meta.results import CHOICE_FIGURES, MetricResult
from fabula.meta.study import Study
from fabula.reports.correlations import render_correlations

# Better first: won by .4, lost by .2, tied, won by .6.
VALUES = {"a": 0.9, "b": 0.5, "c": 0.3, "d": 0.5, "e": 0.1, "f": 0.7}
PAIRS = [("a", "b"), ("c", "d"), ("b", "d"), ("f", "e")]
ITEMS = {"a": "1", "b": "1", "c": "2", "d": "2", "e": "3", "f": "3"}


def make_set(values: dict[str, float], *, direction: str = "higher") -> Dataset:
    stories = tuple(Story(name, f"Story {name}.", item=ITEMS[name]) for name in VALUES)
    scores = [
        Score(name, "mine", "", value)
        if not math.isnan(value)
        else Score(name, "mine", "", status=Status.UNDEFINED, coverage=0.0, note="none")
        for name, value in values.items()
    ]
    return Dataset(
        "pairs",
        DatasetCard("Pairs", "", ""),
        stories,
        scores=ScoreTable(stories, scores),
        scorers={"mine": ScorerCard("other", direction)},  # type: ignore[arg-type]
        preferences=tuple(Preference(*pair) for pair in PAIRS),
    )


def figures(dataset: Dataset) -> dict[str, MetricResult]:
    result = Study(resamples=100).run(dataset)
    return {line.coefficient: line for line in result.correlations}


def test_a_tie_is_half_right_or_strictly_wrong_and_no_distance() -> None:
    found = figures(make_set(VALUES))
    assert tuple(found) == CHOICE_FIGURES
    assert found["accuracy"].estimate.value == pytest.approx(2.5 / 4)
    assert found["strict_accuracy"].estimate.value == pytest.approx(2 / 4)
    assert found["distance"].estimate.value == pytest.approx((0.4 - 0.2 + 0 + 0.6) / 4)
    # Deviation of the six values around their mean of .5: squares .16, 0, .04, 0, .16, .04.
    deviation = math.sqrt(0.4 / 6)
    assert found["distance_sd"].estimate.value == pytest.approx(0.2 / deviation)
    assert {line.estimate.n for line in found.values()} == {4}


def test_a_metric_for_which_lower_is_better_is_turned() -> None:
    found = figures(make_set(VALUES, direction="lower"))
    assert found["strict_accuracy"].estimate.value == pytest.approx(1 / 4)
    assert found["distance"].estimate.value == pytest.approx(-0.2)


def test_a_pair_without_a_value_is_left_out_and_counted() -> None:
    found = figures(make_set(VALUES | {"e": math.nan}))
    assert found["distance"].estimate.value == pytest.approx(0.2 / 3)
    assert (found["accuracy"].estimate.n, found["accuracy"].estimate.undefined) == (3, 1)


def test_a_constant_metric_has_no_distance_in_deviations_and_is_half_right() -> None:
    found = figures(make_set(dict.fromkeys(VALUES, 0.5)))
    assert found["accuracy"].estimate.value == 0.5 and found["distance"].estimate.value == 0
    assert found["strict_accuracy"].estimate.value == 0
    assert math.isnan(found["distance_sd"].estimate.value)


def test_the_table_has_all_figures_in_a_row_and_says_what_they_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    text = render_correlations("table", Study(resamples=100).run(make_set(VALUES)), [])
    [row] = [line for line in text.splitlines() if line.startswith(" mine")]
    assert ".62" in row and ".50" in row and "0.2000" in row and row.rstrip().endswith("4")
    assert "chance is .50" in text and "Distance" in text
