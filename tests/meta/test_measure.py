"""Statistics one by one, and the options of a study that choose among them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from fabula.core.dataset import Dataset, ScorerCard
from fabula.core.errors import UnknownName
from fabula.meta.accuracies import accuracies, accuracy_draws
from fabula.meta.bootstrap import resample_correlations
from fabula.meta.levels import LEVELS, correlate_grids
from fabula.meta.measure import (
    STATISTICS,
    Measuring,
    correlate_partial,
    drop_sign,
    measure,
    resample_partial,
)
from fabula.meta.resampling import percentile_interval
from fabula.meta.study import Study, StudyResult
from fakes.grids import made_up_grids, make_dataset, make_grid, scipy_partial

RNG = np.random.default_rng(2)
LENGTH = RNG.integers(40, 400, (8, 5)).astype(float)
PLOT = np.round(LENGTH / 100 + RNG.normal(size=LENGTH.shape))
GOOD = PLOT + RNG.normal(size=PLOT.shape)
SCORES = {"good": GOOD, "long": LENGTH / 100 + RNG.normal(size=PLOT.shape), "words": LENGTH}
CARDS = {
    "good": ScorerCard("string", "higher"),
    "long": ScorerCard("model", "higher"),
    "words": ScorerCard("baseline", "descriptive"),
}


def same(found: Any, goal: Any) -> bool:
    return bool(np.array_equal(found[0].value, goal[0].value, equal_nan=True)) and bool(
        np.array_equal(found[1], goal[1], equal_nan=True)
    )


@pytest.mark.parametrize("level", LEVELS)
def test_a_coefficient_comes_with_its_draws(level: Any) -> None:
    metrics, gold = made_up_grids(1)
    how = Measuring("items", 6, 3)
    found = measure(metrics, gold, level=level, statistic="kendall", how=how)
    of = {"level": level, "coefficient": "kendall"}
    draws = resample_correlations(metrics, gold, resamples=6, seed=3, **of)
    assert same(found, (correlate_grids(metrics, gold, **of), draws))


@pytest.mark.parametrize("drawn", ["items", "both"])
def test_with_a_control_it_is_the_partial_one(drawn: Any) -> None:
    metrics, gold = made_up_grids(2)
    control = made_up_grids(3)[0].select(metrics.columns[:1])
    how = Measuring(drawn, 6, 3, control=control)
    of: dict[str, Any] = {"level": "pooled", "coefficient": "spearman"}
    found = measure(metrics, gold, level="pooled", statistic="spearman", how=how)
    draws = resample_partial(metrics, gold, control, drawn=drawn, resamples=6, seed=3, **of)
    assert same(found, (correlate_partial(metrics, gold, control, **of), draws))


def test_an_accuracy_comes_with_draws_at_the_epsilon_that_was_chosen() -> None:
    metrics, gold = made_up_grids(4)
    how = Measuring("items", 6, 3)
    found = measure(metrics, gold, level="item", statistic="pairwise", how=how)
    of: dict[str, Any] = {"level": "item", "kind": "pairwise", "seed": 3}
    value, epsilons = accuracies(metrics, gold, **of)
    draws = accuracy_draws(metrics, gold, epsilons=epsilons, resamples=6, **of)
    assert same(found, (value, draws))


def test_settled_means_are_ties() -> None:
    x, y = make_grid([[[0.1, 0.3, 1], [0.2, 0.2, 1], [0.3, 0.1, 1]]]), make_grid([[[1, 2, 3]] * 3])
    how = Measuring(resamples=2, round_ties=True)
    found, _ = measure(x, y, level="system", statistic="kendall", how=how)
    assert found.value[0, 0] == pytest.approx(2 / math.sqrt(6))


def test_a_dropped_sign_turns_the_interval_with_the_value() -> None:
    value, low, high = (np.array([one]) for one in ([-0.5, 0.4], [-0.7, -0.1], [0.2, 0.6]))
    found = drop_sign(value, low, high, "absolute")
    assert [one[0].tolist() for one in found] == [[0.5, 0.4], [-0.2, -0.1], [0.7, 0.6]]
    for sign in ("oriented", "raw"):
        assert all(
            a is b
            for a, b in zip(drop_sign(value, low, high, sign), (value, low, high), strict=True)
        )


def test_all_statistics_have_a_name() -> None:
    assert STATISTICS == (
        "pearson", "spearman", "kendall", "kendall_c", "pairwise", "soft_pairwise",
    )  # fmt: skip


def small(**card: Any) -> Dataset:
    return make_dataset(SCORES, {"plot": PLOT}, cards=CARDS, raters=2, **card)


def run(dataset: Dataset | None = None, **settings: Any) -> StudyResult:
    return Study(**{"resamples": 40, **settings}).run(dataset or small())


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("coefficient", ["pearson", "spearman", "kendall"])
def test_a_study_can_hold_a_scorer_constant(level: Any, coefficient: Any) -> None:
    found = run(levels=(level,), coefficients=(coefficient,), control="words")
    how = {"level": level, "coefficient": coefficient}
    for name, table in SCORES.items():
        [one] = found.of(metric=name)
        goal = scipy_partial(table, PLOT, LENGTH, **how)
        assert one.estimate.value == pytest.approx(goal, abs=1e-9, nan_ok=True)
        assert math.isnan(one.ceiling)
        assert one.estimate.low <= one.estimate.value <= one.estimate.high or name == "words"
    assert math.isnan(found.of(metric="words")[0].estimate.value)


def test_the_control_need_not_be_among_the_scorers_of_the_study() -> None:
    alone = run(scorers=("good",), control="words", coefficients=("pearson",))
    beside = run(control="words", coefficients=("pearson",))
    assert [one.estimate.value for one in alone.correlations] == pytest.approx(
        [one.estimate.value for one in beside.of(metric="good")]
    )


def test_an_unknown_control_is_refused_with_the_closest() -> None:
    with pytest.raises(UnknownName, match=r"no scorer is called 'word'.*words"):
        run(control="word")


def test_the_turned_control_explains_as_much() -> None:
    turned = {name: ScorerCard(card.family, "lower") for name, card in CARDS.items()}
    plain, other = (
        run(make_dataset(SCORES, {"plot": PLOT}, cards=cards), control="words", sign=sign)
        for cards, sign in ((CARDS, "raw"), (turned, "oriented"))
    )
    for one, twin in zip(plain.correlations, other.correlations, strict=True):
        assert twin.estimate.value == pytest.approx(-one.estimate.value, nan_ok=True)


def test_a_family_stands_for_its_scorers() -> None:
    found = run(scorers=("family:baseline", "family:string"))
    assert [column.scorer for column in found.metrics.columns] == ["words", "good"]
    assert len(run(scorers=("family:model", "good")).metrics.columns) == 2


def test_accuracies_stand_beside_coefficients_without_a_ceiling() -> None:
    found = run(coefficients=("spearman", "pairwise", "soft_pairwise"))
    for one in found.correlations:
        of: dict[str, Any] = {"level": one.level, "kind": one.coefficient}
        place = ["good", "long", "words"].index(one.metric)
        if one.coefficient == "spearman":
            assert not math.isnan(one.ceiling)
            continue
        assert math.isnan(one.ceiling)
        value, epsilons = accuracies(found.metrics, found.gold, **of)
        assert one.estimate.value == pytest.approx(value.value[place, 0], nan_ok=True)
        draws = accuracy_draws(found.metrics, found.gold, epsilons=epsilons, resamples=40, **of)
        low, high = (end[place, 0] for end in percentile_interval(draws, 0.05))
        assert (one.estimate.low, one.estimate.high) == pytest.approx((low, high), nan_ok=True)
    soft = [
        one.level
        for one in found.of(coefficient="soft_pairwise")
        if not math.isnan(one.estimate.value)
    ]
    assert soft == ["system"] * 3
