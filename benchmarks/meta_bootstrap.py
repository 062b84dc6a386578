"""Labels of all pairs of systems by bootstrap, against scipy.stats.bootstrap pair by pair.

    python benchmarks/meta_bootstrap.py

The size of HANNA: 45 pairs of systems, 72 metrics and 6 criteria, 96 items, 1,000 resamples. scipy
is timed on a sample of pairs and columns and scaled up to all of them, which is said below.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import combinations

import numpy as np
import scipy
from scipy.stats import bootstrap

from fabula.meta.ranking.labels import bootstrap_labels

COLUMNS, ITEMS, SYSTEMS, RESAMPLES = 78, 96, 10, 1000
SAMPLE = 150
ROUNDS = 15
WANTED = 200


def main() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(COLUMNS, ITEMS, SYSTEMS)) + np.linspace(0, 1, SYSTEMS)
    pairs = list(combinations(range(SYSTEMS), 2))
    cells = [(column, pair) for column in range(COLUMNS) for pair in range(len(pairs))]
    chosen = [cells[place] for place in rng.choice(len(cells), SAMPLE, replace=False)]

    labels = bootstrap_labels(values, resamples=RESAMPLES)
    ours, theirs, same = [], [], []
    # In turns, so that whatever else the machine does slows down both.
    for part in np.array_split(np.arange(SAMPLE), ROUNDS):
        ours.append(timed(lambda: bootstrap_labels(values, resamples=RESAMPLES)))
        for column, pair in (chosen[place] for place in part):
            found: list[int] = []
            one = values[column][:, pairs[pair]]
            theirs.append(timed(lambda: found.append(label(one, rng))))  # noqa: B023
            same.append(found == [labels[column, pair]])
    ours_s, theirs_s = float(np.median(ours)), float(np.median(theirs)) * len(cells)

    print(f"{len(pairs)} pairs × {COLUMNS} columns × {RESAMPLES:,} resamples of {ITEMS} items")
    print(f"  scipy {scipy.__version__}: {1000 * np.median(theirs):.2f} ms for one (median of")
    print(f"    {SAMPLE}), scaled up to all {len(cells):,}: {theirs_s:.2f} s")
    print(f"  fabula: {1000 * ours_s:.1f} ms for all (median of {ROUNDS})")
    print(f"  {theirs_s / ours_s:.0f} times as fast (wanted: {WANTED})")
    print(f"  same label in {np.mean(same):.0%} of the sample; draws differ")


def label(values: np.ndarray, rng: np.random.Generator) -> int:
    """Label one pair by one column with scipy, in its cheapest way: vectorised, percentile."""
    found = bootstrap(
        (values[:, 0], values[:, 1]),
        lambda a, b, axis: a.mean(axis=axis) - b.mean(axis=axis),
        paired=True,
        vectorized=True,
        n_resamples=RESAMPLES,
        method="percentile",
        random_state=rng,
    ).bootstrap_distribution
    wins, losses = (found > 0).mean(), (found < 0).mean()
    return 1 if wins >= 0.95 else 2 if losses >= 0.95 else 0


def timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
