from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from fabula.core.errors import InputError, SettingError
from fabula.meta.significance import permutation
from fabula.meta.significance.permutation import (
    Permuted,
    draw_swaps,
    perm_matrix,
    perm_test,
    swap_test,
)

stats = pytest.importorskip("scipy.stats")

LEVELS = ["item", "system", "pooled"]
COEFFICIENTS = ["pearson", "spearman", "kendall", "kendall_c"]
SCHEMES = ["both", "item", "system"]


def scipy_coefficient(x: np.ndarray, z: np.ndarray, coefficient: str) -> float:
    there = ~np.isnan(x) & ~np.isnan(z)
    x, z = x[there], z[there]
    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(z) == 0:
        return float("nan")
    if coefficient == "pearson":
        return float(stats.pearsonr(x, z).statistic)
    if coefficient == "spearman":
        return float(stats.spearmanr(x, z).statistic)
    return float(stats.kendalltau(x, z, variant="c" if coefficient == "kendall_c" else "b")[0])


def direct(x: np.ndarray, z: np.ndarray, level: str, coefficient: str) -> float:
    """One correlation at a level, the way one would write it down."""
    if level == "item":
        each = [scipy_coefficient(a, b, coefficient) for a, b in zip(x, z, strict=True)]
        known = [one for one in each if not np.isnan(one)]
        return sum(known) / len(known) if known else float("nan")
    if level == "system":
        return scipy_coefficient(mean(x), mean(z), coefficient)
    return scipy_coefficient(x.ravel(), z.ravel(), coefficient)


def mean(x: np.ndarray) -> np.ndarray:
    """Means of systems, rounded so that the order of adding up makes no difference."""
    return np.array([round(float(np.mean(c[~np.isnan(c)])), 12) for c in x.T])


def direct_p(
    x: np.ndarray, y: np.ndarray, z: np.ndarray, swaps: np.ndarray, how: tuple[str, str, str]
) -> tuple[float, float]:
    level, coefficient, alternative = how
    missing = np.isnan(x) | np.isnan(y) | np.isnan(z)
    x, y, z = (np.where(missing, np.nan, one) for one in (x, y, z))
    x, y = ((one - np.nanmean(one)) / np.nanstd(one) for one in (x, y))
    observed = direct(x, z, level, coefficient) - direct(y, z, level, coefficient)
    hits = count = 0
    for swap in swaps:
        left, right = np.where(swap, y, x), np.where(swap, x, y)
        drawn = direct(left, z, level, coefficient) - direct(right, z, level, coefficient)
        if np.isnan(drawn):
            continue
        sign = {"greater": 1, "less": -1}.get(alternative)
        pair = (abs(drawn), abs(observed)) if sign is None else (sign * drawn, sign * observed)
        hits += pair[0] >= pair[1] - 1e-10
        count += 1
    return observed, (hits + 1) / (count + 1)


def make(seed: int, shape: tuple[int, int] = (9, 5), digits: int = 6) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    gold = rng.normal(size=shape)
    return [
        (gold + rng.normal(size=shape)).round(digits) * 3 + 7,
        (gold + 2 * rng.normal(size=shape)).round(digits),
        gold.round(1),
    ]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("coefficient", COEFFICIENTS)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_p_is_that_of_a_direct_loop_over_the_same_swaps(
    level: Any, coefficient: Any, scheme: Any
) -> None:
    x, y, gold = make(3)
    x[2, 1], y[4, 0], gold[6, 3] = np.nan, np.nan, np.nan
    swaps = np.concatenate(list(draw_swaps(gold.shape, scheme=scheme, resamples=60, seed=5)))
    for alternative in ("two-sided", "greater", "less"):
        found = perm_test(
            x,
            y,
            gold,
            level=level,
            coefficient=coefficient,
            scheme=scheme,
            alternative=alternative,  # type: ignore[arg-type]
            resamples=60,
            seed=5,
        )
        goal = direct_p(x, y, gold, swaps, (level, coefficient, alternative))
        assert found.difference == pytest.approx(goal[0], abs=1e-9)
        assert found.p == goal[1]


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
@pytest.mark.parametrize("level", ["item", "pooled"])
def test_ties_and_items_without_a_coefficient_are_as_in_the_direct_loop(
    coefficient: Any, level: Any
) -> None:
    rng = np.random.default_rng(4)
    gold, x, y = rng.integers(0, 3, (3, 12, 4)).astype(float)
    x[:3], y[2:5], gold[7] = 1.0, 0.0, 2.0
    swaps = rng.integers(0, 2, (80, 12, 4)).astype(bool)
    found = swap_test(x, y, gold, swaps=[swaps], level=level, coefficient=coefficient)
    assert found.p == direct_p(x, y, gold, swaps, (level, coefficient, "two-sided"))[1]


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_more_systems_than_a_table_holds(coefficient: Any) -> None:
    x, y, gold = make(8, (4, 15))
    swaps = np.random.default_rng(0).integers(0, 2, (40, 4, 15)).astype(bool)
    found = swap_test(x, y, gold, swaps=[swaps], level="item", coefficient=coefficient)
    assert found.p == direct_p(x, y, gold, swaps, ("item", coefficient, "two-sided"))[1]


