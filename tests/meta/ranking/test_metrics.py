from __future__ import annotations

import numpy as np
import pytest

from fabula.core.dataset import Dataset, ScorerCard
from fabula.core.errors import InputError
from fabula.meta.grid import Grid
from fabula.meta.ranking.metrics import MetricRanking, rank_metrics
from fabula.meta.study import Study
from fakes.grids import make_dataset, make_grid

RNG = np.random.default_rng(3)
GOLD = (RNG.integers(1, 6, (12, 5)) + np.arange(5)).astype(float)
NOISE = RNG.normal(size=(12, 5))
CARDS = {
    "good": ScorerCard("string", "higher"),
    "far": ScorerCard("model", "lower"),
    "wrong": ScorerCard("model", "higher"),
    "flat": ScorerCard("string", "higher"),
}
SCORES = {
    "noise": NOISE,
    "good": GOLD + 0.3 * NOISE,
    "far": -GOLD,
    "wrong": -GOLD + 3 * NOISE,
    "flat": np.ones((12, 5)),
}


def ranked(dataset: Dataset, **how: object) -> MetricRanking:
    metrics, gold = Study().grids(dataset)
    return rank_metrics(metrics, gold, cards=dataset.scorers, **how)  # type: ignore[arg-type]


def toy() -> Dataset:
    return make_dataset(SCORES, {"plot": GOLD}, cards=CARDS)


@pytest.mark.parametrize("by", ["borda", "kemeny", "mean"])
def test_metrics_stand_by_the_size_of_their_correlation(by: str) -> None:
    found = ranked(toy(), by=by)
    order = [line.metric for line in found.lines]
    assert order[:2] == ["far", "good"] and order[-1] == "flat"
    assert found.columns == 6 and [line.rank for line in found.lines] == [1, 2, 3, 4, 5]


def test_a_constant_metric_is_undefined_and_last() -> None:
    flat = ranked(toy(), by="mean").lines[-1]
    assert (flat.metric, flat.undefined) == ("flat", 6)
    assert np.isnan(flat.mean) and np.isnan(flat.points)


def test_a_metric_that_goes_against_its_direction_is_marked() -> None:
    marks = {line.metric: line.against for line in ranked(toy()).lines}
    assert marks == {
        "noise": False, "good": False, "far": False, "wrong": True, "flat": False,
    }  # fmt: skip


def test_a_perfect_distance_has_correlation_one_at_both_levels() -> None:
    first = ranked(toy(), by="mean").lines[0]
    assert first.by_level == pytest.approx({"item": 1.0, "system": 1.0})


def test_a_judge_of_the_same_aspects_is_one_metric_held_to_each() -> None:
    plot, style = GOLD, RNG.permutation(GOLD)
    scores = {("judge", "plot"): plot, ("judge", "style"): style, "other": style}
    found = ranked(make_dataset(scores, {"plot": plot, "style": style}), by="mean")
    assert [line.metric for line in found.lines] == ["judge", "other"]
    assert found.lines[0].mean == pytest.approx(1.0) and found.lines[0].undefined == 0


def test_a_judge_of_some_aspects_lacks_the_others() -> None:
    scores = {("judge", "plot"): GOLD, "other": NOISE}
    found = ranked(make_dataset(scores, {"plot": GOLD, "style": NOISE}))
    judge = next(line for line in found.lines if line.metric == "judge")
    assert judge.undefined == found.columns / 2


def test_kemeny_says_which_places_are_possible() -> None:
    twins = {"one": GOLD, "two": GOLD, "noise": NOISE}
    found = ranked(make_dataset(twins, {"plot": GOLD}), by="kemeny")
    assert found.optimum is not None and found.optimum.solutions == 2
    assert [(line.first, line.last) for line in found.lines] == [(1, 2), (1, 2), (3, 3)]


def test_nothing_to_rank_is_for_the_user_to_mend() -> None:
    grid = make_grid(np.zeros((1, 2, 2)))
    with pytest.raises(InputError, match="no metrics to rank"):
        rank_metrics(Grid(grid.layout, (), np.empty((0, 2, 2))), grid)
