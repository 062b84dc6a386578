"""What a training of RUBER measures: accuracy on held-out prompts, and bounds of both parts."""

from __future__ import annotations

import numpy as np

from fabula.learned.ruber_model.network import Array, Bounds, Weights, cosine, probabilities
from fabula.learned.training._ruber_pairs import PooledPairs

# Beside the seed, so that each draw has chances of its own.
_HELD_OUT, _BOUNDS = 3, 4


def evaluate(weights: Weights, pairs: PooledPairs, *, part: str, seed: int) -> dict[str, float]:
    """Give cross-entropy, and how often a story's own prompt has more than another one of the part.

    `error` is the standard error of that share over prompts.
    """
    prompts, stories, items = (some[part] for some in (pairs.prompts, pairs.stories, pairs.items))
    other = others_of(items, np.random.default_rng([seed, _HELD_OUT]))
    own, wrong = (probabilities(weights, some, stories) for some in (prompts, prompts[other]))
    loss = -(np.log(own + 1e-9).mean() + np.log(1 - wrong + 1e-9).mean()) / 2
    wins = (own > wrong) + 0.5 * (own == wrong)
    kinds = np.unique(items)
    means = np.array([wins[items == kind].mean() for kind in kinds])
    error = means.std(ddof=1) / np.sqrt(len(kinds))
    found = {"loss": loss, "accuracy": wins.mean(), "error": error, "prompts": len(kinds)}
    return {name: float(value) for name, value in found.items()}


def bounds_of(weights: Weights, pairs: PooledPairs, *, seed: int) -> tuple[Bounds, Bounds]:
    """Give the bounds of both parts over stories of the training, beside their own and others.

    A story's reference is another one on its prompt, where there is one, and a random one.
    """
    prompts, stories, items = (
        some["train"] for some in (pairs.prompts, pairs.stories, pairs.items)
    )
    rng = np.random.default_rng([seed, _BOUNDS])
    other = others_of(items, rng)
    answers = [probabilities(weights, some, stories) for some in (prompts, prompts[other])]
    last = {int(item): row for row, item in enumerate(items)}
    kin = [(row, last[int(item)]) for row, item in enumerate(items) if last[int(item)] != row]
    alike = [cosine(stories[a], stories[b]) for a, b in [*kin, *enumerate(other)]]
    return (
        Bounds(float(np.min(answers)), float(np.max(answers))),
        Bounds(min(alike), max(alike)),
    )


def others_of(items: Array, rng: np.random.Generator) -> Array:
    """Draw another row for each, one with another prompt."""
    found = rng.integers(0, len(items), len(items))
    while (same := items[found] == items).any():
        found[same] = rng.integers(0, len(items), int(same.sum()))
    return found