@given(st.integers(0, 10_000), st.sampled_from(LEVELS), st.sampled_from(COEFFICIENTS))
def test_naming_the_metrics_the_other_way_round_turns_the_sign_and_keeps_p(
    seed: int, level: Any, coefficient: Any
) -> None:
    x, y, gold = make(seed)
    one = perm_test(x, y, gold, level=level, coefficient=coefficient, resamples=50)
    other = perm_test(y, x, gold, level=level, coefficient=coefficient, resamples=50)
    assert other.difference == -one.difference
    assert other.p == one.p


@given(
    st.integers(0, 10_000),
    st.sampled_from([0.25, 2.0, 1024.0]),
    st.sampled_from([-8.0, 0.0, 64.0]),
    st.sampled_from(LEVELS),
)
def test_unit_and_origin_of_a_metric_do_not_matter(
    seed: int, unit: float, origin: float, level: Any
) -> None:
    rng = np.random.default_rng(seed)
    x, y, gold = rng.integers(-20, 20, (3, 8, 4)).astype(float)
    one = perm_test(x, y, gold, level=level, coefficient="spearman", resamples=50)
    other = perm_test(x * unit + origin, y, gold, level=level, coefficient="spearman", resamples=50)
    assert other.difference == pytest.approx(one.difference, abs=1e-9, nan_ok=True)
    assert other.p == pytest.approx(one.p, abs=1e-12, nan_ok=True)


def _are_apart(means: np.ndarray) -> bool:
    """Whether no two means are equal but for rounding."""
    return bool(np.diff(np.sort(means)).min() > 1e-9)


@given(st.integers(0, 10_000), st.sampled_from(LEVELS), st.sampled_from(COEFFICIENTS))
def test_the_order_of_the_items_does_not_matter(seed: int, level: Any, coefficient: Any) -> None:
    x, y, gold = make(seed)
    # Means that are equal but for rounding rank by the order in which they were added up.
    assume(level != "system" or all(_are_apart(one.mean(axis=0)) for one in (x, y, gold)))
    rng = np.random.default_rng(seed)
    swaps, order = rng.integers(0, 2, (40, 9, 5)).astype(bool), rng.permutation(9)
    for swap in swaps if level == "system" else ():
        assume(_are_apart(np.where(swap, x, y).mean(axis=0)))
        assume(_are_apart(np.where(swap, y, x).mean(axis=0)))
    how: dict[str, Any] = {"level": level, "coefficient": coefficient}
    one = swap_test(x, y, gold, swaps=[swaps], **how)
    other = swap_test(x[order], y[order], gold[order], swaps=[swaps[:, order]], **how)
    assert (one.difference, one.p) == pytest.approx((other.difference, other.p), abs=1e-12)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_a_constant_metric_has_no_p(level: Any, coefficient: Any) -> None:
    x, y, gold = make(1)
    for one, other in ((np.full_like(x, 0.1), y), (x, np.full_like(y, 3.0))):
        found = perm_test(one, other, gold, level=level, coefficient=coefficient)
        assert np.isnan(found.p)
        assert np.isnan(found.difference)
        assert found.resamples == 0


