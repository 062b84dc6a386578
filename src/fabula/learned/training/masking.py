"""Which tokens are hidden, and behind what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fabula.learned.training.batches import CLS, MASK, PAD, SEP

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Masked:
    """Tokens with some hidden; `places` are those in the flat batch, `labels` what stood there."""

    ids: Array  # (B, T)
    places: Array  # (M,)
    labels: Array  # (M,)


def mask_tokens(
    ids: Array, rng: np.random.Generator, *, rate: float, vocabulary: int | None
) -> Masked:
    """Hide `rate` of the tokens, none of them special.

    With a vocabulary, for training: of ten, eight become [MASK], one any token, one stays. Without
    one, for evaluation: all become [MASK].
    """
    flat = ids.reshape(-1)
    open_to = np.flatnonzero((flat != PAD) & (flat != CLS) & (flat != SEP))
    count = round(rate * len(open_to))
    places = np.sort(rng.permutation(open_to)[:count])
    labels = flat[places]
    hidden = flat.copy()
    if vocabulary is None:
        hidden[places] = MASK
    else:
        chance = rng.random(count)
        other = rng.integers(0, vocabulary, count)
        hidden[places] = np.where(chance < 0.8, MASK, np.where(chance < 0.9, other, labels))
    return Masked(hidden.reshape(ids.shape), places, labels)
