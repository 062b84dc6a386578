"""How often the right noun is among the likeliest: recall of nouns, each noun counting the same.

Every region ranks all candidate nouns by its similarity to them. What is measured on crops that
were held out in training and what `benchmarks/grounding.py` prints go by the same places.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from fabula.core.model import Array

CUTS = (1, 10)


def rank_own(similarities: Array, own: Sequence[int]) -> Array:
    """Give the place of each region's own noun among all, from 0: (regions,).

    Nouns of the same similarity share their places. One that is not known (NaN) comes last, and so
    does every noun of a region that has no value for its own.
    """
    known = np.where(np.isnan(similarities), -np.inf, similarities)
    mine = known[np.arange(len(known)), list(own)][:, None]
    higher, alike = (known > mine).sum(axis=1), (known == mine).sum(axis=1)
    places: Array = higher + (alike - 1) / 2
    return np.where(np.isneginf(mine[:, 0]), known.shape[1] - 1.0, places)


def macro_recall(places: Array, nouns: Sequence[str], cut: int) -> float:
    """Give the share of regions whose noun is among the first `cut`, averaged over nouns.

    A noun of many regions counts as much as one of a single region; NaN where there is none.
    """
    if not len(places):
        return float("nan")
    _, kinds = np.unique(np.asarray(nouns), return_inverse=True)
    hits = np.bincount(kinds, np.asarray(places) < cut) / np.bincount(kinds)
    return float(hits.mean())
