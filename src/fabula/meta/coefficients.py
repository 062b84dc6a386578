"""Coefficients of correlation along the last axis: Pearson, Spearman, Kendall's tau-b and tau-c.

Whole stacks of vectors are correlated at once. A coefficient is undefined (NaN) where a vector is
constant or has fewer than two values; a value that is missing takes its partner with it.

Pearson's r, Spearman's rho and Kendall's tau-b are all cosines: of deviations from the mean, of
deviations of ranks, of the signs of all differences. To correlate every column of one stack with
every column of another, vectors are brought to unit length once, and a table of coefficients is
one product of matrices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from fabula.meta.arrays import Places, Values, average_ranks

Coefficient = Literal["pearson", "spearman", "kendall", "kendall_c"]
# Signs of all pairs are held at once for vectors up to this length; longer ones go row by row, or
# are sorted.
_SHORT = 128
# Beyond this length going through all pairs is slower than sorting.
_LONG = 3000
_BLOCK = 8_000_000


def correlate(x: Values, y: Values, coefficient: Coefficient = "pearson") -> Values:
    """Correlate along the last axis; the other axes are broadcast against each other."""
    shape = np.broadcast_shapes(x.shape, y.shape)
    both = np.isnan(x) | np.isnan(y) if np.isnan(x).any() or np.isnan(y).any() else None
    if both is None or not both.any():
        return COEFFICIENTS[coefficient](x, y)
    x, y = np.broadcast_to(x, shape).reshape(-1, shape[-1]), np.broadcast_to(y, shape)
    y = y.reshape(-1, shape[-1])
    there = ~np.broadcast_to(both, shape).reshape(-1, shape[-1])
    values = np.full(len(x), np.nan)
    for place in np.flatnonzero(there.sum(-1) > 1):
        ok = there[place]
        values[place] = COEFFICIENTS[coefficient](x[place, ok], y[place, ok])
    return values.reshape(shape[:-1])


def pearson(x: Values, y: Values) -> Values:
    """Pearson's r of vectors without missing values."""
    dx, dy = deviations(x), deviations(y)
    with np.errstate(divide="ignore", invalid="ignore"):
        r = (dx * dy).sum(-1) / np.sqrt((dx * dx).sum(-1) * (dy * dy).sum(-1))
    clipped: Values = np.clip(r, -1.0, 1.0)
    return clipped


def spearman(x: Values, y: Values) -> Values:
    """Spearman's rho: Pearson's r of the average ranks."""
    return pearson(average_ranks(x), average_ranks(y))


def kendall(x: Values, y: Values) -> Values:
    """Kendall's tau-b: concordant less discordant pairs, over those that are no ties in either."""
    if max(x.shape[-1], y.shape[-1]) > _SHORT:
        excess, untied_x, untied_y = _agreements(x, y)
        with np.errstate(divide="ignore", invalid="ignore"):
            long: Values = excess / np.sqrt(untied_x * untied_y)
        return long
    sx, sy = pair_signs(x), pair_signs(y)
    untied = np.sqrt(np.abs(sx).sum(-1, dtype=np.float64) * np.abs(sy).sum(-1, dtype=np.float64))
    with np.errstate(divide="ignore", invalid="ignore"):
        tau: Values = (sx * sy).sum(-1, dtype=np.float64) / untied
    return tau


