"""Speed of our Kendall's tau-b against pandas, on the same made-up columns in one run.

    python benchmarks/meta_correlation.py

As large as HANNA: 72 metrics on 96 stories, and for each of 96 items on ten systems. Values have
ties. pandas correlates one pair of columns at a time.
"""

from __future__ import annotations

import numpy as np
import pandas
from pairs import best, show

from fabula.meta.coefficients import cross_correlate

METRICS, ITEMS, SYSTEMS = 72, 96, 10


def main() -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(0, 20, (METRICS, ITEMS, SYSTEMS)) / 20
    pooled = x[:, :, 0]
    print(f"Kendall's tau-b of {METRICS} × {METRICS} columns, numpy {np.__version__}")
    show_one(pooled)
    show_items(x)


def show_one(x: np.ndarray) -> None:
    """One table over 96 stories."""
    frame = pandas.DataFrame(x.T)
    slow = best(lambda f: f.corr(method="kendall"), [frame], passes=3)
    fast = best(lambda one: cross_correlate(one, one, "kendall"), [x])
    show(f"{x.shape[1]} stories", slow, fast, f"pandas {pandas.__version__}", 4)
    show_gap(cross_correlate(x, x, "kendall"), frame.corr(method="kendall").to_numpy())


def show_items(x: np.ndarray) -> None:
    """A table for every item."""
    frames = [pandas.DataFrame(x[:, item].T) for item in range(x.shape[1])]
    slow = len(frames) * best(lambda f: f.corr(method="kendall"), frames, passes=2)
    fast = best(lambda one: cross_correlate(one, one, "kendall"), [x])
    show(f"{len(frames)} items × {x.shape[2]} systems", slow, fast, "pandas, item by item", 4)
    theirs = np.stack([one.corr(method="kendall").to_numpy() for one in frames], axis=2)
    show_gap(cross_correlate(x, x, "kendall"), theirs)


def show_gap(ours: np.ndarray, theirs: np.ndarray) -> None:
    """Say how far the values are apart; undefined ones are to be the same."""
    same = np.array_equal(np.isnan(ours), np.isnan(theirs))
    gap = np.nanmax(np.abs(ours - theirs))
    print(f"  largest difference {gap:.1e}; undefined ones the same: {'yes' if same else 'NO'}")


if __name__ == "__main__":
    main()