@pytest.mark.parametrize("level", LEVELS)
def test_a_metric_against_itself_has_p_1(level: Any) -> None:
    x, _, gold = make(2)
    found = perm_test(x, x.copy(), gold, level=level, coefficient="kendall", resamples=99)
    assert found == Permuted(0.0, 1.0, 99)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_where_both_agree_equally_few_p_are_small(level: Any, scheme: Any) -> None:
    rng = np.random.default_rng(7)
    trials, p = 400, []
    # What a metric has against a system all through, only PERM-SYS allows for.
    shared = 0.7 if scheme == "system" else 0.0
    for seed in range(trials):
        gold = rng.normal(size=(1, 8)) + rng.normal(size=(15, 8))
        x, y = (gold + shared * rng.normal(size=(1, 8)) + rng.normal(size=(15, 8)) for _ in "xy")
        how: dict[str, Any] = {"level": level, "coefficient": "pearson", "scheme": scheme}
        p.append(perm_test(x, y, gold, resamples=99, seed=seed, **how).p)
    assert abs(np.mean(np.array(p) <= 0.05) - 0.05) < 4 * (0.05 * 0.95 / trials) ** 0.5


def test_a_much_better_metric_is_found() -> None:
    rng = np.random.default_rng(9)
    gold = rng.normal(size=(40, 8))
    x, y = gold + 0.3 * rng.normal(size=gold.shape), gold + 3 * rng.normal(size=gold.shape)
    found = perm_test(x, y, gold, level="item", coefficient="kendall", alternative="greater")
    assert found.p == 1 / 1001


class Told:
    def __init__(self) -> None:
        self.total, self.done, self.ended = 0, 0, False

    def start(self, total: int) -> None:
        self.total = total

    def advance(self, steps: int) -> None:
        self.done += steps

    def finish(self) -> None:
        self.ended = True


def test_a_matrix_holds_the_tests_of_all_pairs_and_says_how_far_it_is() -> None:
    x, y, gold = make(5)
    values = np.stack([x, y, x + y, np.zeros_like(x)])
    told = Told()
    found = perm_matrix(
        values, gold, level="item", coefficient="spearman", resamples=200, progress=told
    )
    how: dict[str, Any] = {"level": "item", "coefficient": "spearman", "resamples": 200}
    for i, j in ((0, 1), (0, 2), (1, 2)):
        pair = values[i], values[j], gold
        assert found[i, j] == perm_test(*pair, alternative="greater", **how).p
        assert found[j, i] == perm_test(*pair, alternative="less", **how).p
    assert np.isnan(found[3]).all()
    assert np.isnan(np.diag(found)).all()
    assert (told.total, told.done, told.ended) == (6, 6, True)


def test_a_two_sided_matrix_is_symmetric() -> None:
    x, y, gold = make(5)
    found = perm_matrix(
        np.stack([x, y]), gold, level="pooled", coefficient="kendall", alternative="two-sided"
    )
    assert found[0, 1] == found[1, 0]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_swaps_come_in_chunks_and_hold_to_their_scheme(
    scheme: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(permutation, "_CELLS", 100)
    chunks = list(draw_swaps((6, 5), scheme=scheme, resamples=50, seed=0))
    assert [len(chunk) for chunk in chunks] == [3] * 16 + [2]
    swaps = np.concatenate(chunks)
    assert swaps.shape == (50, 6, 5)
    assert scheme != "item" or (swaps == swaps[:, :, :1]).all()
    assert scheme != "system" or (swaps == swaps[:, :1]).all()
    assert abs(swaps.mean() - 0.5) < 0.15


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ({"level": "itm"}, "no level is called 'itm'; did you mean 'item'"),
        ({"scheme": "cells"}, "no scheme is called 'cells'; known: both, item, system"),
        ({"alternative": "more"}, "no alternative is called 'more'"),
        ({"coefficient": "tau"}, "no coefficient is called 'tau'"),
    ],
)
def test_what_does_not_exist_is_refused(setting: dict[str, Any], told: str) -> None:
    x, y, gold = make(0)
    with pytest.raises(SettingError, match=told):
        perm_test(x, y, gold, **({"level": "item", "coefficient": "pearson"} | setting))


def test_scores_of_unlike_shapes_are_refused() -> None:
    x, y, gold = make(0)
    with pytest.raises(InputError, match="shapes"):
        perm_test(x, y[:3], gold, level="item", coefficient="pearson")