def kendall_c(x: Values, y: Values) -> Values:
    """Kendall's (Stuart's) tau-c, for scales of unlike numbers of values."""
    least = np.minimum(_distinct(x), _distinct(y))
    count = x.shape[-1]
    if count > _SHORT:
        excess = _agreements(x, y)[0]
    else:
        excess = (pair_signs(x) * pair_signs(y)).sum(-1, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        tau: Values = np.where(least > 1, 2 * excess * least / (count**2 * (least - 1)), np.nan)
    return tau


COEFFICIENTS: Mapping[str, Callable[[Values, Values], Values]] = {
    "pearson": pearson,
    "spearman": spearman,
    "kendall": kendall,
    "kendall_c": kendall_c,
}


def pair_signs(x: Values) -> np.ndarray[Any, np.dtype[np.int8]]:
    """Which of every two values is the larger: 1, -1, or 0 for a tie.  (..., n) -> (..., pairs)"""
    first, second = np.triu_indices(x.shape[-1], 1)
    a, b = x[..., first], x[..., second]
    return (a > b).view(np.int8) - (a < b).view(np.int8)


@dataclass(frozen=True)
class _Parting:
    """One step of `Discordance`: which values lie above others of their part that come later.

    `above` and `below` are places of the upper and the lower half of every part; before the k-th of
    the lower ones come those of the upper ones from `first[k]` to `last[k]`.
    """

    above: Places
    below: Places
    first: Places
    last: Places


class Discordance:
    """Pairs that two vectors order in opposite ways, counted in O(n log n) (Knight, 1966).

    The pairs in order of x are parted by the bits of y's ranks, the highest first: two values are
    in the wrong order exactly where the first has a 1 and the second a 0 in the first bit in which
    they differ. Ties in x come in order of y and those in y differ in no bit: none of them counts.
    What is parted how does not depend on weights, so that many resamples share it.
    """

    def __init__(self, x: Values, y: Values) -> None:
        sides = [np.unique(side, return_inverse=True)[1].astype(np.int64) for side in (x, y)]
        # The fewer values one side has, the fewer bits; which side is parted makes no difference.
        fewer, more = sorted(sides, key=lambda ranks: int(ranks.max(initial=0)))
        order = np.lexsort((fewer, more))
        ranks = fewer[order]
        self.partings: list[_Parting] = []
        for bit in range(int(ranks.max(initial=0)).bit_length() - 1, -1, -1):
            order, ranks = self._part(order, ranks, bit)

    def _part(self, order: Places, ranks: Places, bit: int) -> tuple[Places, Places]:
        upper = (ranks >> bit & 1).astype(bool)
        # Values with the same higher bits are a part, and lie beside each other.
        starts = np.flatnonzero(np.diff(ranks >> (bit + 1), prepend=-1))
        sizes = np.diff(starts, append=len(ranks))
        before = np.cumsum(upper) - upper  # upper values to the left, of all parts
        first = np.repeat(before[starts], sizes)
        matters = ~upper & (before > first)
        self.partings.append(
            _Parting(order[upper], order[matters], first[matters], before[matters])
        )
        lower_count = sizes - np.add.reduceat(upper, starts, dtype=np.int64)
        start = np.repeat(starts, sizes)
        within = before - first
        places = np.where(
            upper, start + np.repeat(lower_count, sizes) + within, np.arange(len(ranks)) - within
        )
        parted = np.empty((2, len(ranks)), dtype=np.int64)
        parted[:, places] = order, ranks
        return parted[0], parted[1]

    def count(self) -> int:
        """Count the pairs, each value once."""
        return int(sum((part.last - part.first).sum() for part in self.partings))

    def weigh(self, weights: Values) -> Values:
        """Count them in every resample, a pair by the product of its weights: (n, B) to (B,)."""
        total = np.zeros(weights.shape[1])
        for part in self.partings:
            above = np.zeros((len(part.above) + 1, weights.shape[1]))
            np.cumsum(weights[part.above], axis=0, out=above[1:])
            reach = above[part.last] - above[part.first]
            total += np.einsum("nb,nb->b", weights[part.below], reach)
        return total


def _agreements(x: Values, y: Values) -> tuple[Values, Values, Values]:
    """Concordant less discordant pairs, and pairs untied in either: sorted, vector by vector."""
    shape = np.broadcast_shapes(x.shape, y.shape)
    rows = (np.broadcast_to(side, shape).reshape(-1, shape[-1]) for side in (x, y))
    counts = [_count_agreement(a, b) for a, b in zip(*rows, strict=True)]
    columns = np.array(counts, dtype=np.float64).reshape(-1, 3).T
    excess, untied_x, untied_y = (column.reshape(shape[:-1]) for column in columns)
    return excess, untied_x, untied_y


def _count_agreement(x: Values, y: Values) -> tuple[int, int, int]:
    count = len(x)
    pairs = count * (count - 1) // 2
    order = np.lexsort((y, x))
    # A group of equal values ends where the next one is another.
    new_x, new_y = np.diff(x[order]) != 0, np.diff(np.sort(y)) != 0
    tied_x, tied_y = _count_tied(new_x), _count_tied(new_y)
    tied_both = _count_tied(new_x | (np.diff(y[order]) != 0))
    excess = pairs - tied_x - tied_y + tied_both - 2 * Discordance(x, y).count()
    return excess, pairs - tied_x, pairs - tied_y


def _count_tied(new: np.ndarray[Any, np.dtype[np.bool_]]) -> int:
    """Pairs within groups of equal values, of which each next one is new or not."""
    ends = np.flatnonzero(np.concatenate([[True], new, [True]]))
    sizes = np.diff(ends)
    return int((sizes * (sizes - 1) // 2).sum())


def deviations(x: Values) -> Values:
    """Differences from the mean, scaled so that their squares neither vanish nor overflow."""
    count = x.shape[-1]
    if count < 2:
        return np.full(x.shape, np.nan)
    # A power of two, so that no digit is lost.
    x = x / np.ldexp(1.0, np.frexp(np.abs(x).max(-1, keepdims=True))[1] - 1)
    constant = (x == x[..., :1]).all(-1, keepdims=True)
    deviations = np.where(constant, 0.0, x - x.mean(-1, keepdims=True))
    reach = np.abs(deviations).max(-1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        scaled: Values = deviations / reach
    return scaled


def _distinct(x: Values) -> Values:
    ordered = np.sort(x, axis=-1)
    count: Values = 1.0 + (ordered[..., 1:] != ordered[..., :-1]).sum(-1)
    return count


def cross_correlate(x: Values, y: Values, coefficient: Coefficient = "pearson") -> Values:
    """Correlate along the last axis: (m, …, n) with (g, …, n) gives (m, g, …).

    The axes between are the same for both: one coefficient for each. NaN where it is undefined.
    """
    if not np.isnan(x).any() and not np.isnan(y).any():
        return _cross_whole(x, y, coefficient)
    # Vectors with gaps are made constant, and what they are part of is done again by itself.
    gaps_x = np.asarray(np.isnan(x).any(-1, keepdims=True))
    gaps_y = np.asarray(np.isnan(y).any(-1, keepdims=True))
    table = _cross_whole(np.where(gaps_x, 0.0, x), np.where(gaps_y, 0.0, y), coefficient)
    again = (gaps_x[:, None] | gaps_y[None])[..., 0]  # (m, g, …)
    shape = (*again.shape, x.shape[-1])
    x_gaps, y_gaps = (
        np.broadcast_to(x[:, None], shape)[again],
        np.broadcast_to(y[None], shape)[again],
    )
    table[again] = correlate(x_gaps, y_gaps, coefficient)
    return table


def _cross_whole(x: Values, y: Values, coefficient: Coefficient) -> Values:
    if coefficient == "kendall_c":
        return correlate(x[:, None], y[None], coefficient)
    if coefficient == "kendall" and x.shape[-1] > _SHORT:
        return _long_kendall(x, y)
    if coefficient == "kendall" and x.ndim == 2:
        return _short_kendall(x, y)
    a, b = (np.moveaxis(unit_vectors(stack, coefficient), 0, -2) for stack in (x, y))  # (…, m, L)
    products = np.matmul(a, np.swapaxes(b, -1, -2))  # (…, m, g)
    table: Values = np.clip(np.moveaxis(products, (-2, -1), (0, 1)), -1.0, 1.0)
    return table


def unit_vectors(x: Values, coefficient: Coefficient) -> Values:
    """Give vectors whose products are coefficients; NaN throughout where one is constant."""
    if coefficient == "kendall":
        signs = pair_signs(x).astype(np.float64)
    else:
        signs = deviations(x if coefficient == "pearson" else average_ranks(x))
    with np.errstate(divide="ignore", invalid="ignore"):
        units: Values = signs / np.sqrt((signs * signs).sum(-1, keepdims=True))
    return units


def _short_kendall(x: Values, y: Values) -> Values:
    """Kendall's tau-b of all pairs at once; sums of so few signs are exact in single precision."""
    signs_x = _slanted_signs(x)
    signs_y = signs_x if y is x else _slanted_signs(y)
    untied = np.outer(np.count_nonzero(signs_x, axis=1), np.count_nonzero(signs_y, axis=1))
    with np.errstate(divide="ignore", invalid="ignore"):
        tau: Values = (signs_x @ signs_y.T).astype(np.float64) / np.sqrt(untied)
    return tau


def _slanted_signs(x: Values) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Signs of the differences of all pairs, those at one distance after another, by slices."""
    columns, count = x.shape
    signs = np.empty((columns, count * (count - 1) // 2), dtype=np.float32)
    start = 0
    for distance in range(1, count):
        a, b = x[:, distance:], x[:, :-distance]
        part = signs[:, start : start + count - distance]
        np.subtract(a > b, a < b, out=part, dtype=np.float32)
        start += count - distance
    return signs


def _long_kendall(x: Values, y: Values) -> Values:
    """Kendall's tau-b of long vectors, a block of pairs at a time, or by sorting."""
    middle = x.shape[1:-1]
    if middle:
        parts = [_long_kendall(x[:, place], y[:, place]) for place in range(middle[0])]
        return np.stack(parts, axis=2)
    if x.shape[-1] > _LONG:
        return kendall(x[:, None], y[None])
    excess = np.zeros((len(x), len(y)))
    untied_x, untied_y = np.zeros(len(x)), np.zeros(len(y))
    for signs_x, signs_y in zip(_sign_blocks(x), _sign_blocks(y), strict=True):
        excess += signs_x @ signs_y.T
        untied_x += np.abs(signs_x).sum(-1)
        untied_y += np.abs(signs_y).sum(-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        tau: Values = excess / np.sqrt(np.outer(untied_x, untied_y))
    return tau


def _sign_blocks(x: Values) -> Iterator[np.ndarray[Any, np.dtype[np.float32]]]:
    """Go through the signs of x_j - x_i for all j, a few i at a time.  (columns, pairs)"""
    columns, count = x.shape
    # A fixed width, whatever the number of columns, so that two stacks go in step.
    rows = max(1, _BLOCK // (count * 80))
    for start in range(0, count, rows):
        part = x[:, start : start + rows, None]
        yield np.sign(x[:, None, :] - part).astype(np.float32).reshape(columns, -1)
