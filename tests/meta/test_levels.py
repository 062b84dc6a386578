"""Values are arithmetic by hand, or those of scipy 1.17.1 where `scipy_value` is asked."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.datasets import load_dataset
from fabula.meta.coefficients import COEFFICIENTS
from fabula.meta.grid import Grid
from fabula.meta.levels import (
    LEVEL_WORDS,
    LEVELS,
    average_systems,
    correlate_grids,
    correlate_items,
    correlate_pairs,
    correlation_table,
)
from fabula.meta.study import Study
from fakes.grids import made_up_grids, make_grid, scipy_value

NAN = math.nan
CRITERIA = {
    "RE": "relevance",
    "CH": "coherence",
    "EM": "empathy",
    "SU": "surprise",
    "EG": "engagement",
    "CX": "complexity",
}
NAMES = list(COEFFICIENTS)
each_coefficient = pytest.mark.parametrize("coefficient", NAMES)

# Three items (rows) × three systems; the last item lacks its third story.
METRIC = [[1, 2, 3], [3, 2, 1], [1, 2, NAN]]
GOLD = [[1, 2, 3], [1, 3, 2], [2, 1, 5]]


def found(level: str, metric: object = METRIC, gold: object = GOLD, **rest: object):
    how = {"coefficient": "pearson", **rest}
    one = correlate_grids(make_grid([metric]), make_grid([gold]), level=level, **how)
    return float(one.value[0, 0]), int(one.n[0, 0]), int(one.undefined[0, 0])


def test_the_item_level_averages_over_the_items() -> None:
    # 1 for the first item; of (1, 0, -1) and (-1, 1, 0): -1 / 2; -1 for the two stories left.
    assert found("item") == (pytest.approx((1 - 0.5 - 1) / 3), 3, 0)


def test_the_system_level_correlates_means_over_the_items_there_are() -> None:
    # Means of the metric 5/3, 2, 2 (of two items); of the gold 4/3, 2, 10/3.
    value, n, undefined = found("system")
    # Deviations in ninths: (-2, 1, 1) and (-8, -2, 10).
    assert value == pytest.approx((16 - 2 + 10) / math.sqrt(6 * 168))
    assert (n, undefined) == (3, 0)


def test_the_pooled_level_takes_all_stories_with_both_values() -> None:
    x, y = [1, 2, 3, 3, 2, 1, 1, 2], [1, 2, 3, 1, 3, 2, 2, 1]
    wanted = scipy_value(np.array(x, float), np.array(y, float), "pearson")
    assert found("pooled") == (pytest.approx(wanted), 8, 0)


@each_coefficient
def test_a_constant_item_is_left_out_and_counted(coefficient: str) -> None:
    metric = [[1, 2, 3], [7, 7, 7], [3, 2, 1], [1, 2, 3]]
    gold = [[1, 2, 3], [1, 2, 3], [1, 2, 3], [4, 4, 4]]
    value, n, undefined = found("item", metric, gold, coefficient=coefficient)
    assert (value, n, undefined) == (pytest.approx(0, abs=1e-15), 2, 2)


@each_coefficient
@pytest.mark.parametrize("level", LEVELS)
def test_a_constant_metric_is_undefined_not_zero(coefficient: str, level: str) -> None:
    value, n, undefined = found(level, np.full((3, 3), 0.1), coefficient=coefficient)
    assert math.isnan(value)
    assert (n, undefined) == ((0, 3) if level == "item" else ({"system": 3, "pooled": 9}[level], 1))


@each_coefficient
@pytest.mark.parametrize("level", LEVELS)
def test_a_constant_metric_is_undefined_where_stories_are_missing(
    coefficient: str, level: str
) -> None:
    # Three times 0.1 is not 0.3: means of unlike numbers of items differ in the last digit.
    metric = np.full((3, 3), 0.1)
    metric[0, 0] = NAN
    assert math.isnan(found(level, metric, coefficient=coefficient)[0])


def test_an_item_with_fewer_than_two_stories_is_none_to_count() -> None:
    metric = [[1, 2, 3], [1, NAN, NAN], [NAN, NAN, NAN]]
    assert found("item", metric) == (pytest.approx(1), 1, 0)


@each_coefficient
def test_a_metric_without_any_story_is_undefined(coefficient: str) -> None:
    nothing = np.full((3, 3), NAN)
    for level in LEVELS:
        value, n, _ = found(level, nothing, coefficient=coefficient)
        assert math.isnan(value) and n == 0


@each_coefficient
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_tables_are_those_of_a_loop_over_scipy(
    coefficient: str, level: str, missing: float
) -> None:
    metrics, gold = made_up_grids(5, missing=missing)
    table = correlation_table(metrics, gold, level=level, coefficient=coefficient)
    for (one, other), value in np.ndenumerate(table):
        wanted = _looped(metrics.values[one], gold.values[other], level, coefficient)
        assert value == pytest.approx(wanted, abs=1e-12, nan_ok=True)


def _looped(x: np.ndarray, y: np.ndarray, level: str, coefficient: str) -> float:
    if level == "pooled":
        return scipy_value(x.ravel(), y.ravel(), coefficient)
    if level == "system":
        return scipy_value(np.nanmean(x, 0), np.nanmean(y, 0), coefficient)
    return float(np.nanmean([scipy_value(*pair, coefficient) for pair in zip(x, y, strict=True)]))


@each_coefficient
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_pairs_of_grids_have_the_values_of_the_table(
    coefficient: str, level: str, missing: float
) -> None:
    metrics, gold = made_up_grids(6, missing=missing)
    table = correlation_table(metrics, gold, level=level, coefficient=coefficient)
    pairs = correlate_pairs(metrics.values[:2], gold.values, level=level, coefficient=coefficient)
    assert np.allclose(pairs, [table[0, 0], table[1, 1]], rtol=0, atol=1e-12)


@each_coefficient
@pytest.mark.parametrize("level", LEVELS)
@given(order=st.permutations(range(8)))
def test_the_order_of_the_items_does_not_matter(
    coefficient: str, level: str, order: list[int]
) -> None:
    metrics, gold = made_up_grids(7, missing=0.1)
    shuffled = [make_grid(one.values[:, order]) for one in (metrics, gold)]
    how = {"level": level, "coefficient": coefficient}
    one, other = correlate_grids(metrics, gold, **how), correlate_grids(*shuffled, **how)
    assert np.allclose(one.value, other.value, rtol=0, atol=1e-12, equal_nan=True)
    assert np.array_equal(one.n, other.n) and np.array_equal(one.undefined, other.undefined)


def test_item_correlations_say_how_many_items_there_were() -> None:
    each, items = correlate_items(np.array([METRIC]), np.array([GOLD], float), "pearson")
    assert np.allclose(each, [[[1, -0.5, -1]]])
    assert items.tolist() == [[3]]


def test_settled_means_that_differ_by_rounding_are_ties() -> None:
    values = np.array([[[0.1, 0.3], [0.2, 0.2], [0.3, 0.1]]])  # sums in another order
    loose, tied = average_systems(values), average_systems(values, round_ties=True)
    assert tied[0, 0] == tied[0, 1]
    assert np.allclose(loose, tied, rtol=1e-11)


def test_settling_is_what_makes_equal_systems_tie() -> None:
    metric = [[0.1, 0.3, 1], [0.2, 0.2, 1], [0.3, 0.1, 1]]
    gold = [[1, 2, 3]] * 3
    # One pair is a tie of the metric, two agree: 2 / sqrt(2 · 3).
    value = found("system", metric, gold, coefficient="kendall", round_ties=True)[0]
    assert value == pytest.approx(2 / math.sqrt(6))


def test_every_level_has_its_words() -> None:
    assert set(LEVEL_WORDS) == set(LEVELS)


@pytest.fixture(scope="module")
def expected(shared: Path) -> dict[str, Any]:
    """HANNA's released correlations, with their signs."""
    file = shared / "reference" / "hanna_expected.json"
    values: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return values


