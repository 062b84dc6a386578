"""How often hidden tokens of held-out stories are guessed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from fabula.learned.training.batches import Batch, batch_of, packed_rows, windows_of
from fabula.learned.training.masking import Masked, mask_tokens
from fabula.learned.training.recipe import Recipe
from fabula.learned.training.tokens import TokenSet
from fabula.meta.resampling import Estimate

if TYPE_CHECKING:
    from torch import Tensor

Array = np.ndarray[Any, np.dtype[Any]]
# Logits of masked tokens, given a batch.
Guess = Callable[[Batch, Masked], "Tensor"]
_Z = 1.959964


@dataclass(frozen=True)
class Guessed:
    """Share of hidden tokens that are the first guess, or among the first five."""

    top1: Estimate
    top5: Estimate
    tokens: int
    stories: int

    def plain(self) -> dict[str, Any]:
        """Give plain values for JSON."""
        shares = {"top1": self.top1.plain(), "top5": self.top5.plain()}
        return {**shares, "tokens": self.tokens, "stories": self.stories}


def held_out_batches(tokens: TokenSet, recipe: Recipe) -> list[tuple[Batch, Masked]]:
    """Hide `mask_rate` of the tokens behind [MASK]: always the same ones, whatever the seed."""
    laid = packed_rows(windows_of(tokens, recipe.window), recipe.window)
    found = []
    for number in range(0, len(laid), recipe.rows):
        batch = batch_of(laid[number : number + recipe.rows], tokens, recipe.window)
        rng = np.random.default_rng([number, 1])
        found.append((batch, mask_tokens(batch.ids, rng, rate=recipe.mask_rate, vocabulary=None)))
    return found


def evaluate_guesses(batches: Sequence[tuple[Batch, Masked]], guess: Guess) -> Guessed:
    """Count the guesses that are right, story by story."""
    owners, first, among = [], [], []
    for batch, masked in batches:
        best = guess(batch, masked).topk(5).indices.cpu().numpy()  # (M, 5)
        right = best == masked.labels[:, None]
        owners.append(batch.owners.reshape(-1)[masked.places])
        first.append(right[:, 0])
        among.append(right.any(axis=1))
    owner = np.concatenate(owners)
    counts = np.bincount(owner)
    return Guessed(
        share_of(np.bincount(owner, np.concatenate(first)), counts),
        share_of(np.bincount(owner, np.concatenate(among)), counts),
        len(owner),
        int((counts > 0).sum()),
    )


def share_of(hits: Array, counts: Array) -> Estimate:
    """Ratio of sums, with the linearised standard error of a ratio over stories."""
    total, stories = counts.sum(), (counts > 0).sum()
    value = float(hits.sum() / total)
    spread = float(((hits - value * counts) ** 2).sum())
    error = _Z * sqrt(spread * stories / max(1, stories - 1)) / float(total)
    return Estimate(value, max(0.0, value - error), min(1.0, value + error), int(stories))


def mean_top1(found: Mapping[str, Guessed]) -> float:
    """Give the number by which the best weights are told: the mean over held-out sets."""
    return float(np.mean([one.top1.value for one in found.values()]))
