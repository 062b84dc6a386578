"""Speed of the permutation tests against a direct loop, in one run.

    python benchmarks/meta_permutation.py

96 items, 10 systems, 1,000 resamples of swapped cells. The direct loop swaps, correlates with
scipy item by item and averages; it is timed on a few resamples and scaled up, and its p on these
is compared. Then all pairs of 17 metrics on 6 criteria.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from scipy import stats

from fabula.meta.significance.permutation import draw_swaps, perm_matrix, perm_test, swap_test

ITEMS, SYSTEMS, METRICS, CRITERIA = 96, 10, 17, 6
RESAMPLES = 1_000
DIRECT = {"item": 5, "system": 100, "pooled": 100}  # resamples of the direct loop
PASSES = 7
BAR = 500
COEFFICIENTS: dict[str, Callable[..., tuple[float, float]]] = {
    "pearson": stats.pearsonr,
    "spearman": stats.spearmanr,
    "kendall": stats.kendalltau,
}


def main() -> None:
    rng = np.random.default_rng(0)
    gold = rng.integers(3, 16, (CRITERIA, ITEMS, SYSTEMS)) / 3
    noise = rng.uniform(1, 4, (METRICS, 1, 1)) * rng.normal(size=(METRICS, ITEMS, SYSTEMS))
    values = gold.mean(0) + noise
    print(f"{ITEMS} items, {SYSTEMS} systems, {RESAMPLES:,} resamples")
    for level in DIRECT:
        for coefficient in COEFFICIENTS:
            show(level, coefficient, values[0], values[1], gold[0])
    for coefficient in COEFFICIENTS:
        show_matrix(coefficient, values, gold)


def show(level: str, coefficient: str, x: np.ndarray, y: np.ndarray, gold: np.ndarray) -> None:
    how = {"level": level, "coefficient": coefficient}
    few = DIRECT[level]
    swaps = next(draw_swaps(gold.shape, scheme="both", resamples=few, seed=0))
    began = time.perf_counter()
    goal = direct_p(x, y, gold, swaps, level, COEFFICIENTS[coefficient])
    slow = (time.perf_counter() - began) * RESAMPLES / few
    assert swap_test(x, y, gold, swaps=[swaps], **how).p == goal
    fast = min(timed(lambda: perm_test(x, y, gold, resamples=RESAMPLES, **how)))
    verdict = f"(bar {BAR}×: {'met' if slow / fast >= BAR else 'MISSED'})"
    told = verdict if (level, coefficient) == ("item", "pearson") else ""
    print(
        f"{level:7} {coefficient:9} {fast * 1e3:7.1f} ms  {slow / fast:7.0f}× {slow:6.1f} s  {told}"
    )


def timed(act: Callable[[], object]) -> list[float]:
    taken = []
    for _ in range(PASSES):
        began = time.perf_counter()
        act()
        taken.append(time.perf_counter() - began)
    return taken


def direct_p(x, y, gold, swaps, level, coefficient) -> float:
    x, y = ((one - one.mean()) / one.std() for one in (x, y))

    def apart(one: np.ndarray, other: np.ndarray) -> float:
        return direct(one, gold, level, coefficient) - direct(other, gold, level, coefficient)

    observed = abs(apart(x, y))
    drawn = [apart(np.where(swap, y, x), np.where(swap, x, y)) for swap in swaps]
    return (sum(abs(one) >= observed - 1e-10 for one in drawn) + 1) / (len(drawn) + 1)


def direct(x, gold, level, coefficient) -> float:
    if level == "item":
        return float(np.mean([coefficient(a, b)[0] for a, b in zip(x, gold, strict=True)]))
    if level == "system":
        return coefficient(x.mean(0), gold.mean(0))[0]
    return coefficient(x.ravel(), gold.ravel())[0]


def show_matrix(coefficient: str, values: np.ndarray, gold: np.ndarray) -> None:
    began = time.perf_counter()
    for goal in gold:
        perm_matrix(values, goal, level="item", coefficient=coefficient, resamples=RESAMPLES)
    seconds = time.perf_counter() - began
    pairs = METRICS * (METRICS - 1) // 2
    print(f"item level, {pairs} pairs × {CRITERIA} criteria, {coefficient}: {seconds:.1f} s")


if __name__ == "__main__":
    main()