@pytest.fixture(scope="module")
def hanna(shared: Path) -> tuple[Grid, Grid]:
    """HANNA's 72 metrics and six criteria on 96 prompts × ten systems."""
    dataset = load_dataset("hanna", shared / "data" / "hanna")
    metrics, gold = Study(sign="raw").grids(dataset)
    published = [one for one in metrics.columns if not one.scorer.startswith("judge:")]
    return metrics.select(published), gold


def placed(grids: tuple[Grid, Grid], metric: str, code: str) -> tuple[int, int]:
    """Where a metric of the paper, with its two glyphs, and a criterion stand."""
    names = [column.scorer for column in grids[0].columns]
    aspects = [column.aspect for column in grids[1].columns]
    return names.index(metric.rsplit(" ", 1)[0]), aspects.index(CRITERIA[code])


def test_hannas_2592_correlations_are_ours(hanna: tuple[Grid, Grid], expected: Any) -> None:
    assert hanna[0].values.shape == (72, 96, 10)
    count = 0
    for name, metrics in expected["correlations_signed"].items():
        level, coefficient = name.replace("story", "item").split("_")
        table = correlation_table(*hanna, level=level, coefficient=coefficient)
        for metric, criteria in metrics.items():
            for code, value in criteria.items():
                count += 1
                assert table[placed(hanna, metric, code)] == pytest.approx(value, abs=1e-6)
    assert count == 2592


@pytest.mark.parametrize("coefficient", ["pearson", "spearman", "kendall"])
def test_hannas_prompts_with_a_defined_value_are_ours(
    hanna: tuple[Grid, Grid], expected: Any, coefficient: str
) -> None:
    one = correlate_grids(*hanna, level="item", coefficient=coefficient)
    assert (one.n + one.undefined == 96).all()
    for metric, criteria in expected["story_valid_prompts"].items():
        for code, count in criteria.items():
            assert one.n[placed(hanna, metric, code)] == count


def test_the_pooled_example_of_the_later_paper_is_ours(
    hanna: tuple[Grid, Grid], expected: Any
) -> None:
    place = placed(hanna, "BLEU Ξ§", "RE")
    for coefficient, value in expected["tacl_overall_example"]["BLEU-Relevance"].items():
        table = correlation_table(*hanna, level="pooled", coefficient=coefficient)
        assert table[place] == pytest.approx(value, abs=1e-9)
