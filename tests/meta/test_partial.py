from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.meta.cells import correlate_cells
from fabula.meta.partial import partial_correlation

stats = pytest.importorskip("scipy.stats")

LEVELS = ["item", "system", "pooled"]
seeds = st.integers(0, 10_000)


def make(seed: int, shape: tuple[int, int] = (6, 9)) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    length, other = rng.normal(size=(2, *shape))
    gold = 0.8 * length + 0.3 * other + rng.normal(size=shape)
    return [0.9 * length - 0.5 * other + 0.5 * gold + rng.normal(size=shape), gold, length, other]


def residuals(y: np.ndarray, controls: list[np.ndarray]) -> np.ndarray:
    """What ordinary least squares leaves (statsmodels)."""
    api = pytest.importorskip("statsmodels.api")
    found: np.ndarray = api.OLS(y, api.add_constant(np.column_stack(controls))).fit().resid
    return found


def by_residuals(vectors: list[np.ndarray], coefficient: str) -> float:
    if coefficient == "spearman":
        vectors = [stats.rankdata(vector) for vector in vectors]
    x, gold, *controls = vectors
    left = residuals(x, controls), residuals(gold, controls)
    return float(stats.pearsonr(*left).statistic)


def at_level(columns: list[np.ndarray], level: str) -> list[list[np.ndarray]]:
    if level == "item":
        return [list(rows) for rows in zip(*columns, strict=True)]
    return [[one.mean(0) if level == "system" else one.ravel() for one in columns]]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("coefficient", ["pearson", "spearman"])
@pytest.mark.parametrize("controls", [1, 2])
def test_it_is_the_correlation_of_residuals(level: Any, coefficient: Any, controls: int) -> None:
    columns = make(1)[: 2 + controls]
    goal = np.mean([by_residuals(row, coefficient) for row in at_level(columns, level)])
    x, gold, *held = columns
    found = partial_correlation(x, gold, np.stack(held), level=level, coefficient=coefficient)
    assert found == pytest.approx(goal, abs=1e-9)


@pytest.mark.parametrize("level", LEVELS)
def test_kendall_s_is_that_of_his_formula(level: Any) -> None:
    x, gold, length, _ = make(2)
    goals = []
    for a, b, c in at_level([x, gold, length], level):
        ab, ac, bc = (stats.kendalltau(*pair).statistic for pair in ((a, b), (a, c), (b, c)))
        goals.append((ab - ac * bc) / np.sqrt((1 - ac**2) * (1 - bc**2)))
    found = partial_correlation(x, gold, length, level=level, coefficient="kendall")
    assert found == pytest.approx(np.mean(goals), abs=1e-9)


def test_two_controls_of_kendall_s_are_taken_out_one_after_the_other() -> None:
    vectors = [one.ravel() for one in make(3)]

    def tau(i: int, j: int, held: tuple[int, ...]) -> float:
        if not held:
            return float(stats.kendalltau(vectors[i], vectors[j]).statistic)
        *rest, k = held
        ij, ik, jk = (tau(a, b, tuple(rest)) for a, b in ((i, j), (i, k), (j, k)))
        return (ij - ik * jk) / float(np.sqrt((1 - ik**2) * (1 - jk**2)))

    x, gold, *held = make(3)
    found = partial_correlation(x, gold, np.stack(held), level="pooled", coefficient="kendall")
    assert found == pytest.approx(tau(0, 1, (2, 3)), abs=1e-9)


def test_by_hand() -> None:
    # r = 0.8, 0.6 and 0.5: (0.8 - 0.6 · 0.5) / √(0.64 · 0.75) = 0.72169.
    shape = np.linalg.cholesky(np.array([[1, 0.8, 0.6], [0.8, 1, 0.5], [0.6, 0.5, 1]]))
    white = np.linalg.qr(np.random.default_rng(0).normal(size=(40, 4)) - 0.0)[0]
    white = np.linalg.qr(np.column_stack([np.ones(40), white]))[0][:, 1:4]
    x, gold, length = (white @ shape.T).T.reshape(3, 1, 40)
    found = partial_correlation(x, gold, length, level="pooled", coefficient="pearson")
    assert found == pytest.approx(0.5 / 0.48**0.5, abs=1e-9)


@pytest.mark.parametrize("coefficient", ["pearson", "spearman", "kendall"])
@pytest.mark.parametrize("level", LEVELS)
def test_where_the_control_explains_everything_it_is_undefined(
    level: Any, coefficient: Any
) -> None:
    x, gold, _, _ = make(4)
    how: dict[str, Any] = {"level": level, "coefficient": coefficient}
    assert np.isnan(partial_correlation(x, gold, 3 * x + 1, **how))
    assert np.isnan(partial_correlation(x, gold, -gold, **how))
    assert np.isnan(partial_correlation(np.full_like(x, 0.1), gold, x, **how))


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("coefficient", ["pearson", "spearman", "kendall"])
def test_a_constant_control_or_one_named_twice_changes_nothing(
    level: Any, coefficient: Any
) -> None:
    x, gold, length, _ = make(5)
    how: dict[str, Any] = {"level": level, "coefficient": coefficient}
    plain = correlate_cells(x, gold, **how)
    flat = np.full_like(x, 2.0)
    assert partial_correlation(x, gold, flat, **how) == pytest.approx(plain, abs=1e-12)
    once = partial_correlation(x, gold, length, **how)
    for held in ([length, length], [length, flat]):
        found = partial_correlation(x, gold, np.stack(held), **how)
        assert found == pytest.approx(once, abs=1e-9)


def test_cells_that_a_control_lacks_are_left_out() -> None:
    x, gold, length, _ = make(6)
    length[2] = np.nan
    length[0, 3] = np.nan
    rows = [
        [one[item][~np.isnan(length[item])] for one in (x, gold, length)]
        for item in (0, 1, 3, 4, 5)
    ]
    goal = np.mean([by_residuals(row, "spearman") for row in rows])
    found = partial_correlation(x, gold, length, level="item", coefficient="spearman")
    assert found == pytest.approx(goal, abs=1e-9)


@given(
    seed=seeds,
    unit=st.sampled_from([-2.0, 0.5, 3.0]),
    level=st.sampled_from(LEVELS),
    coefficient=st.sampled_from(["pearson", "spearman", "kendall"]),
)
def test_units_origins_signs_and_the_order_of_items(
    seed: int, unit: float, level: Any, coefficient: Any
) -> None:
    x, gold, length, _ = make(seed)
    how: dict[str, Any] = {"level": level, "coefficient": coefficient}
    one = partial_correlation(x, gold, length, **how)
    order = np.random.default_rng(seed).permutation(len(x))
    other = partial_correlation(unit * x[order] + 5, gold[order], -4 * length[order] + 1, **how)
    assert other == pytest.approx(np.sign(unit) * one, abs=1e-9)
    assert partial_correlation(gold, x, length, **how) == pytest.approx(one, abs=1e-12)
