"""How far `fabula compare` can be believed: coverage of its intervals, level of its test.

    python benchmarks/comparing.py

Simulated paired differences, normal and skewed; the figures stand in docs/commands/compare.md.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fabula.meta.resampling import bootstrap_mean
from fabula.meta.significance.sign_flips import sign_flip_p

TRIALS = 4_000
LEVEL_TRIALS = 10_000
RESAMPLES = 2_000
ITEMS = (5, 10, 20, 40, 96)
LEVEL_ITEMS = (10, 14, 30, 96)
DRAWS: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "normal": lambda rng, count: rng.normal(size=count),
    "skewed": lambda rng, count: rng.exponential(size=count) - 1,
}


def main() -> None:
    print(f"items {ITEMS}; {TRIALS:,} trials of {RESAMPLES:,} resamples")
    for name, draw in DRAWS.items():
        held = [share(holds_zero, draw, items, TRIALS) for items in ITEMS]
        print(f"  95 % interval holds the truth, {name}: " + ", ".join(f"{h:.3f}" for h in held))
    print(f"items {LEVEL_ITEMS}; {LEVEL_TRIALS:,} trials")
    level = [share(finds, DRAWS["normal"], items, LEVEL_TRIALS) for items in LEVEL_ITEMS]
    print("  p ≤ 0.05 for equal systems: " + ", ".join(f"{one:.3f}" for one in level))


def share(
    asks: Callable[[np.ndarray, int], bool],
    draw: Callable[[np.random.Generator, int], np.ndarray],
    items: int,
    trials: int,
) -> float:
    rng = np.random.default_rng(items)
    return float(np.mean([asks(draw(rng, items), trial) for trial in range(trials)]))


def holds_zero(differences: np.ndarray, seed: int) -> bool:
    low, high = bootstrap_mean(differences, resamples=RESAMPLES, seed=seed).interval
    return low <= 0 <= high


def finds(differences: np.ndarray, seed: int) -> bool:
    return sign_flip_p(differences, resamples=RESAMPLES, seed=seed) <= 0.05


if __name__ == "__main__":
    main()
