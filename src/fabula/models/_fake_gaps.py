"""How the fake model fills gaps: by a table of neighbours, and by what else it has read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from fabula.models._windows import owned, windows

if TYPE_CHECKING:
    from fabula.core.model import Array

# Guesses that are held at once.
BLOCK = 4096


def between(table: Array, read: Sequence[int], gaps: Array) -> Array:
    """Guess at each gap: what goes with both neighbours, and what else was read."""
    buckets = np.array([*read, 0])
    both = table[np.where(gaps > 0, buckets[gaps - 1], 0)]  # (gaps, buckets)
    inner = gaps + 1 < len(read)
    both[inner] *= table.T[buckets[gaps[inner] + 1]]
    rest = np.bincount(buckets, minlength=len(table)) - np.eye(len(table))[buckets[gaps]]
    guesses: Array = both / both.sum(1, keepdims=True) + rest / rest.sum(1, keepdims=True)
    return guesses / 2


def guesses_by_window(table: Array, buckets: list[int], size: int) -> list[Array]:
    """Guesses at all tokens, each in the window where it is most central, in blocks."""
    places = windows(len(buckets), size, size // 4)
    return [
        between(
            table,
            buckets[place.start : place.stop],
            np.arange(start - place.start, min(start + BLOCK, part.stop) - place.start),
        )
        for place, part in zip(places, owned(places), strict=True)
        for start in range(part.start, part.stop, BLOCK)
    ]


def mean_guess(guesses: list[Array], weights: Sequence[float], temperature: float) -> Array:
    """Mean of guesses by weight, each sharpened or flattened by the temperature."""
    shares = iter(np.split(np.array(weights), np.cumsum([len(one) for one in guesses])))
    total = np.zeros(guesses[0].shape[1] if guesses else 1)
    for some in guesses:
        sharp = some ** (1 / temperature)
        total += next(shares) @ (sharp / sharp.sum(1, keepdims=True))
    whole = total.sum()
    return total / whole if whole else np.full_like(total, np.nan)


def fill_row(
    row: Sequence[str | None], known: Sequence[str], table: Array, bucket: Callable[[str], int]
) -> tuple[str, ...]:
    """Take for each gap the word that goes best with its neighbours, of those read and known."""
    gaps = [at for at, token in enumerate(row) if token is None]
    if not gaps:
        return ()
    words = list(dict.fromkeys([*(token for token in row if token is not None), *known]))
    numbers = np.array([bucket(word) for word in words])
    beside = [0 if token is None else bucket(token) for token in (None, *row, None)]
    best = [(table[beside[at]] * table[:, beside[at + 2]])[numbers].argmax() for at in gaps]
    return tuple(words[one] for one in best)
